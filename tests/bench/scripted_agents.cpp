// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/scripted_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "agents/net/loop.h"
#include "agents/net/socket.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::test {

using namespace agents;

namespace {
/// ZeroMQ allows a context about a thousand sockets, and each agent has two.
constexpr int kAgentsOfGroup = 256;
constexpr auto kBeat = std::chrono::seconds(1);
}  // namespace

class ScriptedAgents::Agent {
 public:
  Agent(Loop& loop, Counts& counts, std::int32_t node, int devices, CurveKeys keys)
      : loop_(loop), counts_(counts), node_(node), devices_(devices), keys_(std::move(keys)) {}

  Status Connect(NetContext& net, const Profile& cluster) {
    TESSERA_TRY(Socket socket, Socket::Client(net, SocketKind::kDealer, keys_, cluster.server_key));
    TESSERA_RETURN_IF_ERROR(socket.SetIdentity(fmt::format("n{}-bench", node_)));
    TESSERA_RETURN_IF_ERROR(socket.SetHighWater(1000));
    TESSERA_RETURN_IF_ERROR(socket.SetNoHeartbeat());
    TESSERA_RETURN_IF_ERROR(socket.Connect(cluster.registrar_endpoint));
    socket_.emplace(std::move(socket));
    loop_.Watch(*socket_, [this] { Read(); });
    SendRegister();
    // Spread over the second, as those of machines that were started one by one.
    loop_.After(std::chrono::milliseconds(node_ * 997 % 1000),
                [this] { loop_.Every(kBeat, [this] { Beat(); }); });
    return OkStatus();
  }

 private:
  void Send(wire::FromNode message) {
    message.set_node(node_);
    message.set_incarnation(1);
    std::vector<Frame> frames;
    frames.push_back(Frame::Of("node"));
    frames.push_back(Frame::Of(message.SerializeAsString()));
    static_cast<void>(socket_->Send(std::move(frames)));
  }

  void Describe(google::protobuf::RepeatedPtrField<wire::NodeDevice>* out) const {
    for (int i = 0; i < devices_; ++i) {
      auto* const row = out->Add();
      row->set_index(i);
      row->set_capacity(80LL << 30);
      row->set_arena_path(fmt::format("/proc/{}/fd/{}", 10000 + node_, 10 + i));
      if (job_.empty()) continue;
      row->set_used(10LL << 30);
      row->set_job(job_);
      row->set_epoch(epoch_);
      row->set_begin(step_);
      row->set_end(step_);
      row->set_has_rank(true);
    }
  }

  void DescribeJobs(google::protobuf::RepeatedPtrField<wire::NodeJob>* out) const {
    if (job_.empty()) return;
    auto* const row = out->Add();
    row->set_job(job_);
    row->set_epoch(epoch_);
    row->set_ranks(devices_);
  }

  void SendRegister() {
    wire::FromNode message;
    auto* const m = message.mutable_register_();
    m->set_major(kProtocolMajor);
    m->set_minor(kProtocolMinor);
    m->set_node(node_);
    m->set_host(fmt::format("host-{}", node_));
    m->set_machine(fmt::format("machine-{}", node_));
    m->set_address("127.0.0.1");
    m->set_public_key(keys_.public_key);
    for (int lane = 0; lane < 4; ++lane) {
      m->add_lanes(fmt::format("tcp://10.1.{}.{}:{}", node_ / 256, node_ % 256, 40000 + lane));
    }
    m->set_keeper_pid(10000 + node_);
    m->set_incarnation(1);
    Describe(m->mutable_devices());
    DescribeJobs(m->mutable_jobs());
    Send(std::move(message));
  }

  void Beat() {
    if (!welcomed_) return SendRegister();
    if (++beats_ % beat_every_ == 0) SendHeartbeat();
  }

  void SendHeartbeat() {
    wire::FromNode message;
    auto* const m = message.mutable_heartbeat();
    Describe(m->mutable_devices());
    DescribeJobs(m->mutable_jobs());
    m->set_transaction(transaction_);
    m->set_memory_available(100LL << 30);
    Send(std::move(message));
  }

  void Report(std::int64_t transaction, wire::TxnReport::Kind kind) {
    wire::FromNode message;
    auto* const m = message.mutable_txn();
    m->set_transaction(transaction);
    m->set_kind(kind);
    if (kind == wire::TxnReport::PAUSED) m->set_step(step_);
    Send(std::move(message));
  }

  void Read() {
    for (;;) {
      auto received = socket_->Receive();
      if (!received || !*received) return;
      wire::ToNode message;
      const auto bytes = (**received)[0];
      if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) continue;
      ++counts_.received;
      counts_.bytes += static_cast<std::int64_t>(bytes.size());
      OnMessage(message);
    }
  }

  void OnMessage(const wire::ToNode& m) {
    switch (m.body_case()) {
      case wire::ToNode::kWelcome:
        if (!std::exchange(ever_welcomed_, true)) ++counts_.welcomed;
        ++counts_.welcomes;
        welcomed_ = true;
        return;
      case wire::ToNode::kHeartbeat:
        beat_every_ = std::max<std::int64_t>(m.heartbeat().beat_seconds(), 1);
        return;
      case wire::ToNode::kUnknown:
        welcomed_ = false;
        return SendRegister();
      case wire::ToNode::kStartJob: {
        job_ = m.start_job().job();
        epoch_ = m.start_job().epoch();
        wire::FromNode message;
        message.mutable_job_ready()->set_job(job_);
        message.mutable_job_ready()->set_ok(true);
        message.mutable_job_ready()->set_start(m.start_job().start());
        return Send(std::move(message));
      }
      case wire::ToNode::kPrepare:
        transaction_ = m.prepare().transaction();
        next_epoch_ = m.prepare().epoch();
        return Report(transaction_, wire::TxnReport::PREPARED);
      case wire::ToNode::kPauseTxn:
        return Report(transaction_, wire::TxnReport::PAUSED);
      case wire::ToNode::kTransfer:
        return Report(transaction_, wire::TxnReport::TRANSFERRED);
      case wire::ToNode::kVerify:
        return Report(transaction_, wire::TxnReport::VERIFIED);
      case wire::ToNode::kOutcome: {
        const bool commit = m.outcome().value().find("commit") != std::string::npos;
        if (commit) epoch_ = next_epoch_;
        return Report(m.outcome().transaction(),
                      commit ? wire::TxnReport::COMMITTED : wire::TxnReport::ABORTED);
      }
      case wire::ToNode::kGo: {
        if (transaction_ != m.go().transaction()) return;
        transaction_ = 0;
        ++counts_.gone;
        return SendDigests(m.go().transaction());
      }
      case wire::ToNode::kAskStateDigests:
        return SendDigests(m.ask_state_digests().transaction());
      default:
        return;
    }
  }

  void SendDigests(std::int64_t transaction) {
    wire::FromNode message;
    message.mutable_state_digests()->set_transaction(transaction);
    for (auto* const side : {message.mutable_state_digests()->mutable_sides()->mutable_before(),
                             message.mutable_state_digests()->mutable_sides()->mutable_after()}) {
      for (int i = 0; i < devices_; ++i) {
        auto* const row = side->add_devices();
        row->mutable_device()->set_node(node_);
        row->mutable_device()->set_index(i);
        row->add_groups(0);
        row->add_hashes(1);
      }
    }
    Send(std::move(message));
  }

  Loop& loop_;
  Counts& counts_;
  const std::int32_t node_;
  const int devices_;
  const CurveKeys keys_;
  std::optional<Socket> socket_;
  bool welcomed_ = false, ever_welcomed_ = false;
  std::int64_t beats_ = node_, beat_every_ = 1;
  std::string job_;
  std::int64_t epoch_ = 0, next_epoch_ = 0, step_ = 0, transaction_ = 0;
};

class ScriptedAgents::Group {
 public:
  Group() = default;
  ~Group() {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
    agents_.clear();
  }
  void Add(Counts& counts, std::int32_t node, int devices, CurveKeys keys) {
    agents_.push_back(std::make_unique<Agent>(loop_, counts, node, devices, std::move(keys)));
  }
  bool is_full() const { return agents_.size() >= kAgentsOfGroup; }
  void Connect(const Profile& cluster) {
    thread_ = std::thread([this, cluster] {
      for (const auto& agent : agents_) {
        if (const Status made = agent->Connect(net_, cluster); !made) {
          fmt::print("  {}\n", made.error().ToString());
        }
      }
      loop_.Run();
    });
  }

 private:
  NetContext net_;
  Loop loop_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::thread thread_;
};

Result<std::unique_ptr<ScriptedAgents>> ScriptedAgents::Make(const Profile& cluster,
                                                             const std::string& allowed, int count,
                                                             int devices) {
  std::unique_ptr<ScriptedAgents> out(new ScriptedAgents);
  out->cluster_ = cluster;
  out->count_ = count;
  for (std::int32_t node = 1; node <= count; ++node) {
    if (out->groups_.empty() || out->groups_.back()->is_full()) {
      out->groups_.push_back(std::make_unique<Group>());
    }
    CurveKeys keys = NewCurveKeys();
    TESSERA_RETURN_IF_ERROR(SavePublicKey(keys.public_key, fmt::format("{}/n{}.pub", allowed, node),
                                          fmt::format("node {}", node)));
    out->groups_.back()->Add(out->counts_, node, devices, std::move(keys));
  }
  return out;
}

ScriptedAgents::~ScriptedAgents() = default;

void ScriptedAgents::Connect() {
  for (const auto& group : groups_) group->Connect(cluster_);
}

}  // namespace tessera::test
