// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/chaos.h"

#include <QDir>
#include <QFile>
#include <QThread>
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/losses.h"
#include "tests/e2e/machine_cluster.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/proc_stat.h"
#include "tests/support/send_signal.h"

namespace tessera::test {
namespace {

const QString kJob = QStringLiteral("nano");
constexpr int kNodes = 3, kDevices = 2, kBatch = 16, kNodeLostSeconds = 3;
/// Steps that are compared with one process: rounding in another order changes later ones more.
constexpr std::int64_t kCompared = 3000;
constexpr const char* kPoints[] = {"participant.prepared",
                                   "participant.transferring",
                                   "participant.transferred",
                                   "participant.verified",
                                   "participant.verified.journaled",
                                   "participant.committed",
                                   "participant.committed.journaled",
                                   "participant.precopying",
                                   "participant.saving",
                                   "participant.following",
                                   "registrar.leg",
                                   "participant.round",
                                   "participant.round.freed",
                                   "participant.round.journaled",
                                   "registrar.round",
                                   "registrar.precopying",
                                   "registrar.pausing",
                                   "registrar.transferring",
                                   "registrar.verifying",
                                   "registrar.committing",
                                   "registrar.decided",
                                   "registrar.resuming",
                                   "registrar.ended",
                                   "registrar.recorded",
                                   "registrar.journaled",
                                   "registrar.outcome"};
const std::string kTrainer = TESSERA_BIN_DIR "/tessera-train";
const QString kPanel = QStringLiteral(TESSERA_BIN_DIR "/tessera");

struct Mesh {
  const char* text;
  int ranks;
};
constexpr Mesh kMeshes[] = {{"dp=2", 2},      {"tp=2", 2},      {"pp=2", 2}, {"dp=2,tp=2", 4},
                            {"dp=2,pp=2", 4}, {"tp=2,pp=2", 4}, {"dp=4", 4}};

QStringList Words(const char* text) { return QString::fromLatin1(text).split(QLatin1Char(' ')); }

bool SpansNodes(const Json& devices) {
  std::set<char> nodes;
  for (const Json& device : devices) nodes.insert(device.get<std::string>()[1]);
  return nodes.size() > 1;
}

bool IsRunning(QProcess* process) {
  if (!process) return false;
  process->waitForFinished(0);  // there is no event loop that would notice its end
  return process->state() != QProcess::NotRunning;
}

}  // namespace

Chaos::Chaos(std::uint64_t seed, Place place) : random_(seed) {
  const QString memory = QStringLiteral("64M");
  if (place == Place::kMachines) {
    auto machines = std::make_unique<MachineCluster>(
        MachineCluster::Options{.nodes = kNodes, .devices = kDevices, .memory = memory});
    machines_ = machines.get();
    cluster_ = std::move(machines);
    if (!problem().isEmpty()) return;
  } else {
    cluster_ = std::make_unique<LocalCluster>(
        LocalCluster::Options{.nodes = kNodes,
                              .devices = kDevices,
                              .memory = memory,
                              // Some copies take longer than a step.
                              .link = QStringLiteral("15MB/s"),
                              .one_host = false,
                              // NCCL is not used otherwise.
                              .plain_lanes = qEnvironmentVariableIsSet("TESSERA_TEST_GPUS")});
  }
  cluster_->Configure({{"node_lost_seconds", kNodeLostSeconds}, {"start_stall_seconds", 10}});
  cluster_->StartJob(kJob, QStringLiteral("dp=2,tp=2"), QStringLiteral("n0g0,n0g1,n1g0,n1g1"),
                     Words("--on-failure shrink --snapshot-every 10 --set collective_timeout=5 "
                           "--global-batch 16"));
}

Chaos::~Chaos() { EndPanel(); }

QString Chaos::problem() const { return machines_ ? machines_->machines().problem() : QString(); }

QString Chaos::KeepFolder() {
  cluster_->KeepHome();
  return cluster_->home();
}

QString Chaos::Summary() const {
  return QStringLiteral(
             "%1 cuts, %8 panels killed or stopped; %2 committed, %3 rolled back, %4 unknown to "
             "the client, %9 copied over several steps; %5 restarts, "
             "%6 recoveries, %7 returns to a snapshot")
      .arg(count_.cuts)
      .arg(count_.committed)
      .arg(count_.rolled_back)
      .arg(count_.unknown)
      .arg(count_.restarts)
      .arg(count_.recoveries)
      .arg(count_.returns)
      .arg(count_.panels)
      .arg(count_.spread);
}

QString Chaos::Round() {
  story_.clear();
  spans_nodes_ = SpansNodes(cluster_->Job(kJob)["devices"]);
  StartPanel();
  if (Chance(0.9)) BeginChange();
  if (change_ && Chance(0.4)) {
    InjectFaultAtPoint();
  } else {
    InjectFaults();
  }
  for (const QString& wrong : {Repair(), WaitUntilItTrains(), CheckState()}) {
    if (!wrong.isEmpty()) return wrong;
  }
  return {};
}

void Chaos::InjectFaults() {
  const int faults = Chance(0.3) ? 2 : 1;
  for (int i = 0; i < faults; ++i) {
    const int delay = Pick(0, 1200);
    story_ << QStringLiteral("after %1 ms").arg(delay);
    QThread::msleep(static_cast<unsigned long>(delay));
    InjectFault();
  }
}

void Chaos::BeginChange() {
  const Mesh& mesh = kMeshes[Pick(0, std::size(kMeshes) - 1)];
  QStringList devices;
  for (int node = 0; node < kNodes; ++node) {
    for (int device = 0; device < kDevices; ++device) {
      devices << QStringLiteral("n%1g%2").arg(node).arg(device);
    }
  }
  std::shuffle(devices.begin(), devices.end(), random_);
  devices = devices.first(mesh.ranks);
  spans_nodes_ = spans_nodes_ && SpansNodes([&] {
                   Json names = Json::array();
                   for (const QString& device : devices) names.push_back(device.toStdString());
                   return names;
                 }());
  story_ << QStringLiteral("change to %1 on %2")
                .arg(QLatin1String(mesh.text), devices.join(QLatin1Char(',')));
  QStringList words = {QStringLiteral("apply"),     kJob,
                       QStringLiteral("--mesh"),    QString::fromLatin1(mesh.text),
                       QStringLiteral("--devices"), devices.join(QLatin1Char(',')),
                       QStringLiteral("--yes"),     QStringLiteral("--json")};
  if (Chance(0.3)) {
    story_ << QStringLiteral("in rounds");
    words << Words("--move-memory 512K --confirm") << kJob;
  } else if (Chance(0.3)) {  // all state: between GPUs, by NCCL
    story_ << QStringLiteral("in the pause");
    words << Words("--overlap off");
  }
  change_ = cluster_->Start(words);
}

void Chaos::StartPanel() {
  if (machines_ || !QFile::exists(kPanel)) return;
  if (IsRunning(panel_.get())) return;
  QStringList environment = EnvironmentWithHome(cluster_->home());
  environment << QStringLiteral("QT_QPA_PLATFORM=offscreen");
  panel_ = StartProgram(QStringLiteral("tessera"), {QStringLiteral("--operate")}, environment);
}

void Chaos::EndPanel() {
  if (!panel_) return;
  panel_->kill();
  panel_->waitForFinished();
}

void Chaos::DisturbPanel() {
  ++count_.panels;
  if (Chance(0.5)) {
    story_ << QStringLiteral("kill the panel");
    return EndPanel();
  }
  const int length = Pick(1000, 14'000);
  story_ << QStringLiteral("stop the panel for %1 ms").arg(length);
  Stop(panel_->processId(), length);
}

void Chaos::InjectFault() {
  if (panel_ && Chance(0.1)) return DisturbPanel();
  const int node = Pick(0, kNodes - 1);
  const int kind = Pick(0, machines_ ? 13 : 8);
  const auto agent = cluster_->Agent(node);
  const auto ranks = cluster_->Children(node, kTrainer);
  const QString name = QStringLiteral("n%1").arg(node);
  if (kind <= 1) {
    story_ << QStringLiteral("kill the agent of %1").arg(name);
    if (agent) Cluster::Kill(*agent);
  } else if (kind == 2) {
    const int length = Chance(0.2) ? Pick(10'000, 14'000) : Pick(200, 5000);
    story_ << QStringLiteral("stop the agent of %1 for %2 ms").arg(name).arg(length);
    if (agent) Stop(agent->pid, length);
  } else if (kind == 3 && !ranks.empty()) {
    story_ << QStringLiteral("kill a rank on %1").arg(name);
    SendSignal(ranks[static_cast<std::size_t>(Pick(0, 1)) % ranks.size()], SIGKILL);
  } else if (kind == 4 && !ranks.empty()) {
    story_ << QStringLiteral("stop a rank on %1 for good").arg(name);
    SendSignal(ranks.front(), SIGSTOP);
  } else if (kind == 5 || kind == 6) {
    KillNode(node);
  } else if (kind == 7) {
    const int length = Pick(1000, 6000);
    story_ << QStringLiteral("stop the keeper of %1 for %2 ms").arg(name).arg(length);
    Stop(cluster_->Keeper(node).pid, length);
  } else if (kind >= 9) {
    CutLink(node);
  } else if (change_) {
    story_ << QStringLiteral("kill the client");
    change_->kill();
  }
}

void Chaos::InjectFaultAtPoint() {
  const QString point = QString::fromLatin1(kPoints[Pick(0, std::size(kPoints) - 1)]);
  const int node = point.startsWith(QStringLiteral("registrar")) ? 0 : Pick(0, kNodes - 1);
  if (!faults_.StopAt(node, point)) return;
  // A node without a part in the transaction does not reach the point.
  Cluster::WaitFor(
      [&] { return !faults_.IsPending(node, point) || HasEnded(change_->processId()); });
  const auto agent = cluster_->Agent(node);
  const bool is_there = !faults_.Withdraw(node, point) && agent &&
                        Cluster::WaitFor([&] { return IsStopped(agent->pid); }, 5);
  if (is_there) {
    story_ << QStringLiteral("n%1 is at %2").arg(node).arg(point);
    held_ = agent->pid;
  }
  InjectFault();
  SendSignal(std::exchange(held_, 0), SIGCONT);
}

void Chaos::Stop(std::int64_t pid, int length) {
  if (!SendSignal(pid, SIGSTOP)) return;
  if (pid == held_) held_ = 0;  // stays stopped
  EndAfter(length, [pid] { SendSignal(pid, SIGCONT); });
}

// The node is lost in half of the cuts.
void Chaos::CutLink(int node) {
  constexpr int kLost = 1000 * kNodeLostSeconds;
  const int length = Chance(0.5) ? Pick(200, kLost - 200) : Pick(kLost, 8000);
  story_ << QStringLiteral("cut the link of n%1 for %2 ms").arg(node).arg(length);
  if (!machines_->machines().SetLink(node, false)) return;
  ++count_.cuts;
  EndAfter(length, [this, node] { machines_->machines().SetLink(node, true); });
}

void Chaos::EndAfter(int length, std::function<void()> end) {
  passing_.emplace_back([length, end = std::move(end)] {
    QThread::msleep(static_cast<unsigned long>(length));
    end();
  });
}

// The registrar's node is not lost: nothing can be decided without it. Neither is a node that may
// hold all of the job, snapshot included.
void Chaos::KillNode(int node) {
  const Json job = cluster_->Job(kJob);
  const bool is_covered =
      job.is_object() && !job["snapshots"]["step"].is_null() && job["snapshots"]["nodes"] != 1;
  if (node == 0 || !dead_.empty() || !spans_nodes_ || !is_covered) {
    story_ << QStringLiteral("nothing");
    return;
  }
  story_ << QStringLiteral("kill the node n%1").arg(node);
  Cluster::Kill(cluster_->Keeper(node));
  dead_.push_back(node);
}

QString Chaos::Repair() {
  passing_.clear();  // waits for the threads
  if (change_) {
    const Json result = Cluster::Finish(*change_, 90).LastJson();
    change_.reset();
    const bool is_known = result.is_object() && result.contains("result");
    if (!is_known) {
      ++count_.unknown;
    } else {
      ++(result["result"] == "committed" ? count_.committed : count_.rolled_back);
    }
  }
  for (const int node : std::exchange(dead_, {})) {
    // Usually only after the job has continued without it, if it was on it.
    if (Chance(0.7)) {
      story_ << QStringLiteral("start it later");
      if (QString wrong = WaitUntilItTrains(); !wrong.isEmpty()) return wrong;
    }
    if (QString wrong = cluster_->StartNode(node); !wrong.isEmpty()) return wrong;
  }
  if (!cluster_->WaitAllAlive()) return QStringLiteral("a node does not come back");
  return {};
}

QString Chaos::WaitUntilItTrains() {
  const bool idle = Cluster::WaitFor([&] {
    const std::string phase = cluster_->Phase();
    return phase.empty() || phase == "done" || phase == "rolled_back" || phase == "failed";
  });
  if (!idle)
    return QStringLiteral("the transaction does not end: ") +
           QString::fromStdString(cluster_->Phase());
  bool resumed = false;
  const bool runs = cluster_->WaitJob(kJob, [&](const Json& job) {
    const std::string reason = job["reason"];
    if (!resumed && reason.find("not started again") != std::string::npos) {
      resumed = cluster_->Run(Words("job resume nano")).code == 0;  // three crashes in ten steps
    }
    return job["state"] == "running";
  });
  if (!runs) return QStringLiteral("the job does not run");
  if (!cluster_->GoesOn(kJob, 11)) return QStringLiteral("the job makes no steps");
  const std::int64_t step = cluster_->Step(kJob);
  const bool covered = cluster_->WaitJob(kJob, [&](const Json& job) {
    return !job["snapshots"]["step"].is_null() &&
           job["snapshots"]["step"].get<std::int64_t>() >= step;
  });
  return covered ? QString() : QStringLiteral("no further snapshot is taken");
}

// A process too many would train on the memory of another. Ranks that leave have 5 s to end.
QString Chaos::CheckRanks() {
  std::size_t ranks = 0, devices = 0;
  const bool equal = Cluster::WaitFor(
      [&] {
        ranks = 0;
        for (int node = 0; node < kNodes; ++node)
          ranks += cluster_->Children(node, kTrainer).size();
        const Json job = cluster_->Job(kJob);
        devices = job.is_object() ? job["devices"].size() : 0;
        return ranks == devices;
      },
      20);
  if (equal) return {};
  return QStringLiteral("%1 ranks run for %2 devices").arg(ranks).arg(devices);
}

// `digest` compares all replicas. What the history calls committed had equal digests.
QString Chaos::CheckState() {
  const bool was_killed = story_.contains(QStringLiteral("kill the panel"));
  if (panel_ && !IsRunning(panel_.get()) && !was_killed) {
    return QStringLiteral("the panel has ended: ") +
           QString::fromUtf8(panel_->readAll().right(2000));
  }
  if (QString wrong = CheckRanks(); !wrong.isEmpty()) return wrong;
  const Outcome digest = cluster_->Run(Words("digest nano --json"));
  if (digest.code != 0) return QStringLiteral("digest: ") + digest.Text();
  const Json history = cluster_->Ask(Words("history"));
  if (!history.is_object()) return QStringLiteral("no history");
  for (const Json& entry : history["transactions"]) {
    const std::string result = entry["result"];
    if (result != "committed" && result != "rolled_back") {
      return QString::fromStdString("an unfinished transaction: " + entry.dump());
    }
    if (result != "committed") continue;
    if (const QString wrong = cluster_->WrongDigestsOf(entry); !wrong.isEmpty()) {
      return wrong + QStringLiteral(": ") + QString::fromStdString(entry.dump());
    }
  }
  return {};
}

QString Chaos::Finish() {
  EndPanel();
  const Outcome metrics = cluster_->Run(
      {QStringLiteral("job"), QStringLiteral("metrics"), kJob, QStringLiteral("--json")});
  if (NumStepsWithoutGap(metrics.output) < 10)
    return QStringLiteral("a step is missing or twice in the history");
  const Run run = RunOf(*cluster_, kJob);
  const std::int64_t compared = std::min(run.rbegin()->first, kCompared);
  const Run solo = SoloRun(QStringLiteral("gpt-nano"), compared, kBatch);
  if (std::ssize(solo) < compared) return QStringLiteral("no run to compare with");
  const double difference = LargestDifference(UpTo(compared, run), solo);
  if (difference > 1e-4) return QStringLiteral("losses differ by %1").arg(difference);
  const Json history = cluster_->Ask(Words("history --limit 1000"));
  for (const Json& entry : history["transactions"]) {
    const std::string reason = entry["reason"];
    count_.compared += entry["result"] == "committed" && entry["digest_after"] != "" ? 1 : 0;
    count_.recoveries += reason.starts_with("no step lost") ? 1 : 0;
    count_.returns += reason.starts_with("back to the snapshot") ? 1 : 0;
  }
  const QString events = cluster_->Run(Words("events --limit 10000")).output;
  count_.restarts = static_cast<int>(events.count(QStringLiteral("started again on")));
  count_.spread = static_cast<int>(events.count(QStringLiteral("it is copied over ")));
  if (QString wrong = cluster_->End(); !wrong.isEmpty()) return wrong;
  // Nothing is left: all processes of the cluster have its home in their environment.
  const QByteArray home = "TESSERA_HOME=" + cluster_->home().toUtf8();
  for (const QString& pid : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
    QFile environment(QStringLiteral("/proc/%1/environ").arg(pid));
    if (!environment.open(QIODevice::ReadOnly) || !environment.readAll().contains(home)) continue;
    QFile command(QStringLiteral("/proc/%1/cmdline").arg(pid));
    const QByteArray words = command.open(QIODevice::ReadOnly) ? command.readAll() : QByteArray();
    if (words.isEmpty() || words.contains("home-guard")) continue;
    return QStringLiteral("left behind: ") +
           QString::fromUtf8(words).replace(QChar(0), QLatin1Char(' '));
  }
  return {};
}

}  // namespace tessera::test
