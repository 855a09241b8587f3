// SPDX-License-Identifier: Apache-2.0
// The same steps on several meshes, and through five moves: the losses do not depend on the mesh.
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/e2e/losses.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
// The small model is the default; TESSERA_TEST_MODEL=gpt-mini takes minutes.
QString Model() { return qEnvironmentVariable("TESSERA_TEST_MODEL", QStringLiteral("gpt-nano")); }
bool IsSmall() { return Model() == QStringLiteral("gpt-nano"); }

struct Length {
  std::int64_t steps = 60;
  std::int64_t batch = 16;
};
/// Of a run on one mesh.
Length OneMesh() { return IsSmall() ? Length{40, 64} : Length{}; }
/// Of a run with changes. The steps before the first change take longer than its preparation.
Length FiveChanges() { return IsSmall() ? Length{300, 16} : Length{}; }
}  // namespace

class E2eLossesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster =
        std::make_unique<LocalCluster>(LocalCluster::Options{.link = {}, .step_time = "0.1"});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void oneMeshThroughout_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<int>("devices");
    QTest::addColumn<QString>("zero");
    const auto row = [](const char* mesh, int devices, const char* zero) {
      QTest::addRow("%s, zero %s", mesh, zero) << mesh << devices << zero;
    };
    row("dp=2,tp=2", 4, "off");
    row("dp=2,tp=2,pp=2", 8, "on");
    if (IsSmall()) return;  // all eight are the slow variant
    row("dp=1,tp=4", 4, "off");
    row("dp=4,tp=1", 4, "on");
    row("dp=3,tp=2", 6, "on");  // 16 samples are 6, 5 and 5
    row("dp=3,tp=1,pp=2", 6, "off");
    row("dp=1,tp=1,pp=4", 4, "off");
    row("dp=2,tp=1,pp=2", 4, "off");
    row("dp=1,tp=2,pp=2", 4, "on");
    row("dp=4,tp=2", 8, "on");
  }
  void oneMeshThroughout() {
    QFETCH(QString, mesh);
    QFETCH(int, devices);
    QFETCH(QString, zero);
    if (m_solo.empty()) m_solo = SoloRun(Model(), OneMesh().steps, OneMesh().batch);
    compare(train(OneMesh(), mesh, devices, zero, {}), m_solo);
  }
  void reconfiguredFiveTimes() {
    const Length length = FiveChanges();
    const std::int64_t first = length.steps / 4;
    compare(train(length, "dp=2,tp=2", 4, "off",
                  {{first, "dp=4,tp=2", 8, "off"},
                   {first + 3, "dp=1,tp=2,pp=2", 4, "on"},
                   {first + 6, "dp=3,tp=1,pp=2", 6, "on"},
                   {first + 9, "dp=1,tp=4", 4, "off"},
                   {first + 12, "dp=1,tp=1", 1, "off"}}),
            SoloRun(Model(), length.steps, length.batch));
  }

 private:
  struct Change {
    std::int64_t at;
    QString mesh;
    int devices;
    QString zero;
  };

  Run train(const Length& length, const QString& mesh, int devices, const QString& zero,
            const std::vector<Change>& changes) {
    const QString job = QStringLiteral("job%1").arg(++m_jobs);
    const Outcome start =
        m_cluster->Run({"job", "start", Model(), "--name", job, "--mesh", mesh, "--devices",
                        FirstDevices(devices), "--steps", QString::number(length.steps),
                        "--global-batch", QString::number(length.batch), "--zero", zero},
                       160);
    if (start.code != 0) {
      qWarning("%s", start.Text().constData());
      return {};
    }
    for (const Change& change : changes) {
      // The first comes at a step named beforehand, far enough ahead to be prepared by then; the
      // others as soon as they are prepared.
      const bool named = &change == &changes.front();
      if (!named && !m_cluster->WaitStep(job, change.at)) {
        qWarning("step %lld did not come", static_cast<long long>(change.at));
        return {};
      }
      QStringList more = {"--zero", change.zero};
      if (named) more << "--at-step" << QString::number(change.at);
      const Json result = m_cluster->Apply(job, change.mesh, FirstDevices(change.devices), more);
      if (!result.is_object() || result["result"] != "committed" ||
          result["step"] >= length.steps || (named && result["step"] != change.at) ||
          !WrongDigests(result["digest_before"], result["digest_after"]).empty()) {
        qWarning("to %s at step %lld: %s", qPrintable(change.mesh),
                 static_cast<long long>(change.at), result.dump().c_str());
        return {};
      }
      qInfo("to %s after step %lld: pause %.3f s, %lld bytes", qPrintable(change.mesh),
            result["step"].get<long long>(), result["pause_seconds"].get<double>(),
            result["moved_bytes"].get<long long>());
    }
    m_cluster->WaitJob(
        job, [](const Json& j) { return j["state"] == "paused"; }, 240);
    const Run run = RunOf(*m_cluster, job);
    m_cluster->Run({"job", "stop", job, "--yes"});
    return run;
  }

  static void compare(const Run& run, const Run& solo) {
    QVERIFY(!solo.empty());
    QCOMPARE(run.size(), solo.size());
    const double loss = LargestDifference(run, solo);
    const double norm =
        RelativeDifference(run.begin()->second.grad_norm, solo.begin()->second.grad_norm);
    qInfo("largest relative difference of the losses %.2g, of the first gradient norm %.2g", loss,
          norm);
    QVERIFY2(loss <= 1e-5, qPrintable(QString::number(loss)));
    QVERIFY2(norm <= 1e-4, qPrintable(QString::number(norm)));
    QVERIFY(run.rbegin()->second.loss < run.begin()->second.loss);
  }

  std::unique_ptr<LocalCluster> m_cluster;
  Run m_solo;  // of OneMesh()
  int m_jobs = 0;
};

TESSERA_TEST(E2eLossesTest)
#include "e2e_losses_test.moc"
