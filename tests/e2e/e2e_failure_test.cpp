// SPDX-License-Identifier: Apache-2.0
// A crashed rank is started again on the state in its arena, and no step is lost. A job that cannot
// be started again is suspended and shows why; its name and its memory are free once it is stopped.
#include <QFile>
#include <QTest>
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "agents/client/cluster_state.h"
#include "engine/store/arena.h"
#include "tests/e2e/losses.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");

QByteArray ReadAll(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}
}  // namespace

class E2eFailureTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.nodes = 1;
    options.memory = QStringLiteral("64M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aCrashedRankComesBack() {
    start();
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const std::int64_t step = m_cluster->Step(kJob);
    const Json digest = digestOf();
    const auto ranks = rankPids();
    QCOMPARE(ranks.size(), std::size_t{4});
    QVERIFY(SendSignal(ranks.front(), SIGSEGV));
    QVERIFY(cameBack("paused", ranks));
    QCOMPARE(m_cluster->Step(kJob), step);
    VERIFY_DIGESTS(digestOf(), digest);
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob));
    const QByteArray log = ReadAll(m_cluster->home() + QStringLiteral("/clusters/t/n0/agent.log"));
    QVERIFY(log.contains("signal 11"));
    QVERIFY(log.contains("no step lost"));
    stop();
  }

  // All ranks are held before the update of one step: a kill inside an update would tear its
  // device.
  void aCrashWhileItTrains() {
    start();
    std::vector<tessera::engine::Arena> arenas;
    for (const char* device : {"n0g0", "n0g1", "n0g2", "n0g3"}) {
      auto arena = m_cluster->ArenaOf(device);
      QVERIFY(arena.has_value());
      arenas.push_back(std::move(*arena));
    }
    const std::uint64_t held = arenas.front().header().end.load() + 10;
    for (auto& arena : arenas) arena.header().hold.store(held);
    for (auto& arena : arenas) {
      QVERIFY(LocalCluster::WaitFor([&] { return arena.header().decision_step.load() == held; }));
      QCOMPARE(arena.header().end.load(), held - 1);
    }
    QVERIFY(m_cluster->WaitStep(kJob, static_cast<std::int64_t>(held)));
    const auto ranks = rankPids();
    QCOMPARE(ranks.size(), std::size_t{4});
    QVERIFY(SendSignal(ranks.back(), SIGKILL));
    QVERIFY(cameBack("running", ranks));
    QVERIFY(m_cluster->GoesOn(kJob));
    // Every step is in the history once.
    const Outcome metrics = m_cluster->Run({"job", "metrics", kJob, "--json"});
    QVERIFY(NumStepsWithoutGap(metrics.output) >= 3);
    stop();
  }

  // One rank is stopped between the decision of a step and its update, while the others make
  // theirs. The rank that takes its place makes it from the gradients in the arena.
  void aRankThatDiesBeforeItsUpdateIsRolledForward() {
    start({"--global-batch", "16"});
    auto arena = m_cluster->ArenaOf("n0g2");
    QVERIFY(arena.has_value());
    tessera::engine::ArenaHeader& header = arena->header();
    const std::uint64_t held = header.end.load() + 10;
    header.hold.store(held);
    QVERIFY(LocalCluster::WaitFor([&] { return header.decision_step.load() == held; }));
    auto other = m_cluster->ArenaOf("n0g0");
    QVERIFY(other.has_value());
    QVERIFY(LocalCluster::WaitFor([&] { return other->header().end.load() == held; }));
    QCOMPARE(header.end.load(), held - 1);
    const auto ranks = rankPids();
    QCOMPARE(ranks.size(), std::size_t{4});
    for (const std::int64_t rank : ranks) QVERIFY(SendSignal(rank, SIGKILL));
    QVERIFY(cameBack("running", ranks));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Run run = RunOf(*m_cluster, kJob);
    QVERIFY(run.rbegin()->first > static_cast<std::int64_t>(held));
    const Run solo = SoloRun("gpt-nano", run.rbegin()->first, 16);
    QVERIFY(!solo.empty());
    const double difference = LargestDifference(run, solo);
    QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
    stop();
  }

  // A rank that hangs does not end by itself. The others give up waiting for it, and all start
  // again.
  void aRankThatHangsIsReplaced() {
    start({"--set", "collective_timeout=3"});
    const auto ranks = rankPids();
    QCOMPARE(ranks.size(), std::size_t{4});
    QVERIFY(SendSignal(ranks.back(), SIGSTOP));
    QVERIFY(cameBack("running", ranks));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Outcome metrics = m_cluster->Run({"job", "metrics", kJob, "--json"});
    QVERIFY(NumStepsWithoutGap(metrics.output) >= 3);
    const QByteArray log = ReadAll(m_cluster->home() + QStringLiteral("/clusters/t/n0/agent.log"));
    QVERIFY(log.contains("did not join within 3000 ms"));
    stop();
  }

  // A rank whose steps take six times as long is named, until it is as fast as the others. Ranks
  // sleep in their steps, so the ratio is the same on any machine.
  void aSlowRankIsNamed() {
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), QStringLiteral("n0g0,n0g1"), {},
                      {.step_milliseconds = 10, .may_be_slow = true});
    QVERIFY2(started.code == 0, started.Text());
    const auto isSlow = [&](bool wanted) {
      const Json status = m_cluster->Status();
      return status.is_object() && status["nodes"][0]["devices"][1]["slow"] == wanted;
    };
    QVERIFY(LocalCluster::WaitFor(
        [&] { return !m_cluster->Status()["nodes"][0]["devices"][1]["busy_seconds"].is_null(); }));
    QVERIFY(SlowDown(*m_cluster, 1, 50));
    QVERIFY(LocalCluster::WaitFor([&] { return isSlow(true); }));
    const Outcome events = m_cluster->Run({"events"});
    QVERIFY2(events.output.contains("n0g1 computes") &&
                 events.output.contains("tesseractl plan nano --devices n0g0"),
             events.Text());
    QVERIFY(SlowDown(*m_cluster, 1, 0));
    QVERIFY(LocalCluster::WaitFor([&] { return isSlow(false); }));
    QVERIFY(m_cluster->Run({"events"}).output.contains("n0g1 is no longer slower"));
    stop();
  }

  void aJobThatCrashesAgainAndAgainIsLeftSuspended() {
    start();
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const Json digest = digestOf();
    for (int i = 0; i < 2; ++i) {
      const auto ranks = rankPids();
      QCOMPARE(ranks.size(), std::size_t{4});
      QVERIFY(SendSignal(ranks.front(), SIGKILL));
      QVERIFY(cameBack("paused", ranks));
    }
    const auto last = rankPids();
    QCOMPARE(last.size(), std::size_t{4});
    QVERIFY(SendSignal(last.front(), SIGKILL));
    QVERIFY(isSuspended());
    const std::string reason = m_cluster->Job(kJob)["reason"].get<std::string>();
    QVERIFY2(reason.find("3 times within 10 steps") != std::string::npos, reason.c_str());
    QVERIFY2(reason.find("signal 9") != std::string::npos, reason.c_str());
    QVERIFY(LocalCluster::WaitFor([&] { return rankPids().empty(); }, 10));
    for (const Json& device : m_cluster->Status()["nodes"][0]["devices"]) {
      QVERIFY(device["used_bytes"].get<std::int64_t>() > 0);
    }
    // What is kept can be read, once the agent has reported the end of the ranks.
    LocalCluster::WaitFor([&] { return digestOf() == digest; }, 10);
    VERIFY_DIGESTS(digestOf(), digest);
    const auto profile =
        tessera::agents::LoadProfile((m_cluster->home() + "/profiles/t.json").toStdString());
    QVERIFY(profile.has_value());
    const auto source = tessera::agents::OpenClusterState(*profile, {});
    QVERIFY(source.has_value());
    const auto view = (*source)->Pin(kJob.toStdString());
    QVERIFY2(view.has_value(), view ? "" : view.error().ToString().c_str());
    QCOMPARE((*view)->info().step, m_cluster->Step(kJob));
    const Outcome refused = m_cluster->Run({"job", "pause", kJob});
    QVERIFY2(refused.code == 1 && refused.errors.count(u'\n') == 1, refused.Text());
    // Someone who has found the cause starts it again.
    const Outcome resumed = m_cluster->Run({"job", "resume", kJob});
    QVERIFY2(resumed.code == 0, resumed.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    stop();
  }

  void aFailedDeviceIsNotUsedAgain() {
    start();
    QVERIFY(m_cluster->Run({"device", "fail", "n0g2"}).code == 0);
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["state"] == "waiting_decision" && job["decision"]["reason"] == "n0g2 failed";
    }));
    const Outcome stays = m_cluster->Run({"job", "resume", kJob});
    QVERIFY2(stays.code == 1 && stays.errors.contains(QStringLiteral("n0g2 failed")), stays.Text());
    stop();
    const Outcome refused = m_cluster->StartJob(kJob, "dp=1,tp=1", "n0g2");
    QVERIFY2(refused.code == 1, refused.Text());
    QVERIFY2(refused.errors.contains(QStringLiteral("device n0g2 cannot be used: it failed")),
             refused.Text());
    // Its failure outlives the agent; the others work.
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const Json status = m_cluster->Status();
          return status.is_object() && !status["nodes"].empty() &&
                 status["nodes"][0]["state"] == "alive";
        },
        30));
    QVERIFY(m_cluster->StartJob(kJob, "dp=1,tp=1", "n0g2").code == 1);
    const Outcome started = m_cluster->StartJob(kJob, "dp=1,tp=2", "n0g0,n0g1");
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    stop();
  }

 private:
  void start(const QStringList& more = {}) {
    const Outcome started = m_cluster->StartJob(kJob, "dp=2,tp=2", FirstDevices(4), more);
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
  }
  void stop() {
    const Outcome stopped = m_cluster->Run({"job", "stop", kJob, "--yes"});
    QVERIFY2(stopped.code == 0, stopped.Text());
    QVERIFY(m_cluster->Job(kJob).is_null());
  }
  bool isSuspended() const {
    return m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "suspended"; }, 20);
  }
  /// Whether the job gets into `state` with ranks other than `before`.
  bool cameBack(const char* state, const std::vector<std::int64_t>& before) const {
    return LocalCluster::WaitFor(
        [&] {
          const auto now = rankPids();
          const bool fresh =
              now.size() == before.size() && std::ranges::none_of(now, [&](std::int64_t pid) {
                return std::ranges::find(before, pid) != before.end();
              });
          return fresh && m_cluster->Job(kJob)["state"] == state;
        },
        30);
  }
  /// Of the whole state.
  Json digestOf() const { return m_cluster->Ask({"digest", kJob})["digest"]; }
  std::vector<std::int64_t> rankPids() const {
    return m_cluster->Children(0, TESSERA_BIN_DIR "/tessera-train");
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eFailureTest)
#include "e2e_failure_test.moc"
