// SPDX-License-Identifier: Apache-2.0
// What failures cost on a live cluster: how long until a job trains again, how long an empty
// transaction and a roll back take, and whether moves and recoveries leave anything behind.
//
//   failures_bench [MOVES [RECOVERIES]]     0 moves: only snapshots
#include <fmt/format.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QThread>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/folders.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"

using tessera::UpperMedian;
using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("nano");
const std::string kTrainer = TESSERA_BIN_DIR "/tessera-train";
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

QStringList Words(const char* text) { return QString::fromLatin1(text).split(QLatin1Char(' ')); }

bool Start(const LocalCluster& cluster, const char* mesh, int devices, int per_node,
           const char* more = "--on-failure shrink") {
  const Outcome started = cluster.StartJob(kJob, QString::fromLatin1(mesh),
                                           FirstDevices(devices, per_node), Words(more));
  if (started.code != 0) fmt::print("start: {}\n", started.Text().toStdString());
  return started.code == 0 && cluster.WaitStep(kJob, 5);
}

/// Waits for the first step after `step`.
/// \return whether it came
bool Trains(const LocalCluster& cluster, std::int64_t step) {
  return cluster.WaitJob(kJob, [&](const Json& job) {
    return job["state"] == "running" && job["step"].get<std::int64_t>() > step;
  });
}

void BenchCrashedRank() {
  LocalCluster cluster(
      {.nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
  if (!Start(cluster, "dp=2,tp=2", 4, 2)) return;
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const auto ranks = cluster.Children(1, kTrainer);
    if (ranks.empty()) return fmt::print("no rank\n");
    const auto begin = Clock::now();
    SendSignal(ranks.back(), SIGKILL);
    if (!cluster.WaitJob(kJob, [](const Json& job) { return job["state"] != "running"; }) ||
        !Trains(cluster, cluster.Step(kJob))) {
      return fmt::print("the job did not come back\n");
    }
    seconds.push_back(SecondsSince(begin));
    cluster.GoesOn(kJob, 12);
  }
  fmt::print("a crashed rank of 4, training again: {:.2f} s (median of 5)\n", UpperMedian(seconds));
}

void BenchLostDevice() {
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    LocalCluster cluster(
        {.nodes = 2, .devices = 4, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    if (!Start(cluster, "dp=4,tp=2", 8, 4)) return;
    const auto begin = Clock::now();
    cluster.Run(Words("device fail n1g3"));
    if (!cluster.WaitJob(kJob, [](const Json& job) { return job["epoch"] == 2; }) ||
        !Trains(cluster, cluster.Step(kJob))) {
      return fmt::print("the job did not continue\n");
    }
    seconds.push_back(SecondsSince(begin));
  }
  fmt::print("one of 8 GPUs lost, policy shrink, training again: {:.2f} s (median of 3)\n",
             UpperMedian(seconds));
}

/// Sums of the phases of the transactions in the history, oldest first.
std::vector<Json> Phases(const LocalCluster& cluster) {
  std::vector<Json> phases;
  const Json history = cluster.Ask(Words("history"));
  if (!history.is_object()) return phases;
  for (const Json& entry : history["transactions"]) phases.push_back(entry["phase_seconds"]);
  return phases;
}

void BenchEmptyTransaction() {
  LocalCluster cluster(
      {.nodes = 2, .devices = 1, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
  if (!Start(cluster, "dp=2", 2, 1)) return;
  cluster.Run(Words("job pause nano"));
  for (int i = 0; i < 10; ++i) {
    cluster.Run(Words(i % 2 == 0 ? "apply nano --micro-batch 2" : "apply nano --micro-batch 1"));
  }
  std::vector<double> all, without_groups;
  for (const Json& phases : Phases(cluster)) {
    double sum = 0;
    for (const auto& [name, seconds] : phases.items()) sum += seconds.get<double>();
    all.push_back(sum);
    without_groups.push_back(sum - phases.value("preparing", 0.0));
  }
  fmt::print(
      "a transaction that moves nothing, 2 agents, paused job: {:.0f} ms, {:.0f} ms without "
      "building the process groups (median of {})\n",
      1e3 * UpperMedian(all), 1e3 * UpperMedian(without_groups), all.size());
}

void BenchRollBack() {
  LocalCluster cluster({.nodes = 2,
                        .devices = 2,
                        .memory = QStringLiteral("64M"),
                        .link = QStringLiteral("300KB/s"),
                        .one_host = false});
  if (!Start(cluster, "tp=2", 2, 2)) return;
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const auto apply =
        cluster.Start({QStringLiteral("apply"), kJob, QStringLiteral("--devices"),
                       FirstDevices(4, 2), QStringLiteral("--mesh"), QStringLiteral("dp=2,tp=2"),
                       QStringLiteral("--yes"), QStringLiteral("--json")});
    LocalCluster::WaitFor([&] { return cluster.Phase() == "transferring"; });
    cluster.Run(Words("txn cancel"));
    LocalCluster::Finish(*apply);
  }
  for (const Json& phases : Phases(cluster)) {
    if (phases.contains("rolling_back")) seconds.push_back(phases["rolling_back"].get<double>());
  }
  fmt::print("roll back of a transfer: {:.0f} ms (median of {})\n", 1e3 * UpperMedian(seconds),
             seconds.size());
}

/// When each step was decided, in seconds, by `job metrics`.
std::map<std::int64_t, double> TimesOf(const LocalCluster& cluster, const QString& job) {
  std::map<std::int64_t, double> times;
  const Outcome metrics = cluster.Run(
      {QStringLiteral("--json"), QStringLiteral("job"), QStringLiteral("metrics"), job});
  for (const QString& line : metrics.output.split(QLatin1Char('\n'))) {
    const Json row = Json::parse(line.toStdString(), nullptr, false);
    if (row.is_object()) times[row["step"].get<std::int64_t>()] = row["time"].get<double>();
  }
  return times;
}

/// Windows of steps with and without snapshots, in turn, on one running job whose stages have no
/// replicas, so that each node fetches the other's share.
void BenchSnapshotCost(const char* model, const char* memory, std::int64_t window) {
  constexpr std::int64_t kSettle = 4, kPairs = 12;
  LocalCluster cluster({.nodes = 2,
                        .devices = 1,
                        .memory = QString::fromLatin1(memory),
                        .link = {},
                        .one_host = false});
  const QString job = QString::fromLatin1(model);
  cluster.Run({QStringLiteral("job"), QStringLiteral("start"), job, QStringLiteral("--mesh"),
               QStringLiteral("pp=2"), QStringLiteral("--devices"), FirstDevices(2, 1)});
  if (!cluster.WaitStep(job, 10, 120)) return fmt::print("{} does not train\n", model);
  std::vector<std::pair<bool, std::int64_t>> windows;
  for (int i = 0; i < 2 * kPairs; ++i) {
    const bool on = i % 2 == 1;
    cluster.Run({QStringLiteral("job"), QStringLiteral("snapshots"), job,
                 on ? QStringLiteral("20") : QStringLiteral("off")});
    const std::int64_t first = cluster.Step(job) + kSettle;
    windows.emplace_back(on, first);
    if (!cluster.WaitStep(job, first + window, 300)) return fmt::print("{} hangs\n", model);
  }
  const Json snapshots = cluster.Job(job)["snapshots"];
  auto times = TimesOf(cluster, job);
  std::vector<double> with, without;
  for (const auto& [on, first] : windows) {
    (on ? with : without)
        .push_back((times[first + window] - times[first]) / static_cast<double>(window));
  }
  std::vector<double> ratios;  // of a window to the one before it
  for (std::size_t i = 0; i < with.size(); ++i) ratios.push_back(with[i] / without[i]);
  fmt::print(
      "{} as pp=2 on 2 nodes, snapshot every 20 steps ({:.1f} MiB in {:.0f} ms, {} given up): step "
      "{:.1f} ms, {:.1f} ms without, ratio {:.3f} (medians of {} pairs of windows of {} steps)\n",
      model, snapshots["bytes"].get<double>() / (1 << 20), 1e3 * snapshots["seconds"].get<double>(),
      snapshots["given_up"].get<int>(), 1e3 * UpperMedian(with), 1e3 * UpperMedian(without),
      UpperMedian(ratios), kPairs, window);
}

/// A node whose stage has no replica is lost, at no particular moment.
void BenchReturn() {
  std::vector<double> seconds, lost;
  for (int i = 0; i < 5; ++i) {
    LocalCluster cluster(
        {.nodes = 3, .devices = 1, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    if (!cluster.Configure({{"node_lost_seconds", 3}}) ||
        !Start(cluster, "pp=2", 2, 1, "--on-failure shrink --snapshot-every 20") ||
        !cluster.GoesOn(kJob, 60 + 7 * i)) {
      return fmt::print("the job does not train\n");
    }
    cluster.Run(Words("node kill n1 --yes"));
    if (!cluster.WaitJob(kJob, [](const Json& job) { return job["state"] == "suspended"; })) {
      return fmt::print("the loss was not noticed\n");
    }
    const auto begin = Clock::now();
    if (!cluster.WaitJob(kJob, [](const Json& job) { return job["epoch"] == 2; }) ||
        !Trains(cluster, cluster.Step(kJob))) {
      return fmt::print("the job did not return\n");
    }
    seconds.push_back(SecondsSince(begin));
    const std::string reason = cluster.Ask(Words("history"))["transactions"][0]["reason"];
    lost.push_back(std::atof(reason.substr(reason.find(", ") + 2).c_str()));
  }
  fmt::print(
      "a node without replica lost, snapshot every 20 steps: training again {:.2f} s after the "
      "loss "
      "was noticed (median of {}), steps lost: at most {:.0f}, median {:.0f}\n",
      UpperMedian(seconds), seconds.size(), *std::max_element(lost.begin(), lost.end()),
      UpperMedian(lost));
}

/// What a process holds.
struct Held {
  int descriptors = 0, threads = 0;
  double mebibytes = 0;
};
Held HeldBy(std::int64_t pid) {
  Held held;
  held.descriptors =
      static_cast<int>(QDir(QStringLiteral("/proc/%1/fd").arg(pid))
                           .entryList(QDir::NoDotAndDotDot | QDir::System | QDir::AllEntries)
                           .size());
  QFile status(QStringLiteral("/proc/%1/status").arg(pid));
  if (!status.open(QIODevice::ReadOnly)) return held;
  for (const QByteArray& line : status.readAll().split('\n')) {
    if (line.startsWith("Threads:")) held.threads = line.mid(8).trimmed().toInt();
    if (line.startsWith("RssAnon:"))
      held.mebibytes = line.mid(8).trimmed().split(' ').front().toDouble() / 1024;
  }
  return held;
}

void Print(const LocalCluster& cluster, const std::string& when) {
  for (int node = 0; node < 2; ++node) {
    const auto agent = cluster.Agent(node);
    if (!agent) continue;
    const Held a = HeldBy(agent->pid), k = HeldBy(cluster.Keeper(node).pid);
    fmt::print(
        "  {:<22} n{}: agent {} descriptors, {} threads, {:.1f} MiB; keeper {} descriptors\n", when,
        node, a.descriptors, a.threads, a.mebibytes, k.descriptors);
  }
}

/// A warm-up first: pools of threads and buffers are made once.
void BenchLeaks(int moves, int recoveries) {
  constexpr int kWarmUp = 10;
  LocalCluster cluster(
      {.nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
  if (!Start(cluster, "dp=1,tp=2", 2, 2, "--on-failure wait")) return;
  const auto move = [&](int i) {
    const Json moved = i % 2 == 0
                           ? cluster.Apply(kJob, QStringLiteral("dp=2,tp=2"), FirstDevices(4, 2))
                           : cluster.Apply(kJob, QStringLiteral("dp=1,tp=2"), FirstDevices(2, 2));
    return moved.is_object() && moved["result"] == "committed";
  };
  for (int i = 0; i < kWarmUp; ++i) {
    if (!move(i)) return fmt::print("a move failed\n");
  }
  Print(cluster, "before");
  for (int i = 0; i < moves / 2 * 2; ++i) {
    if (!move(i)) return fmt::print("move {} failed\n", i);
  }
  Print(cluster, fmt::format("after {} moves", moves / 2 * 2));
  if (!move(0)) return fmt::print("a move failed\n");
  int made = 0;
  for (int i = 0; i < recoveries; ++i) {
    cluster.Run(Words("job pause nano"));
    auto arena = cluster.ArenaOf(QStringLiteral("n1g0"));
    if (!arena) return fmt::print("no arena\n");
    const std::int64_t step = cluster.Step(kJob);
    const std::int64_t epoch = cluster.Job(kJob)["epoch"].get<std::int64_t>();
    arena->header().begin.store(static_cast<std::uint64_t>(step) + 1);  // half of an update
    for (const std::int64_t rank : cluster.Children(1, kTrainer)) SendSignal(rank, SIGKILL);
    if (!cluster.WaitJob(kJob, [&](const Json& job) {
          return job["state"] == "paused" && job["epoch"].get<std::int64_t>() > epoch;
        })) {
      return fmt::print("recovery {} failed\n", i);
    }
    ++made;
    cluster.Run(Words("job resume nano"));
    cluster.GoesOn(kJob, 11);
  }
  Print(cluster, fmt::format("after {} recoveries", made));
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  const int moves = argc > 1 ? std::atoi(argv[1]) : 40;
  const int recoveries = argc > 2 ? std::atoi(argv[2]) : 10;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{}\n", Machine());
  if (moves > 0) {
    BenchCrashedRank();
    BenchLostDevice();
    BenchEmptyTransaction();
    BenchRollBack();
  }
  BenchReturn();
  BenchSnapshotCost("gpt-nano", "64M", 200);
  BenchSnapshotCost("gpt-mini", "256M", 20);
  if (moves > 0) BenchLeaks(moves, recoveries);
  return 0;
}
