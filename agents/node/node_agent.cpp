// SPDX-License-Identifier: Apache-2.0
// The start of the agent, and its connection to the registrar.
#include "agents/node/node_agent.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"
#include "engine/files/machine_identity.h"
#include "engine/files/process_stat.h"

namespace tessera::agents {
namespace {
constexpr auto kHeartbeat = std::chrono::seconds(1);
constexpr auto kProgressPeriod = std::chrono::milliseconds(100);
constexpr std::int64_t kPortBurst = 1 << 20;

std::int64_t NewIncarnation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// Pid and start time of the parent.
std::string KeeperIdentity() {
  const auto stat = engine::ReadProcessStat(getppid());
  return fmt::format("{} {}", getppid(), stat ? stat->start : 0);
}

// The address part of an endpoint: "tcp://10.0.0.1:40001" -> "10.0.0.1".
std::string AddressOf(const std::string& endpoint) {
  const auto begin = endpoint.find("://");
  const auto end = endpoint.rfind(':');
  if (begin == std::string::npos || end == std::string::npos || end <= begin + 3) return endpoint;
  return endpoint.substr(begin + 3, end - begin - 3);
}

// A free TCP port of `address`, or 0. The port is not reserved, so another process may bind it
// before a rank does; torchrun chooses its port in the same way.
std::int32_t FindFreePort(const std::string& address) {
  sockaddr_in socket_address{};
  socket_address.sin_family = AF_INET;
  if (inet_pton(AF_INET, address.c_str(), &socket_address.sin_addr) != 1) {
    socket_address.sin_addr.s_addr = htonl(INADDR_ANY);
  }
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  socklen_t size = sizeof socket_address;
  auto* generic = reinterpret_cast<sockaddr*>(&socket_address);
  const bool bound = ::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0;
  ::close(fd);
  return bound ? ntohs(socket_address.sin_port) : 0;
}
}  // namespace

NodeAgent::NodeAgent(Loop& loop, NetContext& net, AgentConfig config, CurveKeys keys)
    : loop_(loop),
      net_(net),
      config_(std::move(config)),
      keys_(std::move(keys)),
      incarnation_(NewIncarnation()),
      last_message_(Loop::Now()),
      egress_(std::make_shared<engine::TokenBucket>(config_.link_bytes_per_second, kPortBurst)),
      ingress_(std::make_shared<engine::TokenBucket>(config_.link_bytes_per_second, kPortBurst)),
      queries_(loop, config_, {&net_, keys_, ingress_}),
      master_port_(FindFreePort(AddressOf(config_.endpoint))) {}

NodeAgent::~NodeAgent() = default;

Result<std::unique_ptr<NodeAgent>> NodeAgent::Start(Loop& loop, NetContext& net,
                                                    const AgentConfig& config, CurveKeys keys) {
  std::unique_ptr<NodeAgent> agent(new NodeAgent(loop, net, config, std::move(keys)));
  TESSERA_RETURN_IF_ERROR(agent->Open());
  return agent;
}

Status NodeAgent::Open() {
  TESSERA_TRY(journal_, engine::Journal::Open(config_.directory + "/journal.db"));
  TESSERA_RETURN_IF_ERROR(ForgetOtherKeepers());
  TESSERA_TRY(keeper_, KeeperClient::FromEnvironment(loop_, KeeperHandlers()));
  TESSERA_TRY(store_, DeviceStore::Open(config_.node, keeper_->arenas()));
  for (auto& [id, device] : store_->devices()) {
    TESSERA_TRY(const std::optional<std::string> failed,
                journal_->Get(fmt::format("failed/{}", id.index)));
    device.failed = failed.has_value();
  }
  ClearHolds();
  views_ = std::make_unique<ViewStore>(loop_, std::chrono::seconds(config_.view_lease_seconds));
  SnapshotStore::World world;
  world.keep = [this](const std::string& name, int fd) { return keeper_->Keep(name, fd); };
  world.drop = [this](const std::string& name) { return keeper_->Drop(name); };
  world.journal = journal_.get();
  world.machine = engine::MachineIdentity();
  snapshots_ = std::make_unique<SnapshotStore>(loop_, std::move(world), keys_);
  TESSERA_RETURN_IF_ERROR(snapshots_->Recover(config_.node, keeper_->TakeKept()));
  TESSERA_RETURN_IF_ERROR(RecoverRanks());
  TESSERA_RETURN_IF_ERROR(RecoverTxn());
  TESSERA_TRY(rank_port_,
              RankPort::Listen(loop_, config_.directory + "/ranks.sock", RankHandlers()));
  for (auto& [id, rank] : ranks_.ranks()) {
    if (HasLeft(id)) ranks_.Retire(rank);
  }
  LaneServerOptions lanes;
  lanes.endpoints = config_.lanes;
  lanes.keys = keys_;
  lanes.egress = egress_;
  TESSERA_TRY(lanes_, LaneServer::Start(net_, std::move(lanes), MakeResolver()));

  TESSERA_TRY(Socket socket, Socket::Client(net_, SocketKind::kDealer, keys_,
                                            config_.registrar_key.empty() ? keys_.public_key
                                                                          : config_.registrar_key));
  TESSERA_RETURN_IF_ERROR(socket.SetIdentity(fmt::format("n{}-{}", config_.node, incarnation_)));
  TESSERA_RETURN_IF_ERROR(socket.SetHighWater(100000));
  TESSERA_RETURN_IF_ERROR(socket.Monitor(net_));
  TESSERA_RETURN_IF_ERROR(socket.Connect(config_.registrar_endpoint));
  registrar_ = std::move(socket);
  loop_.Watch(*registrar_, [this] { OnRegistrarReady(); });
  loop_.Watch(registrar_->monitor(), [this] { ReadRegistrarLink(); });
  loop_.Every(kHeartbeat, [this] {
    if (welcomed_) {
      SendHeartbeat();
      SendExits();
      if (txn_) txn_->part->RepeatFollowed();
      FailRanksThatHang();
    } else {
      SendRegister();
    }
    AskAfterSilence();
  });
  loop_.Every(kProgressPeriod, [this] { SendProgress(); });
  SendRegister();
  return OkStatus();
}

// A broken connection loses messages. Register gives the registrar the state of this node, and the
// registrar repeats what is still valid.
void NodeAgent::ReadRegistrarLink() {
  while (const auto event = registrar_->NextLinkEvent()) {
    if (event->kind != LinkEvent::Kind::kReady) continue;
    if (std::exchange(was_connected_, true)) SendRegister();
  }
}

// Erases the journal if the keeper is a new one, because the memory of the old keeper is gone.
Status NodeAgent::ForgetOtherKeepers() {
  const std::string keeper = KeeperIdentity();
  TESSERA_TRY(const std::optional<std::string> known, journal_->Get("keeper"));
  if (known == keeper) return OkStatus();
  TESSERA_TRY(const auto rows, journal_->List(""));
  for (const auto& [key, value] : rows) TESSERA_RETURN_IF_ERROR(journal_->Erase(key));
  return journal_->Put("keeper", keeper);
}

// ---- registrar

void NodeAgent::Send(wire::FromNode message) {
  message.set_node(config_.node);
  message.set_incarnation(incarnation_);
  std::vector<Frame> frames;
  frames.push_back(Frame::Of("node"));
  frames.push_back(Frame::Of(message.SerializeAsString()));
  // A message that cannot be sent now is repeated: state by Register, outcomes on request.
  static_cast<void>(registrar_->Send(std::move(frames)));
}

void NodeAgent::FillDevices(google::protobuf::RepeatedPtrField<wire::NodeDevice>* out) const {
  for (const auto& [id, device] : store_->devices()) {
    auto* row = out->Add();
    row->set_index(id.index);
    row->set_capacity(device.arena->capacity());
    row->set_failed(device.failed);
    row->set_arena_path(device.path);
    if (!device.table) continue;
    row->set_used(device.table->used_bytes());
    row->set_job(device.table->job());
    row->set_epoch(device.table->epoch());
    const engine::ArenaHeader& header = device.arena->header();
    row->set_end(static_cast<std::int64_t>(header.end.load()));
    row->set_begin(static_cast<std::int64_t>(header.begin.load()));
    row->set_grads_step(static_cast<std::int64_t>(header.grads_step.load()));
    row->mutable_decision()->set_step(static_cast<std::int64_t>(header.decision_step.load()));
    row->mutable_decision()->set_clip(header.decision_clip.load());
    row->mutable_decision()->set_skip(header.decision_skip.load() != 0);
    row->mutable_decision()->set_loss(header.decision_loss.load());
    row->mutable_decision()->set_norm2(header.decision_norm2.load());
    row->mutable_decision()->set_tokens(static_cast<std::int64_t>(header.decision_tokens.load()));
    const RankTable::Rank* rank = ranks_.Find({device.table->job(), id});
    row->set_has_rank(rank != nullptr);
    if (rank) row->set_busy_seconds(RankTable::UsualBusySeconds(*rank));
  }
}

void NodeAgent::SendRegister() {
  wire::FromNode message;
  auto* r = message.mutable_register_();
  r->set_major(kProtocolMajor);
  r->set_minor(kProtocolMinor);
  r->set_node(config_.node);
  r->set_host(config_.host);
  r->set_address(AddressOf(config_.endpoint));
  r->set_public_key(Utf8(keys_.public_key));
  for (const std::string& lane : lanes_->endpoints()) r->add_lanes(lane);
  r->set_version(TESSERA_VERSION);
  r->set_machine(Utf8(engine::MachineIdentity()));
  r->set_link_bytes_per_second(config_.link_bytes_per_second);
  r->set_master_port(master_port_);
  r->set_keeper_pid(getppid());
  r->set_incarnation(incarnation_);
  FillDevices(r->mutable_devices());
  snapshots_->Describe(r->mutable_snapshots());
  for (const auto& [name, job] : jobs_) {
    auto* row = r->add_jobs();
    row->set_job(name);
    row->set_epoch(job.row.epoch);
    row->set_ranks(ranks_.NumRunning(name));
    if (const auto all = AllPaused(name)) {
      row->set_paused(true);
      row->set_step(all->step);
      row->set_request(all->request);
      row->set_reason(Utf8(all->reason));
    }
  }
  if (txn_) {
    r->set_transaction(txn_->prepare.transaction());
    r->set_transaction_state(static_cast<std::uint32_t>(txn_->part->state()));
    r->set_transaction_job(txn_->prepare.job());
    r->set_transaction_slot(txn_->prepare.slot());
  }
  Send(std::move(message));
}

void NodeAgent::SendHeartbeat() {
  wire::FromNode message;
  FillDevices(message.mutable_heartbeat()->mutable_devices());
  message.mutable_heartbeat()->set_view_bytes(views_->size_bytes());
  message.mutable_heartbeat()->set_order(last_order_);
  snapshots_->Describe(message.mutable_heartbeat()->mutable_snapshots());
  Send(std::move(message));
}

void NodeAgent::ReportEvent(engine::Severity severity, const std::string& source,
                            const std::string& text) {
  // The registrar prints all events; the agents of other nodes print their own.
  if (config_.endpoint != config_.registrar_endpoint) {
    std::fprintf(stderr, "%s %s: %s\n", std::string(ToString(severity)).c_str(), source.c_str(),
                 text.c_str());
  }
  wire::FromNode message;
  auto* event = message.mutable_event();
  event->set_severity(static_cast<std::uint32_t>(severity));
  event->set_source(source);
  event->set_text(Utf8(text));
  if (registrar_) Send(std::move(message));
}

void NodeAgent::OnRegistrarReady() {
  for (;;) {
    auto received = registrar_->Receive();
    if (!received || !*received) return;
    wire::ToNode message;
    const Message& frames = **received;
    if (frames.size() != 1 ||
        !message.ParseFromArray(frames[0].data(), static_cast<int>(frames[0].size()))) {
      std::fprintf(stderr, "dropped a malformed message from the registrar\n");
      continue;
    }
    last_message_ = Loop::Now();
    OnMessage(message);
  }
}

void NodeAgent::OnMessage(const wire::ToNode& m) {
  switch (m.body_case()) {
    case wire::ToNode::kWelcome:
      if (!m.welcome().error().empty()) {
        std::fprintf(stderr, "the registrar refused n%d: %s\n", config_.node,
                     m.welcome().error().c_str());
        return;
      }
      welcomed_ = true;
      for (const auto& [job, recorded] : m.welcome().steps()) RepeatSteps(job, recorded);
      rendezvous_.Repeat();
      return;
    case wire::ToNode::kRepeatSteps:
      return RepeatSteps(m.repeat_steps().job(), m.repeat_steps().after());
    case wire::ToNode::kHeartbeat:
      return;
    case wire::ToNode::kUnknown:
      welcomed_ = false;
      SendRegister();
      return;
    case wire::ToNode::kStartJob:
      return OnStartJob(m.start_job());
    case wire::ToNode::kResumeJob:
      return OnResumeJob(m.resume_job());
    case wire::ToNode::kPauseJob:
      return OnPauseJob(m.pause_job());
    case wire::ToNode::kStopJob:
      return OnStopJob(m.stop_job());
    case wire::ToNode::kTakeDigests:
      return OnTakeDigests(m.take_digests());
    case wire::ToNode::kPrepare:
      return OnPrepare(m.prepare());
    case wire::ToNode::kPauseTxn:
      if (HearAbout(m.pause_txn().transaction())) {
        Feed(engine::PauseRequested{m.pause_txn().at_step()});
      }
      return;
    case wire::ToNode::kTransfer:
      if (HearAbout(m.transfer().transaction())) txn_->part->OnTransfer(m.transfer().step());
      return;
    case wire::ToNode::kVerify:
      if (HearAbout(m.verify().transaction())) Feed(engine::VerifyRequested{});
      return;
    case wire::ToNode::kOutcome:
      return OnOutcome(m.outcome());
    case wire::ToNode::kGo:
      return OnGo(m.go());
    case wire::ToNode::kExitNoted:
      return OnRankExitNoted(m.exit_noted().pid());
    case wire::ToNode::kStoreValue:
      return rendezvous_.OnValue(m.store_value());
    case wire::ToNode::kDecided:
      return OnDecided(m.decided());
    case wire::ToNode::kQuery:
      return queries_.Run(m.query(), [this](wire::NodeAnswer answer) {
        wire::FromNode message;
        *message.mutable_answer() = std::move(answer);
        Send(std::move(message));
      });
    case wire::ToNode::kTakeView:
      return OnTakeView(m.take_view());
    case wire::ToNode::kKeepViews:
      for (const std::uint64_t view : m.keep_views().views()) views_->Keep(view);
      return;
    case wire::ToNode::kReleaseViews:
      for (const std::uint64_t view : m.release_views().views()) views_->Release(view);
      return;
    case wire::ToNode::kCompleteSnapshot:
      return OnCompleteSnapshot(m.complete_snapshot());
    case wire::ToNode::kDropSnapshots:
      for (const std::uint64_t id : m.drop_snapshots().views()) snapshots_->Drop(id);
      return;
    case wire::ToNode::kFinishUpdate:
      return OnFinishUpdate(m.finish_update());
    case wire::ToNode::kFailDevice:
      return OnFailDevice(m.fail_device().index());
    case wire::ToNode::kDie:
      if (m.die().clean()) {
        static_cast<void>(keeper_->Shutdown());
      } else {
        static_cast<void>(keeper_->Die());
      }
      return;
    case wire::ToNode::BODY_NOT_SET:
      return;
  }
}

}  // namespace tessera::agents
