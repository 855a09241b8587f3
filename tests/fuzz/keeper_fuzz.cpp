// SPDX-License-Identifier: Apache-2.0
// Packets of a keeper to its agent (packets.h): the list that a new agent is sent, and what follows.
#include <sys/socket.h>

#include <cstdlib>

#include "agents/keeper/keeper.h"
#include "agents/keeper/keeper_client.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/packets.h"

using namespace tessera;
using namespace std::chrono_literals;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    std::abort();
  const agents::UniqueFd keeper(ends[0]);
  fuzz::SendPackets(keeper.get(), fuzz::Text(data, size));
  ::shutdown(keeper.get(), SHUT_WR);  // so that the client does not wait for the rest
  ::setenv(agents::kKeeperFdVariable, std::to_string(ends[1]).c_str(), 1);
  agents::Loop loop;
  agents::KeeperLink::Handlers handlers;
  handlers.exited = [](auto&&...) {};
  handlers.stderr_line = [](auto&&...) {};
  const auto client = agents::KeeperClient::FromEnvironment(loop, handlers);
  if (!client) {
    fuzz::CheckError(client.error());
    return 0;
  }
  for (const auto& arena : (*client)->arenas()) {
    if (arena.fd < 0) std::abort();
  }
  loop.After(1ms, [&] { loop.Stop(); });
  loop.Run();
  return 0;
}
