// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/registrar_server.h"

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/decision/embedded.h"
#include "agents/decision/etcd_register.h"
#include "agents/node/fault.h"
#include "agents/registrar/data_thread.h"
#include "agents/registrar/node_claims.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/wall_clock.h"

namespace tessera::agents {
namespace {

/// Messages that wait for one peer, or that wait to be read from it.
constexpr int kMostWaiting = 10'000;
constexpr int kMostUnread = 1000;

Frame ShareBytes(const std::shared_ptr<const std::string>& bytes) {
  Frame frame;
  frame.borrowed = std::as_bytes(std::span(*bytes));
  frame.owner = std::const_pointer_cast<std::string>(bytes);
  return frame;
}

}  // namespace

Result<std::unique_ptr<RegistrarServer>> RegistrarServer::Start(Loop& loop, NetContext& net,
                                                                const AgentConfig& config,
                                                                const CurveKeys& keys,
                                                                std::int64_t generation,
                                                                SimulatedNodes* simulated) {
  std::unique_ptr<RegistrarServer> server(
      new RegistrarServer(loop, net, config, keys, generation, simulated));
  TESSERA_RETURN_IF_ERROR(server->Open());
  return server;
}

Result<std::unique_ptr<RegistrarServer>> RegistrarServer::StartRefusing(Loop& loop, NetContext& net,
                                                                        const AgentConfig& config,
                                                                        const CurveKeys& keys,
                                                                        Error why) {
  constexpr std::int64_t kNoGeneration = 0;
  std::unique_ptr<RegistrarServer> server(
      new RegistrarServer(loop, net, config, keys, kNoGeneration, nullptr));
  server->refusal_ = std::move(why);
  TESSERA_RETURN_IF_ERROR(server->Bind());
  server->Watch();
  return server;
}

Status RegistrarServer::Bind() {
  TESSERA_TRY(router_, Socket::Server(net_, SocketKind::kRouter, keys_));
  TESSERA_RETURN_IF_ERROR(router_->SetHighWater(kMostWaiting, kMostUnread));
  TESSERA_RETURN_IF_ERROR(router_->Bind(config_.endpoint));
  TESSERA_TRY(events_, Socket::Server(net_, SocketKind::kPub, keys_));
  TESSERA_RETURN_IF_ERROR(events_->Bind(config_.events));
  return OkStatus();
}

void RegistrarServer::Watch() {
  loop_.Watch(*router_, [this] { OnReady(); });
  loop_.Watch(*events_, [this] { ReadSubscriptions(); });
}

Status RegistrarServer::Open() {
  // A journal of an earlier time as the registrar says nothing about the present jobs.
  const std::string journal =
      config_.directory +
      (generation_ == 1 ? "/registrar.db" : fmt::format("/registrar-{}.db", generation_));
  TESSERA_TRY(journal_, engine::Journal::OpenOrQuarantine(journal, &journal_note_));
  if (!journal_note_.empty()) {
    journal_note_ +=
        ". The nodes still hold their jobs: `tesseractl registrar rebuild` restores the job table";
    std::fprintf(stderr, "tessera-agent: %s\n", journal_note_.c_str());
  }
  if (config_.etcd.endpoints.empty()) {
    decisions_ = std::make_unique<EmbeddedRegister>(*journal_, journal);
  } else {
    decisions_ = std::make_unique<EtcdRegister>(loop_, config_.etcd);
    table_revision_.emplace(loop_, config_.etcd, [](const std::string& line) {
      std::fprintf(stderr, "tessera-agent: %s\n", line.c_str());
    });
    mirrored_.emplace(
        *journal_, generation_, config_.node,
        [this](const auto& identity, const auto& message) {
          static_cast<void>(SendShared(identity, message));
        },
        [this](std::int64_t revision) { table_revision_->Note(revision); });
  }
  TESSERA_TRY(history_,
              engine::History::OpenOrQuarantine(config_.directory + "/history.db", &history_note_));
  if (config_.simulation) {
    TESSERA_RETURN_IF_ERROR(history_->NoteSimulated(config_.simulation->hardware));
  }
  TESSERA_TRY(reader_, engine::History::OpenReadOnly(config_.directory + "/history.db"));
  worker_.emplace(loop_);
  TESSERA_RETURN_IF_ERROR(Bind());
  TESSERA_TRY(const bool is_complete, Takeover::IsComplete(*journal_));
  if (generation_ > 1 && !is_complete) {
    TakeOver();
  } else {
    TESSERA_RETURN_IF_ERROR(Begin());
  }
  Watch();
  return OkStatus();
}

void RegistrarServer::TakeOver() {
  Takeover::World world;
  world.send = [this](const std::string& identity, const wire::ToNode& message) {
    static_cast<void>(SendTo(identity, message));
  };
  world.print = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  world.done = [this] {
    const std::string how = takeover_->Text();
    takeover_.reset();
    if (const Status begun = Begin(); !begun) {
      std::fprintf(stderr, "tessera-agent: %s\n", begun.error().ToString().c_str());
      std::_Exit(1);  // the next agent tries again
    }
    registrar_->AddEvent(engine::Severity::kWarning, "registrar", how);
  };
  if (table_revision_) world.noted = [this] { return table_revision_->Latest(); };
  takeover_.emplace(loop_, config_, generation_, *journal_, std::move(world));
}

Status RegistrarServer::Begin() {
  std::vector<std::string> set_aside;
  if (mirrored_) TESSERA_RETURN_IF_ERROR(mirrored_->Recover(&set_aside));
  registrar_.emplace(simulated_ ? simulated_->timers() : loop_, config_, MakeWorld());
  TESSERA_RETURN_IF_ERROR(registrar_->Recover());
  for (const std::string& note : set_aside) {
    registrar_->AddEvent(engine::Severity::kError, "registrar", note);
  }
  if (!journal_note_.empty()) {
    registrar_->AddEvent(engine::Severity::kError, "registrar", journal_note_);
  }
  if (!history_note_.empty()) {
    registrar_->AddEvent(engine::Severity::kError, "history", history_note_);
  }
  return OkStatus();
}

void RegistrarServer::ReadSubscriptions() {
  constexpr int kMostOfATurn = 64;
  for (int i = 0; i < kMostOfATurn; ++i) {
    const auto subscription = events_->Receive();
    if (!subscription || !*subscription) return;
  }
}

void RegistrarServer::OnSimulated(const std::string& identity, const wire::FromNode& message) {
  if (registrar_) registrar_->OnNode(identity, message);
}

void RegistrarServer::Note(const std::string& text) {
  if (registrar_) registrar_->AddEvent(engine::Severity::kInfo, "registrar", text);
}

void RegistrarServer::OnSimulated(const std::string& identity, const KeyOwner& owner,
                                  const wire::Request& request) {
  if (registrar_) registrar_->OnRequest(identity, owner, request);
}

Status RegistrarServer::SendToNode(const std::string& identity, const wire::ToNode& message) {
  if (simulated_) {
    if (const auto sent = simulated_->Send(identity, message)) return *sent;
  }
  return SendTo(identity, message);
}

Registrar::World RegistrarServer::MakeWorld() {
  return {
      .send = [this](const std::string& identity,
                     const wire::ToNode& message) { return SendToNode(identity, message); },
      .reply =
          [this](const std::string& identity, const wire::Reply& reply) {
            if (simulated_ && simulated_->OnReply(identity, reply)) return;
            // A client that misses it sends its request again.
            static_cast<void>(SendTo(identity, reply));
          },
      .publish =
          [this](const wire::Published& message) {
            std::vector<Frame> frames;
            frames.push_back(Frame::Of(message.SerializeAsString()));
            static_cast<void>(events_->Send(std::move(frames)));
          },
      .wall_clock = [this] { return simulated_ ? simulated_->wall_clock() : WallClock(); },
      .print = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); },
      .fault_point = [node = config_.node](const std::string& point) { FaultPoint(node, point); },
      .data = simulated_ ? simulated_->MakeData() : std::make_unique<DataThread>(loop_),
      .compute =
          [this](std::function<void()> work, std::function<void()> then) {
            worker_->Run(std::move(work), std::move(then));
          },
      .decisions = *decisions_,
      .journal = mirrored_ ? static_cast<engine::DurableStore&>(*mirrored_) : *journal_,
      .history = *history_,
      .reader = *reader_,
      .generation = generation_,
      .send_shared =
          [this](const std::string& identity, const std::shared_ptr<const wire::ToNode>& message) {
            return simulated_ ? SendToNode(identity, *message) : SendShared(identity, message);
          },
      .table_rebuilt =
          [this] {
            if (mirrored_) NoteJournaled(mirrored_->Outrun());
          },
      .node_given_up =
          [this](std::int32_t node) {
            if (mirrored_) NoteJournaled(mirrored_->Forget(node));
          },
      .simulation = simulated_ ? simulated_->facts() : nullptr,
  };
}

Status RegistrarServer::SendTo(const std::string& identity,
                               const google::protobuf::Message& message) {
  return SendBytes(identity, Frame::Of(message.SerializeAsString()));
}

Status RegistrarServer::SendBytes(const std::string& identity, Frame bytes) {
  // A peer that does not read must not fill the memory. Short messages are bounded by their number.
  constexpr std::size_t kCounted = 4096;
  if (bytes.borrowed.empty() && bytes.bytes.size() >= kCounted) {
    bytes = ShareBytes(std::make_shared<const std::string>(std::move(bytes.bytes)));
  }
  if (!bytes.borrowed.empty()) {
    bytes.owner = waiting_.Add(identity, static_cast<std::int64_t>(bytes.borrowed.size()),
                               std::move(bytes.owner));
    if (!bytes.owner) return Unavailable("the peer does not read what it gets");
  }
  std::vector<Frame> frames;
  frames.push_back(Frame::Of(identity));
  frames.push_back(std::move(bytes));
  return router_->Send(std::move(frames));
}

Status RegistrarServer::SendShared(const std::string& identity,
                                   const std::shared_ptr<const wire::ToNode>& message) {
  constexpr std::size_t kKept = 8;  // Prepare or StartJob, and the documents that it names
  auto found = std::ranges::find(shared_, message, &Shared::message);
  if (found == shared_.end()) {
    if (shared_.size() >= kKept) shared_.pop_front();
    shared_.push_back({message, std::make_shared<const std::string>(message->SerializeAsString())});
    found = std::prev(shared_.end());
  }
  return SendBytes(identity, ShareBytes(found->bytes));
}

void RegistrarServer::OnReady() {
  // Fair between peers, since ZeroMQ reads from each in turn. What is not read stays with the
  // sender once a short queue is full: so a flood costs what is read of it.
  constexpr int kMessagesOfATurn = 256;
  constexpr int kAboveLimitsOfATurn = 64;
  constexpr std::chrono::milliseconds kLongestTurn{50};
  constexpr std::chrono::milliseconds kSlow{20};
  constexpr std::size_t kNodesOfAMillisecond = 256;
  int num_above = 0, n = 0;
  bool is_drained = false;
  const auto begin = loop_.now();
  for (; n < kMessagesOfATurn && num_above < kAboveLimitsOfATurn; ++n) {
    if (loop_.now() - begin > kLongestTurn) break;
    auto received = router_->Receive();
    is_drained = !received || !*received;
    if (is_drained) break;
    const auto dropped = Accept(**received);
    if (!dropped) continue;
    num_above += dropped->is_above_limit ? 1 : 0;
    NoteDropped(*dropped);
  }
  const std::size_t num_nodes = registrar_ ? registrar_->num_nodes() : 0;
  // With some left there is nothing to wait for.
  const std::size_t gather = is_drained ? num_nodes / kNodesOfAMillisecond : 0;
  const bool is_flooded = num_above == kAboveLimitsOfATurn;
  loop_.Gather(*router_, is_flooded ? kSlow : std::chrono::milliseconds(gather));
}

std::optional<RegistrarServer::Dropped> RegistrarServer::Accept(const Message& frames) {
  const std::string identity(frames.Text(0));
  const auto owner = net_.OwnerOf(frames.sender_key());
  const auto now = loop_.now();
  const bool is_admitted = limits_.Admit(owner ? &*owner : nullptr, now);
  if (!owner) {
    if (is_admitted) {
      AnswerUnread(identity, frames, PermissionDenied("this key has been revoked"));
    }
    return Dropped{"revoked", "a message from a key that has been revoked", !is_admitted};
  }
  const auto of_key = [&] { return fmt::format("key '{}'", owner->name); };
  const auto parse = [&](google::protobuf::Message& out, std::size_t i) {
    return out.ParseFromArray(frames[i].data(), static_cast<int>(frames[i].size()));
  };
  const auto malformed = [&] {
    return Dropped{"malformed, " + of_key(),
                   fmt::format("a message from {} that cannot be read", of_key())};
  };
  if (!is_admitted) {
    if (frames.size() == 2 && limits_.MayAnswer(*owner, now)) {
      AnswerUnread(identity, frames,
                   ResourceExhausted(fmt::format("{} sends more than {:.0f} requests a second",
                                                 of_key(), MessageLimits::kClient.per_second)));
    }
    return Dropped{"too many, " + of_key(),
                   fmt::format("a message from {}, which sends too many", of_key()), true};
  }
  if (frames.size() == 3 && frames.Text(1) == "node") {
    wire::FromNode message;
    if (!parse(message, 2)) return malformed();
    const std::int32_t node = message.has_register_() ? message.register_().node() : message.node();
    if (simulated_) {
      return Dropped{"a node", fmt::format("a message of n{}: the cluster is simulated", node)};
    }
    if (owner->role != Role::kNode || owner->node != node) {
      return Dropped{"another node, " + of_key(),
                     fmt::format("a message of n{} with {}, which is a {}'s", node, of_key(),
                                 RoleText(*owner))};
    }
    if (message.has_register_() && message.register_().public_key() != frames.sender_key()) {
      return Dropped{"another key, " + of_key(),
                     fmt::format("n{}, which names another public key than its own", node)};
    }
    if (const Status claims = CheckClaims(message); !claims) {
      return Dropped{"impossible, " + of_key(),
                     fmt::format("a message from {}: {}", of_key(), claims.error().message)};
    }
    if (refusal_) return std::nullopt;
    if (takeover_) {
      takeover_->OnNode(identity, message);
      return std::nullopt;
    }
    if (mirrored_ && message.has_register_()) NoteKept(node, identity, message.register_());
    registrar_->OnNode(identity, message);
    return std::nullopt;
  }
  wire::Request request;
  if (frames.size() != 2 || !parse(request, 1)) return malformed();
  if (refusal_) {
    Answer(identity, request, *refusal_);
    return std::nullopt;
  }
  if (takeover_) {
    Answer(identity, request, Unavailable(takeover_->Text()));
    return std::nullopt;
  }
  registrar_->OnRequest(identity, *owner, request);
  return std::nullopt;
}

void RegistrarServer::AnswerUnread(const std::string& identity, const Message& frames,
                                   const Error& error) {
  wire::Request request;
  if (frames.size() != 2 ||
      !request.ParseFromArray(frames[1].data(), static_cast<int>(frames[1].size()))) {
    return;
  }
  Answer(identity, request, error);
}

void RegistrarServer::Answer(const std::string& identity, const wire::Request& request,
                             const Error& error) {
  wire::Reply reply;
  reply.set_id(request.id());
  reply.set_sequence(request.sequence());
  Encode(error, reply.mutable_error());
  static_cast<void>(SendTo(identity, reply));
}

void RegistrarServer::NoteKept(std::int32_t node, const std::string& identity,
                               const wire::Register& message) {
  const bool was_behind = mirrored_->is_behind();
  NoteJournaled(mirrored_->OnRegister(node, identity, message.kept_revision()));
  if (was_behind || !mirrored_->is_behind() || !registrar_) return;
  registrar_->AddEvent(
      engine::Severity::kError, "registrar",
      fmt::format(
          "n{} keeps a later copy of the job table than registrar.db has ever had: the file "
          "was lost or replaced by an old copy. Copies of nodes are not overwritten until "
          "`tesseractl registrar rebuild`",
          node));
}

void RegistrarServer::NoteJournaled(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "tessera-agent: %s\n", status.error().ToString().c_str());
}

void RegistrarServer::NoteDropped(const Dropped& dropped) {
  const std::int64_t count = ++dropped_[dropped.kind];
  std::int64_t power = 1;
  while (power < count) power *= 10;
  if (power != count || !registrar_) return;
  registrar_->AddEvent(engine::Severity::kWarning, "registrar",
                       fmt::format("dropped {}{}", dropped.text,
                                   count == 1 ? "" : fmt::format(", {} times", count)));
}

}  // namespace tessera::agents
