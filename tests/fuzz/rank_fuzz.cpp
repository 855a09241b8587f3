// SPDX-License-Identifier: Apache-2.0
// Packets of a rank to the agent's port (packets.h), and views of a layout for a rank: an input is
// both, and JSON of a view.
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "agents/job/rank_port.h"
#include "agents/job/rank_view.h"
#include "agents/wire/tessera/wire/rank.pb.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/packets.h"

using namespace tessera;
using namespace std::chrono_literals;

namespace {

/// A handler that answers what waits for an answer.
agents::RankLinks::Handlers Handlers() {
  agents::RankLinks::Handlers handlers;
  handlers.attached = [](auto&&...) {};
  handlers.connected = [](auto&&...) {};
  handlers.paused = [](auto&&...) {};
  handlers.decided = [](auto&&...) {};
  handlers.adopted = [](auto&&...) {};
  handlers.gone = [](auto&&...) {};
  handlers.store_set = [](auto&&...) {};
  handlers.store_get = [](const auto&, auto, auto, const std::string& key, const auto& reply) {
    reply(key);
  };
  return handlers;
}

void TryPackets(std::string_view input) {
  static const std::string path = "/tmp/rank-fuzz-" + std::to_string(::getpid());
  ::unlink(path.c_str());
  agents::Loop loop;
  const auto port = agents::RankPort::Listen(loop, path, Handlers());
  if (!port) std::abort();
  const agents::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    std::abort();
  fuzz::SendPackets(socket.get(), input);
  ::shutdown(socket.get(), SHUT_WR);
  loop.After(1ms, [&] { loop.Stop(); });
  loop.Run();
  ::unlink(path.c_str());
}

void TryView(const Result<agents::RankView>& view) {
  if (!view) return fuzz::CheckError(view.error());
  const auto again = agents::ParseRankView(agents::ToJson(*view));
  if (!again || *again != *view) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::Text(data, size);
  TryPackets(input);
  TryView(agents::ParseRankView(input));
  wire::RankView view;
  if (view.ParseFromArray(data, static_cast<int>(size))) TryView(agents::FromWire(view));
  return 0;
}
