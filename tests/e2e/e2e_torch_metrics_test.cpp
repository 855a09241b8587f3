// SPDX-License-Identifier: Apache-2.0
// What a program in PyTorch reports of itself, and the checkpoints that it requests.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/torch_jobs.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

constexpr int kLast = 12;  // step of the program below

/// It waits in step 6 for the file `go`. Ranks other than 0 report other numbers, which do not
/// count.
const char kProgram[] = R"(
import math, os, sys, time
import torch, tessera.torch

job = tessera.torch.attach()

def build(mesh):
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1)
    return model, torch.optim.SGD(model.parameters(), 0.1)

job.bind(build)
for step in job.steps(until=12):
    while step == 6 and not os.path.exists(sys.argv[1]):
        time.sleep(0.05)
    mine = 0 if int(os.environ["RANK"]) == 0 else 100
    job.log(accuracy=torch.tensor(step / 16 + mine), lr=math.nan if step == 3 else 0.25)
    if step % 2 == 0:
        job.log(**{"eval/loss": mine - math.inf})
    loss = job.model(torch.ones(2, 4)).square().mean()
    loss.backward()
    job.step(loss)
    if step in (2, 12):
        job.checkpoint()
    if step == 12:
        job.log(total=3)
)";

}  // namespace

class E2eTorchMetricsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_python = FindPython({QStringLiteral("torch"), QStringLiteral("torch.distributed.tensor")});
    if (m_python.program.isEmpty()) QSKIP(qPrintable(m_python.why));
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 1, .memory = QStringLiteral("64M"), .link = {}});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aProgramReportsNumbersAndRequestsCheckpoints() {
    const QString script = m_files.filePath("report.py"), go = m_files.filePath("go");
    QVERIFY(Write(script, kProgram));
    const Outcome start =
        m_cluster->Run({"job", "start", script, "--name", "report", "--python", m_python.program,
                        "--mesh", "dp=2", "--devices", "n0g0,n1g0", "--", go},
                       kTorchPatience);
    QVERIFY2(start.code == 0, start.Text());
    // The first request goes with step 3, and there is no folder yet.
    QVERIFY(LocalCluster::WaitFor(
        [&] { return Events().contains("'report' has no folder for checkpoints"); },
        kTorchPatience));
    QVERIFY(m_cluster->WaitStep("report", 5, kTorchPatience));
    const Outcome schedule = m_cluster->Run(
        {"checkpoint", "save", "report", m_files.filePath("saved"), "--every", "100000"});
    QVERIFY2(schedule.code == 0, schedule.Text());
    QVERIFY(Write(go, "now"));
    QVERIFY(m_cluster->WaitJob(
        "report", [](const Json& now) { return now["state"] == "paused" && now["step"] == kLast; },
        kTorchPatience));

    // The second one is made after the last step.
    QVERIFY(LocalCluster::WaitFor([&] { return !Checkpoints().empty(); }, kTorchPatience));
    const Json checkpoints = Checkpoints();
    QCOMPARE(checkpoints.size(), std::size_t{1});
    QCOMPARE(checkpoints[0]["step"].get<int>(), kLast);
    QVERIFY(checkpoints[0]["complete"].get<bool>() && !checkpoints[0]["scheduled"].get<bool>());
    QVERIFY2(Events().contains("checkpoint of step 12 saved"), qPrintable(Events()));

    const Json now = m_cluster->Job("report")["metrics"];
    QCOMPARE(now.dump(),
             std::string(R"({"accuracy":0.75,"eval/loss":null,"lr":0.25,"total":3.0})"));
    const Outcome csv = m_cluster->Run({"export", "--what", "samples", "--job", "report"});
    QVERIFY2(csv.code == 0, csv.Text());
    const QStringList lines = csv.output.split("\r\n", Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), kLast + 1);
    QVERIFY2(lines[0].endsWith(",metrics.accuracy,metrics.eval/loss,metrics.lr,metrics.total"),
             qPrintable(lines[0]));
    QVERIFY2(lines[1].endsWith(",0.0625,,0.25,"), qPrintable(lines[1]));
    QVERIFY2(lines[2].endsWith(",0.125,-inf,0.25,"), qPrintable(lines[2]));
    QVERIFY2(lines[3].endsWith(",0.1875,,NaN,"), qPrintable(lines[3]));
    const Outcome json =
        m_cluster->Run({"export", "--what", "samples", "--job", "report", "--format", "json"});
    const Json third = Json::parse(json.output.split('\n').at(2).toStdString());
    QCOMPARE(third["metrics"].dump(), std::string(R"({"accuracy":0.1875,"lr":null})"));
    const Outcome text = m_cluster->Run({"job", "metrics", "report", "--limit", "1"});
    QVERIFY2(text.output.trimmed().endsWith("  accuracy 0.75  eval/loss -inf  lr 0.25  total 3"),
             text.Text());
  }

  void runsWithoutTessera() {
    const QString script = m_files.filePath("alone.py"), go = m_files.filePath("go");
    QVERIFY(Write(script, QByteArray(kProgram) + "    if step == 12:\n"
                                                 "        try:\n"
                                                 "            job.log(accuracy='high')\n"
                                                 "        except tessera.torch.TesseraError as e:\n"
                                                 "            print(e)\n"));
    QVERIFY(Write(go, "now"));
    QProcess alone;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PYTHONPATH", TESSERA_SOURCE_DIR "/agents/python");
    environment.insert("RANK", "0");
    environment.remove("WORLD_SIZE");
    alone.setProcessEnvironment(environment);
    alone.start(m_python.program, {script, go});
    QVERIFY(alone.waitForFinished(kTorchPatience * 1000));
    const QByteArray errors = alone.readAllStandardError();
    QVERIFY2(alone.exitCode() == 0, errors.constData());
    QCOMPARE(alone.readAllStandardOutput().trimmed(),
             QByteArray("metric 'accuracy': 'high' is no number"));
  }

 private:
  static bool Write(const QString& path, const QByteArray& text) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) > 0;
  }
  QString Events() const { return m_cluster->Run({"events", "--source", "report"}).output; }
  Json Checkpoints() const {
    return m_cluster->Ask({"checkpoint", "list", "--job", "report"})["checkpoints"];
  }

  Python m_python;
  std::unique_ptr<LocalCluster> m_cluster;
  QTemporaryDir m_files;
};
TESSERA_TEST(E2eTorchMetricsTest)
#include "e2e_torch_metrics_test.moc"
