// SPDX-License-Identifier: Apache-2.0
#include "agents/node/node_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/gpu/arena_memory.h"
#include "agents/gpu/cuda_driver.h"
#include "agents/gpu/measure_copies.h"
#include "agents/gpu/nccl_library.h"
#include "agents/move/mover.h"
#include "agents/move/page_warmer.h"
#include "agents/node/doctor.h"
#include "agents/node/exchange_join.h"
#include "agents/node/fault.h"
#include "agents/node/job_files.h"
#include "agents/node/trainer.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/files/available_memory.h"
#include "engine/files/machine_identity.h"
#include "engine/files/process_stat.h"
#include "engine/history/unreadable_rows.h"

namespace tessera::agents {
namespace {
constexpr std::int64_t kPortBurst = 1 << 20;
/// A registrar that answers says something every few seconds.
constexpr std::chrono::seconds kLongestSilence{20};

std::int64_t NewIncarnation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// Pid and start time of the parent.
std::string KeeperIdentity() {
  const auto stat = engine::ReadProcessStat(getppid());
  return fmt::format("{} {}", getppid(), stat ? stat->start : 0);
}

/// NCCL encrypts nothing, knows nothing of emulated links, and has one rank on a device at most.
bool MayUseNccl(const AgentConfig& config) {
  const std::set<std::int32_t> distinct(config.cuda_devices.begin(), config.cuda_devices.end());
  return config.lane_security == kPlainLanes && config.link_bytes_per_second == 0 &&
         distinct.size() == config.cuda_devices.size();
}

// The address part of an endpoint: "tcp://10.0.0.1:40001" -> "10.0.0.1", "tcp://[::1]:40001" ->
// "::1", which is what ranks connect to.
std::string AddressOf(const std::string& endpoint) {
  const auto begin = endpoint.find("://");
  const auto end = endpoint.rfind(':');
  if (begin == std::string::npos || end == std::string::npos || end <= begin + 3) return endpoint;
  std::string address = endpoint.substr(begin + 3, end - begin - 3);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  return address;
}

// A free TCP port of `address`, or 0. The port is not reserved, so another process may bind it
// before a rank does; torchrun chooses its port in the same way.
std::int32_t FindFreePort(const std::string& address) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  // The name of an interface is bound as any address.
  if (::getaddrinfo(address.c_str(), "0", &hints, &found) != 0 &&
      ::getaddrinfo("0.0.0.0", "0", &hints, &found) != 0) {
    return 0;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> own(found, &::freeaddrinfo);
  const UniqueFd fd(::socket(own->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::bind(fd.get(), own->ai_addr, own->ai_addrlen) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return 0;
  }
  return ntohs(own->ai_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// It has the promises of this node, so a new one in its place could break them.
Error JournalError(const AgentConfig& config, const std::string& why) {
  return DataLoss(fmt::format(
      "n{} cannot run, because its journal is damaged ({}). No other node has a copy of it: put "
      "one of yours back as {}, and the node goes on; or end the node with `kill {}` on its "
      "machine, remove the file and start the node again: its part of the jobs then comes from "
      "replicas, snapshots or checkpoints",
      config.node, why, NodeServer::JournalFile(config), getppid()));
}
}  // namespace

NodeServer::NodeServer(Loop& loop, NetContext& net, AgentConfig config, CurveKeys keys)
    : loop_(loop),
      net_(net),
      config_(std::move(config)),
      keys_(std::move(keys)),
      egress_(std::make_shared<engine::TokenBucket>(config_.link_bytes_per_second, kPortBurst)),
      ingress_(std::make_shared<engine::TokenBucket>(config_.link_bytes_per_second, kPortBurst)),
      facts_(MakeFacts()),
      queries_(loop, config_, MakePort()) {}

NodeServer::~NodeServer() = default;

Result<std::unique_ptr<NodeServer>> NodeServer::Start(Loop& loop, NetContext& net,
                                                      const AgentConfig& config, CurveKeys keys) {
  std::unique_ptr<NodeServer> server(new NodeServer(loop, net, config, std::move(keys)));
  if (const Status opened = server->Open(); !opened) {
    // The keeper kills an agent that has left it, so this has to be written before.
    std::fprintf(stderr, "tessera-agent: %s\n", opened.error().ToString().c_str());
    return opened.error();
  }
  return server;
}

std::string NodeServer::JournalFile(const AgentConfig& config) {
  return config.directory + "/journal.db";
}

Status NodeServer::CheckJournal(const AgentConfig& config) {
  const Status whole = engine::Journal::CheckFile(JournalFile(config));
  if (whole || whole.error().code != ErrorCode::kDataLoss) return whole;
  return JournalError(config, whole.error().message);
}

void NodeServer::Refuse(const Error& why) {
  std::fprintf(stderr, "tessera-agent: %s\n", why.ToString().c_str());
  served_.reset();
  views_.reset();
  agent_.reset();
  journal_.reset();  // the file is to be replaced
  refusing_.emplace(loop_, net_, config_, keys_, why.message);
}

Status NodeServer::OpenJournal() {
  TESSERA_RETURN_IF_ERROR(CheckJournal(config_));
  TESSERA_TRY(journal_, engine::Journal::Open(JournalFile(config_)));
  return OkStatus();
}

Status NodeServer::Open() {
  if (const Status opened = OpenJournal(); !opened) {
    if (opened.error().code != ErrorCode::kDataLoss) return opened;
    Refuse(opened.error());
    return OkStatus();
  }
  if (!config_.etcd.endpoints.empty()) {
    decisions_ = std::make_unique<EtcdRegister>(loop_, config_.etcd);
  }
  agent_ = std::make_unique<NodeAgent>(loop_, config_, MakeWorld());
  KeeperLink::Handlers handlers = agent_->keeper_handlers();
  // A node that refuses has no agent. The next one gets the exits that nobody has acknowledged.
  handlers.exited = [this, run = std::move(handlers.exited)](const KeeperLink::Rank& rank) {
    if (agent_) run(rank);
  };
  handlers.stderr_line = [this, run = std::move(handlers.stderr_line)](const KeeperLink::Rank& rank,
                                                                       std::string line) {
    if (agent_) run(rank, std::move(line));
  };
  TESSERA_TRY(keeper_, KeeperClient::FromEnvironment(loop_, std::move(handlers)));
  views_ = std::make_unique<StoredViews>(loop_, config_, keys_, *keeper_, *journal_, facts_.machine,
                                         lane_counts_);
  served_ = std::make_unique<ServedCells>(*views_);
  // Nobody reaches this node before it knows what it holds and has promised.
  TESSERA_RETURN_IF_ERROR(agent_->TakeOver(*keeper_));
  if (const Status recovered = agent_->Recover(*views_); !recovered) {
    if (recovered.error().code != ErrorCode::kDataLoss) return recovered;
    Refuse(JournalError(config_, recovered.error().message));
    return OkStatus();
  }
  TESSERA_TRY(const auto unreadable, journal_->List(engine::kUnreadable));
  std::vector<std::string> rows;
  for (const auto& [key, value] : unreadable) rows.push_back(key);
  queries_.SetUnreadable(std::move(rows));
  TESSERA_TRY(rank_port_, RankPort::Listen(loop_, facts_.rank_socket, agent_->rank_handlers()));
  LaneServerOptions lanes;
  lanes.endpoints = config_.lanes;
  if (const auto& secret = facts_.lane_secret) {
    lanes.admits = [own = *secret](const LaneKey& key, std::size_t lane, const LaneTicket& ticket,
                                   std::string_view) {
      return IsEqual(ticket, TicketOf(own, key, lane));
    };
  } else {
    lanes.keys = keys_;
    // Viewers see no state of jobs, and a key may have been revoked since it connected.
    lanes.admits = [this](const LaneKey&, std::size_t, const LaneTicket&, std::string_view sender) {
      const auto owner = net_.OwnerOf(sender);
      return owner && owner->role != Role::kViewer;
    };
  }
  lanes.egress = egress_;
  lanes.counts = lane_counts_;
  TESSERA_TRY(lanes_,
              LaneServer::Start(net_, std::move(lanes),
                                [served = served_.get()](const LaneKey& key, const LaneCell& cell) {
                                  return served->Resolve(key, cell);
                                }));
  TESSERA_RETURN_IF_ERROR(Connect());
  loop_.Every(std::chrono::seconds(1), [this] {
    ConnectAgainAfterSilence();
    ReportRefusedKeys();
  });
  agent_->Start(*rank_port_, lanes_->endpoints());
  return OkStatus();
}

LinkPort NodeServer::MakePort() const {
  LinkPort port{&net_, keys_, ingress_};
  if (!config_.cuda_devices.empty()) {
    port.measure_memory = [from = config_.cuda_devices.front(), to = config_.cuda_devices.back()] {
      return MeasureCopies(from, to);
    };
  }
  return port;
}

// What cannot be had is an error where the memory is made.
void NodeServer::DescribeGpus(NodeFacts& facts) const {
  const auto driver = CudaDriver::Get();
  if (!driver) return;
  facts.has_gpus = !(*driver)->is_emulated();
  facts.gpu_driver = "CUDA " + (*driver)->VersionText();
  if (const auto info = (*driver)->Describe(config_.cuda_devices.front())) facts.gpu = info->name;
  const auto nccl = NcclLibrary::Get();
  if (nccl && MayUseNccl(config_)) facts.nccl = (*nccl)->VersionText();
}

NodeFacts NodeServer::MakeFacts() const {
  NodeFacts facts;
  facts.incarnation = NewIncarnation();
  facts.keeper = KeeperIdentity();
  facts.keeper_pid = getppid();
  facts.machine = engine::MachineIdentity();
  facts.address = AddressOf(config_.endpoint);
  facts.public_key = keys_.public_key;
  if (config_.lane_security == kPlainLanes) facts.lane_secret = NewLaneSecret();
  if (!config_.cuda_devices.empty()) {
    DescribeGpus(facts);
  }
  facts.master_port = FindFreePort(facts.address);
  facts.rank_socket = config_.directory + "/ranks.sock";
  return facts;
}

// The first agent of a keeper makes the memory of its GPUs, and the keeper holds it for the next.
Status NodeServer::AttachMemory(const KeeperLink::Arena& kept, engine::Arena& arena) {
  const int device = config_.cuda_devices.at(static_cast<std::size_t>(kept.index));
  if (kept.memory_fd >= 0) return AttachCudaMemory(arena, device, kept.memory_fd);
  TESSERA_TRY(const int fd, MakeCudaMemory(arena, device));
  const UniqueFd owned(fd);
  return keeper_->Keep(MemoryName(kept.index), owned.get());
}

NodeWorld NodeServer::MakeWorld() {
  NodeWorld world;
  world.facts = facts_;
  world.journal = journal_.get();
  world.decisions = decisions_.get();
  world.send = [this](const wire::FromNode& message) { Send(message); };
  world.run_query = [this](const wire::NodeQuery& query, NodeQueries::Reply reply) {
    queries_.Run(query, std::move(reply));
  };
  world.write_job_files = [this](const std::string& job, const std::string& settings,
                                 const ptc::Layout& layout) {
    return WriteJobFiles(config_.directory, job, settings, layout);
  };
  world.write_view_file = [this](const std::string& job, std::int32_t device,
                                 const RankView& view) {
    return WriteViewFile(config_.directory, job, device, ToJson(view));
  };
  world.remove_job_files = [this](const std::string& job) {
    RemoveJobFiles(config_.directory, job);
  };
  if (!config_.cuda_devices.empty()) {
    world.attach_memory = [this](const KeeperLink::Arena& kept, engine::Arena& arena) {
      return AttachMemory(kept, arena);
    };
  }
  if (!facts_.nccl.empty()) {
    world.join_exchange = [this](std::optional<std::string> place,
                                 const std::vector<ptc::DeviceId>& all,
                                 std::vector<engine::ExchangeEnds> flows,
                                 std::function<void(const std::string&)> made,
                                 std::function<void(ExchangeJoin::Met)> done) {
      ExchangeMembers members{all, {}, std::move(flows)};
      for (const ptc::DeviceId device : all) {
        if (device.node != config_.node) continue;
        members.local[device] = config_.cuda_devices.at(static_cast<std::size_t>(device.index));
      }
      return std::make_shared<ExchangeJoin>(loop_, left_, std::move(place), std::move(members),
                                            std::move(made), std::move(done));
    };
  }
  world.trainer_path = TrainerPath;
  world.environment = TrainerEnvironment;
  world.memory_available = [] { return engine::AvailableMemory().value_or(0); };
  world.process_group = [](std::int64_t pid) -> std::int64_t {
    return ::getpgid(static_cast<pid_t>(pid));
  };
  world.start_move = [this](std::shared_ptr<const MoveContext> context, MoveMode mode,
                            std::function<void(MoveResult)> done) {
    return StartMove(std::move(context), mode, std::move(done));
  };
  world.open_checkpoint =
      [limits = config_.jobs, node = config_.node](
          const std::string& path) -> Result<std::shared_ptr<const checkpoint::Checkpoint>> {
    TESSERA_RETURN_IF_ERROR(CheckCheckpoint(limits, node, path, std::nullopt));
    return OpenCheckpointAt(path);
  };
  world.start_kept_digests = [this](KeptState state, std::function<void(KeptResult)> done) {
    return std::make_unique<KeptDigests>(
        std::move(state), [this, done = std::move(done)](KeptResult result) {
          loop_.Post([done, result = std::move(result)]() mutable { done(std::move(result)); });
        });
  };
  const auto on_loop = [this](std::function<void(const Status&)> done) {
    return [this, done = std::move(done)](const Status& status) {
      loop_.Post([done, status] { done(status); });
    };
  };
  world.save_gradients = [on_loop](std::shared_ptr<const MoveContext> context,
                                   std::function<void(const Status&)> done) {
    return std::make_shared<FollowRun>(
        [context = std::move(context)](const std::stop_token& stop) {
          return SaveGradients(*context, stop);
        },
        on_loop(std::move(done)));
  };
  world.update_copies = [on_loop](std::shared_ptr<const MoveContext> context,
                                  const StepUpdate& update,
                                  std::function<void(const Status&)> done) {
    return std::make_shared<FollowRun>(
        [context = std::move(context), update](const std::stop_token& stop) {
          return UpdateCopies(*context, update, stop);
        },
        on_loop(std::move(done)));
  };
  world.warm_pages = [this](std::shared_ptr<const MoveContext> context,
                            std::function<void()> done) {
    return std::make_shared<PageWarmer>(std::move(context),
                                        [this, done = std::move(done)] { loop_.Post(done); });
  };
  world.serve = [this](std::shared_ptr<const MoveContext> context) {
    served_->Serve(std::move(context));
  };
  world.limit_lanes = [this](std::int64_t bytes_per_second) { LimitLanes(bytes_per_second); };
  world.network_faults = [this] { return NetworkFaultsNow(); };
  world.log_line = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  world.fault_point = [node = config_.node](const std::string& point) { FaultPoint(node, point); };
  world.exit = [] { std::_Exit(1); };
  return world;
}

std::unique_ptr<Move> NodeServer::StartMove(std::shared_ptr<const MoveContext> context,
                                            MoveMode mode, std::function<void(MoveResult)> done) {
  auto post = [this, done = std::move(done)](MoveResult result) {
    loop_.Post([done, result = std::move(result)]() mutable { done(std::move(result)); });
  };
  return std::make_unique<Mover>(std::move(context),
                                 Mover::Wire{&net_, keys_, ingress_, lane_counts_, &left_},
                                 std::move(post), mode);
}

void NodeServer::LimitLanes(std::int64_t bytes_per_second) {
  const std::int64_t port = config_.link_bytes_per_second;
  const bool is_lower = bytes_per_second > 0 && (port == 0 || bytes_per_second < port);
  const std::int64_t rate = is_lower ? bytes_per_second : port;
  const auto now = std::chrono::steady_clock::now();
  egress_->SetRate(rate, now);
  ingress_->SetRate(rate, now);
}

engine::NetworkFaults NodeServer::NetworkFaultsNow() const {
  const LaneCounts& counts = *lane_counts_;
  return {counts.malformed, counts.not_admitted, counts.dropped,
          counts.corrupt,   counts.switched,     net_.connections().num_closed()};
}

// ---- the connection to the registrar

Status NodeServer::Connect() {
  TESSERA_TRY(Socket socket, Socket::Client(net_, SocketKind::kDealer, keys_,
                                            config_.registrar_key.empty() ? keys_.public_key
                                                                          : config_.registrar_key));
  // Random, because a ROUTER gives the route to the newest connection with the same routing id: a
  // peer that knew the id could take over the route.
  std::random_device random;
  TESSERA_RETURN_IF_ERROR(socket.SetIdentity(
      fmt::format("n{}-{}-{:08x}{:08x}", config_.node, facts_.incarnation, random(), random())));
  TESSERA_RETURN_IF_ERROR(socket.SetHighWater(100000));
  // The registrar answers heartbeats, so the connection needs none of its own.
  TESSERA_RETURN_IF_ERROR(socket.SetNoHeartbeat());
  TESSERA_RETURN_IF_ERROR(socket.Monitor(net_));
  TESSERA_RETURN_IF_ERROR(socket.Connect(config_.registrar_endpoint));
  registrar_ = std::move(socket);
  heard_ = std::chrono::steady_clock::now();
  loop_.Watch(*registrar_, [this] { ReadMessages(); });
  loop_.Watch(registrar_->monitor(), [this] { ReadLinkEvents(); });
  return OkStatus();
}

// A machine that is gone, or a path that is cut, closes no connection.
void NodeServer::ConnectAgainAfterSilence() {
  if (!registrar_ || std::chrono::steady_clock::now() - heard_ < kLongestSilence) return;
  agent_->OnDisconnected();
  loop_.Unwatch(*registrar_);
  loop_.Unwatch(registrar_->monitor());
  registrar_.reset();
  if (const Status connected = Connect(); !connected) {
    std::fprintf(stderr, "tessera-agent: %s\n", connected.error().ToString().c_str());
  }
}

void NodeServer::Send(const wire::FromNode& message) {
  if (!registrar_) return;
  std::vector<Frame> frames;
  frames.push_back(Frame::Of("node"));
  frames.push_back(Frame::Of(message.SerializeAsString()));
  static_cast<void>(registrar_->Send(std::move(frames)));
}

void NodeServer::ReadMessages() {
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
    heard_ = std::chrono::steady_clock::now();
    agent_->OnMessage(std::move(message));
  }
}

void NodeServer::ReadLinkEvents() {
  while (const auto event = registrar_->NextLinkEvent()) {
    if (event->kind == LinkEvent::Kind::kReady) {
      failed_.reset();
      agent_->OnConnected();
    }
    if (event->kind == LinkEvent::Kind::kDisconnected) agent_->OnDisconnected();
    const bool has_failed = event->kind == LinkEvent::Kind::kRefused ||
                            event->kind == LinkEvent::Kind::kHandshakeFailed;
    if (!has_failed || failed_ == event->kind) continue;
    failed_ = event->kind;
    std::fprintf(stderr, "tessera-agent: %s\n",
                 LinkFailureText(config_, keys_.public_key, event->kind).c_str());
  }
}

void NodeServer::ReportRefusedKeys() {
  const auto refused = net_.refused_keys().TakeReport(std::chrono::steady_clock::now());
  if (!refused) return;
  const std::string text =
      fmt::format("refuses {}: not in its folder of allowed keys", ToString(*refused));
  std::fprintf(stderr,
               "tessera-agent: %s; if it is a node or user of yours, copy its .pub file to %s\n",
               text.c_str(), config_.allowed_folder.c_str());
  agent_->ReportEvent(engine::Severity::kWarning, text);
}

}  // namespace tessera::agents
