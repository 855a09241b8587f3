// SPDX-License-Identifier: Apache-2.0
// Four hours of changes, one every ten seconds, on a simulated cluster of 64 GPUs: nothing grows
// but the history, and that stays within its limits.
#include <unistd.h>

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>

#include "agents/sim/scenario_run.h"
#include "tests/support/digests.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents::sim;

namespace {

constexpr int kChanges = 1440;
constexpr double kEvery = 10;  // seconds

std::int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

ptc::MeshShape Mesh(std::int64_t tp) {
  ptc::MeshShape mesh;
  mesh[ptc::Axis::kDp] = 16;
  mesh[ptc::Axis::kTp] = tp;
  return mesh;
}

std::vector<ptc::DeviceId> Devices(int nodes) {
  std::vector<ptc::DeviceId> out;
  for (int n = 0; n < nodes; ++n) {
    for (int d = 0; d < 8; ++d) out.push_back({n, d});
  }
  return out;
}

}  // namespace

class ScenarioSoakTest : public QObject {
  Q_OBJECT

 private slots:
  void nothingGrows() {
    Scenario scenario;
    scenario.nodes = 8;
    scenario.devices = 8;
    act::Start start;
    scenario.hardware = "demo";
    start.model = "gpt-mini";
    start.global_batch = 256;  // so that a step takes about a second
    start.job = "job";
    start.devices = Devices(4);
    start.mesh = Mesh(2);
    scenario.acts.push_back({0, start});
    for (int i = 0; i < kChanges; ++i) {
      const bool grows = i % 2 == 0;
      scenario.acts.push_back(
          {kEvery * (i + 1), act::Apply{"job", Devices(grows ? 8 : 4), Mesh(grows ? 4 : 2)}});
    }
    scenario.end = kEvery * (kChanges + 1);

    QTemporaryDir folder;
    const std::string file = folder.filePath(QStringLiteral("history.db")).toStdString();
    const auto history = engine::History::Open(file);
    QVERIFY(history);
    // Means of the third and the last quarter of the changes: what is resident differs by some MiB
    // from one change to the next.
    double third = 0, last = 0;
    constexpr int kQuarter = kChanges / 4;
    int accepted = 0;
    ScenarioObserver observer;
    observer.act = [&](double, const Scenario::Act&, const Status&) {
      ++accepted;
      const double part = static_cast<double>(ResidentBytes()) / kQuarter;
      if (accepted > 2 * kQuarter && accepted <= 3 * kQuarter) third += part;
      if (accepted > 3 * kQuarter) last += part;
    };
    const auto result = RunScenario(scenario, **history, **history, observer);
    QVERIFY2(result, result ? "" : result.error().message.c_str());
    for (const std::string& failure : result->failures) qWarning("%s", failure.c_str());
    QVERIFY(result->failures.empty());
    QCOMPARE(result->changes.size(), std::size_t{kChanges});
    for (const engine::HistoryEntry& change : result->changes) {
      QCOMPARE(change.result, std::string("committed"));
      VERIFY_DIGESTS(change.digest_before, change.digest_after);
    }
    const double grown = last / third - 1;
    qInfo("%.1f MiB in the third quarter, %+.1f %% in the last; history %.1f MiB, %lld steps",
          third / (1 << 20), 100 * grown,
          static_cast<double>(QFileInfo(QString::fromStdString(file)).size()) / (1 << 20),
          static_cast<long long>(result->samples));
    QVERIFY(grown < 0.04);
    QVERIFY(QFileInfo(QString::fromStdString(file)).size() < engine::Retention{}.max_bytes);
  }
};

TESSERA_TEST_APPLESS(ScenarioSoakTest)
#include "scenario_soak_test.moc"
