// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/registrar_server.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "agents/node/fault.h"
#include "agents/registrar/data_thread.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/wall_clock.h"

namespace tessera::agents {
namespace {

Status SendTo(Socket& socket, const std::string& identity, std::string bytes) {
  std::vector<Frame> frames;
  frames.push_back(Frame::Of(identity));
  frames.push_back(Frame::Of(std::move(bytes)));
  return socket.Send(std::move(frames));
}

}  // namespace

Result<std::unique_ptr<RegistrarServer>> RegistrarServer::Start(Loop& loop, NetContext& net,
                                                                const AgentConfig& config,
                                                                const CurveKeys& keys) {
  std::unique_ptr<RegistrarServer> server(new RegistrarServer(loop));
  TESSERA_RETURN_IF_ERROR(server->Open(net, config, keys));
  return server;
}

Status RegistrarServer::Open(NetContext& net, const AgentConfig& config, const CurveKeys& keys) {
  TESSERA_TRY(journal_, engine::Journal::Open(config.directory + "/registrar.db"));
  std::string history_note;
  TESSERA_TRY(history_,
              engine::History::OpenOrQuarantine(config.directory + "/history.db", &history_note));
  TESSERA_TRY(reader_, engine::History::OpenReadOnly(config.directory + "/history.db"));
  worker_.emplace(loop_);
  TESSERA_TRY(router_, Socket::Server(net, SocketKind::kRouter, keys));
  TESSERA_RETURN_IF_ERROR(router_->SetHighWater(100000));
  TESSERA_TRY(events_, Socket::Server(net, SocketKind::kPub, keys));
  TESSERA_RETURN_IF_ERROR(router_->Bind(config.endpoint));
  TESSERA_RETURN_IF_ERROR(events_->Bind(config.events));
  registrar_.emplace(loop_, config, MakeWorld(config));
  TESSERA_RETURN_IF_ERROR(registrar_->Recover());
  if (!history_note.empty()) {
    registrar_->AddEvent(engine::Severity::kError, "history", history_note);
  }
  loop_.Watch(*router_, [this] { OnReady(); });
  return OkStatus();
}

Registrar::World RegistrarServer::MakeWorld(const AgentConfig& config) {
  return {
      .send =
          [this](const std::string& identity, const wire::ToNode& message) {
            return SendTo(*router_, identity, message.SerializeAsString());
          },
      .reply =
          [this](const std::string& identity, const wire::Reply& reply) {
            // A client that misses it sends its request again.
            static_cast<void>(SendTo(*router_, identity, reply.SerializeAsString()));
          },
      .publish =
          [this](const wire::Published& message) {
            std::vector<Frame> frames;
            frames.push_back(Frame::Of(message.SerializeAsString()));
            static_cast<void>(events_->Send(std::move(frames)));
          },
      .wall_clock = WallClock,
      .print = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); },
      .fault_point = [node = config.node](const std::string& point) { FaultPoint(node, point); },
      .data = std::make_unique<DataThread>(loop_),
      .compute =
          [this](std::function<void()> work, std::function<void()> then) {
            worker_->Run(std::move(work), std::move(then));
          },
      .journal = *journal_,
      .history = *history_,
      .reader = *reader_,
  };
}

void RegistrarServer::OnReady() {
  for (;;) {
    auto received = router_->Receive();
    if (!received || !*received) return;
    const Message& frames = **received;
    const std::string identity(frames.Text(0));
    if (frames.size() == 3 && frames.Text(1) == "node") {
      wire::FromNode message;
      if (message.ParseFromArray(frames[2].data(), static_cast<int>(frames[2].size()))) {
        registrar_->OnNode(identity, message);
        continue;
      }
    } else if (frames.size() == 2) {
      wire::Request request;
      if (request.ParseFromArray(frames[1].data(), static_cast<int>(frames[1].size()))) {
        registrar_->OnRequest(identity, request);
        continue;
      }
    }
    registrar_->OnMalformed(frames.size());
  }
}

}  // namespace tessera::agents
