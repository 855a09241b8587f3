// SPDX-License-Identifier: Apache-2.0
// What the control plane costs in clusters of many nodes: a real registrar, and agents of this
// process that speak its protocol over the real wire, each with a key and a connection of its own.
// They have 8 devices each and nothing to do, so a transaction takes as long as its messages.
//
//   control_bench [AGENTS…]     default: 2 64 2048
#include <fmt/format.h>
#include <unistd.h>

#include <QCoreApplication>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "agents/client/cluster.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/bench/scripted_agents.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"

using tessera::UpperMedian;
using namespace tessera;
using namespace tessera::agents;
using namespace tessera::test;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLongest{120};
constexpr int kDevices = 8;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Waits until `holds`, for kLongest.
bool WaitFor(const std::function<bool()>& holds) {
  for (const auto begin = Clock::now(); SecondsSince(begin) < kLongest.count();) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return holds();
}

/// CPU seconds of a process so far.
double CpuOf(std::int64_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) words >> skipped;
  double user = 0, system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// What a panel would hold.
struct Panel {
  std::mutex mutex;
  std::shared_ptr<const engine::ClusterSnapshot> snapshot =
      std::make_shared<const engine::ClusterSnapshot>();
  std::atomic<std::int64_t> snapshots{0};
  std::unique_ptr<ClusterClient> client;

  explicit Panel(const Profile& profile) {
    ClusterClient::Handlers handlers;
    handlers.snapshot = [this](std::shared_ptr<const engine::ClusterSnapshot> now) {
      const std::lock_guard lock(mutex);
      snapshot = std::move(now);
      ++snapshots;
    };
    auto opened = ClusterClient::Open(profile, std::move(handlers));
    if (opened) client = std::move(*opened);
  }
  ~Panel() { client.reset(); }
  std::int64_t num_alive() {
    const std::lock_guard lock(mutex);
    return std::count_if(snapshot->nodes.begin(), snapshot->nodes.end(),
                         [](const auto& node) { return node.state == engine::NodeState::kAlive; });
  }
};

Result<wire::Reply> Ask(ClusterClient& client, wire::Request request) {
  return client.CallAndWait(std::move(request), kLongest);
}

/// All devices, data-parallel: StartJobRequest or PlanRequest. Ranks 0 and 1 may change places:
/// they hold the same, so nothing moves.
template <typename Request>
void AskForAll(int agents, bool swapped, Request* out) {
  for (const int size : {1, agents * kDevices, 1, 1, 1}) out->mutable_mesh()->add_sizes(size);
  for (std::int32_t node = 1; node <= agents; ++node) {
    for (std::int32_t index = 0; index < kDevices; ++index) {
      auto* const device = out->add_devices();
      device->set_node(node);
      const bool is_swapped = swapped && node == 1 && index < 2;
      device->set_index(is_swapped ? 1 - index : index);
    }
  }
}

Status StartJob(ClusterClient& client, int agents) {
  wire::Request request;
  auto* start = request.mutable_start_job();
  start->set_name("wide");
  start->set_command("true");
  start->mutable_tensors()->set_name("tensors.json");
  start->mutable_tensors()->set_text(
      R"({"layers": 0, "tensors": [{"name": "w", "dtype": "f32", "shape": [256], "role": "param"}]})");
  start->mutable_rules()->set_name("rules.json");
  start->mutable_rules()->set_text(
      R"({"rules": [{"match": "w", "cut": "replicate", "stage": "all"}]})");
  AskForAll(agents, false, start);
  start->set_global_batch(agents * kDevices);
  const auto reply = Ask(client, std::move(request));
  return reply ? OkStatus() : Status(reply.error());
}

Result<double> EmptyTransaction(ClusterClient& client, const ScriptedAgents& agents, bool swapped) {
  const std::int64_t before = agents.num_gone();
  wire::Request request;
  auto* const plan = request.mutable_apply()->mutable_plan();
  plan->set_job("wide");
  AskForAll(agents.count(), swapped, plan);
  plan->set_pin(true);
  const auto begin = Clock::now();
  TESSERA_TRY(const wire::Reply reply, Ask(client, std::move(request)));
  const double accepted = SecondsSince(begin);
  const std::int64_t id = reply.apply().transaction();
  if (!WaitFor([&] { return agents.num_gone() >= before + agents.count(); })) {
    return Timeout("the transaction did not end");
  }
  const double seconds = SecondsSince(begin);
  wire::Request ask;
  ask.mutable_txn()->set_transaction(id);
  for (;;) {
    TESSERA_TRY(const wire::Reply now, Ask(client, ask));
    if (now.txn().record().result() == "committed") break;
    if (!now.txn().record().result().empty()) return Internal(now.txn().record().reason());
    if (SecondsSince(begin) > kLongest.count()) return Timeout("it has no record");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  fmt::print("    {:.3f} s (plan {:.3f} s)\n", seconds, accepted);
  return seconds;
}

Status Bench(int count) {
  fmt::print("{} agents of {} devices\n", count, kDevices);
  LocalCluster cluster({.nodes = 1, .devices = 1, .memory = QStringLiteral("16M"), .link = {}});
  if (cluster.up().code != 0) return Unavailable(cluster.up().Text().toStdString());
  TESSERA_TRY(const Profile profile,
              LoadProfile(cluster.home().toStdString() + "/profiles/t.json"));
  TESSERA_TRY(const auto agents,
              ScriptedAgents::Make(profile, profile.directory + "/allowed", count, kDevices));
  std::this_thread::sleep_for(std::chrono::seconds(3));  // the registrar reads the new keys
  const auto agent = cluster.Agent(0);
  if (!agent) return Unavailable("there is no registrar");
  const std::int64_t pid = agent->pid;
  Panel panel(profile);
  TESSERA_TRY(const auto client, ClusterClient::OpenForCommands(profile));

  auto begin = Clock::now();
  agents->Connect();
  if (!WaitFor([&] { return agents->num_welcomed() == count; })) {
    return Timeout(fmt::format("{} of {} agents joined", agents->num_welcomed(), count));
  }
  fmt::print("  all have joined after {:.2f} s\n", SecondsSince(begin));
  if (!WaitFor([&] { return panel.num_alive() == count + 1; })) {
    return Timeout(fmt::format("the panel sees {} nodes", panel.num_alive()));
  }
  begin = Clock::now();
  TESSERA_RETURN_IF_ERROR(StartJob(*client, count));
  fmt::print("  a job on all devices has started after {:.2f} s\n", SecondsSince(begin));
  std::this_thread::sleep_for(std::chrono::seconds(3));

  constexpr int kIdle = 10;
  const double cpu = CpuOf(pid);
  const std::int64_t snapshots = panel.snapshots;
  const std::int64_t received = agents->num_received();
  std::this_thread::sleep_for(std::chrono::seconds(kIdle));
  fmt::print("  idle: {:.1f} % of a core, {} snapshots and {} messages to agents a second\n",
             (CpuOf(pid) - cpu) / kIdle * 100,
             static_cast<double>(panel.snapshots - snapshots) / kIdle,
             static_cast<double>(agents->num_received() - received) / kIdle);

  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    TESSERA_TRY(const double took, EmptyTransaction(*client, *agents, i % 2 == 0));
    seconds.push_back(took);
  }
  fmt::print("  an empty transaction: {:.3f} s (median of {})\n", UpperMedian(seconds),
             seconds.size());

  const std::int64_t welcomed = agents->num_welcomes();
  SendSignal(pid, SIGKILL);
  begin = Clock::now();
  if (!WaitFor([&] { return agents->num_welcomes() >= welcomed + count; })) {
    return Timeout("the agents did not come back");
  }
  fmt::print("  the registrar was killed: all are back after {:.2f} s\n", SecondsSince(begin));
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {2, 64, 2048};
  fmt::print("{}\n", Machine());
  for (const int count : counts) {
    if (const Status done = Bench(count); !done) {
      fmt::print("  {}\n", done.error().ToString());
      return 1;
    }
  }
  return 0;
}
