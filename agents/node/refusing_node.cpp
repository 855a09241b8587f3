// SPDX-License-Identifier: Apache-2.0
#include "agents/node/refusing_node.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "agents/node/node_server.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {

constexpr std::chrono::seconds kPeriod{2};
/// A machine that is gone closes no connection, so it is made again after this many periods.
constexpr int kPeriodsOfConnection = 10;

/// Differs after each change of the file; empty if there is none.
std::string IdentityOf(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return fmt::format("{} {} {}.{:09}", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

}  // namespace

RefusingNode::RefusingNode(Loop& loop, NetContext& net, const AgentConfig& config,
                           const CurveKeys& keys, std::string why)
    : loop_(loop),
      net_(net),
      config_(config),
      keys_(keys),
      why_(std::move(why)),
      damaged_(IdentityOf(NodeServer::JournalFile(config))) {
  period_ = loop_.Every(kPeriod, [this] { Tick(); });
  Tick();
}

RefusingNode::~RefusingNode() {
  loop_.Cancel(period_);
  if (registrar_) loop_.Unwatch(*registrar_);
}

// A missing file is not whole: a new one would lack the promises of this node, while the keeper
// still holds the memory.
void RefusingNode::Tick() {
  const std::string now = IdentityOf(NodeServer::JournalFile(config_));
  if (!now.empty() && now != damaged_ && NodeServer::CheckJournal(config_)) return loop_.Stop();
  if (ticks_++ % kPeriodsOfConnection == 0) {
    if (const Status connected = Connect(); !connected) {
      std::fprintf(stderr, "tessera-agent: %s\n", connected.error().ToString().c_str());
    }
  }
  Send();
}

Status RefusingNode::Connect() {
  if (registrar_) loop_.Unwatch(*registrar_);
  registrar_.reset();
  TESSERA_TRY(Socket socket, Socket::Client(net_, SocketKind::kDealer, keys_,
                                            config_.registrar_key.empty() ? keys_.public_key
                                                                          : config_.registrar_key));
  TESSERA_RETURN_IF_ERROR(socket.Connect(config_.registrar_endpoint));
  registrar_ = std::move(socket);
  loop_.Watch(*registrar_, [this] {
    for (;;) {
      const auto answer = registrar_->Receive();  // an earlier version knows no such message
      if (!answer || !*answer) return;
    }
  });
  return OkStatus();
}

void RefusingNode::Send() {
  if (!registrar_) return;
  wire::FromNode message;
  message.set_node(config_.node);
  message.mutable_cannot_run()->set_reason(Utf8(why_));
  std::vector<Frame> frames;
  frames.push_back(Frame::Of("node"));
  frames.push_back(Frame::Of(message.SerializeAsString()));
  static_cast<void>(registrar_->Send(std::move(frames)));
}

}  // namespace tessera::agents
