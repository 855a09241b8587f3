// SPDX-License-Identifier: Apache-2.0
// Jobs that are started from the panel's dialog, on real clusters: a built-in model, a checkpoint,
// programs of the user with each kind of state, and a large model on a simulated cluster.
#include <QComboBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "app/bridge.h"
#include "tests/e2e/shell_job.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/local_cluster.h"
#include "tests/support/program.h"
#include "tests/support/widget_test_main.h"
#include "ui/dialogs/start_job_dialog.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/move_control.h"
#include "ui/pages/notice_bar.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/segmented_switch.h"

using namespace tessera;
using namespace ui::start_field;

namespace {

constexpr int kStartPatienceMs = 120'000;

/// The dialog over the panel's connection to a cluster.
struct OpenDialog {
  ui::ClusterModel model;
  app::Bridge bridge{model};
  ui::Draft draft{model};
  ui::DraftPlan plan{draft, model, bridge};
  ui::MoveControl control{model, draft, plan, bridge};
  std::unique_ptr<ui::StartJobDialog> dialog;
  bool isReady = false;  // the cluster has idle GPUs

  explicit OpenDialog(const test::LocalCluster& cluster) {
    qputenv("TESSERA_HOME", cluster.home().toUtf8());
    static_cast<void>(bridge.open("t"));
    isReady =
        QTest::qWaitFor([this] { return !ui::idleDevices(model.snapshot()).empty(); }, 20'000);
    control.setOperating(true);
    dialog = std::make_unique<ui::StartJobDialog>(model, control, bridge, QStringLiteral("t"));
    dialog->show();
  }
  void set(const QString& key, const QString& value) {
    dialog->field(key)->setValue(value);
    emit dialog->field(key)->edited();
  }
  /// Starts the job as soon as it may be started; false if it may not, or did not start.
  bool start(const char* job) {
    const auto mayStart = [this] { return dialog->startButton()->isEnabled(); };
    if (!isReady || !QTest::qWaitFor(mayStart, 60'000)) return false;
    dialog->startButton()->click();
    const auto isAccepted = [this] { return dialog->result() == QDialog::Accepted; };
    const auto isShown = [&] { return model.findJob(job) != nullptr; };  // with the next snapshot
    return QTest::qWaitFor(isAccepted, kStartPatienceMs) && QTest::qWaitFor(isShown, 10'000);
  }
  QByteArray why() const {
    return (dialog->errorBar()->text() + QLatin1Char(' ') + dialog->blockedReason() +
            QLatin1Char(' ') + dialog->whyText())
        .toUtf8();
  }
};

}  // namespace

class E2ePanelStartTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<test::LocalCluster>(test::LocalCluster::Options{});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void thePanelProposesAndStartsAJob() {
    OpenDialog f(*m_cluster);
    f.set(ui::StartQuestions::kModel, QStringLiteral("gpt-nano"));
    f.set(kBatch, QStringLiteral("8"));
    QTRY_VERIFY_WITH_TIMEOUT(f.dialog->candidates().rowCount() > 0, 20'000);
    const engine::Candidate best = f.dialog->candidates().candidates().front();
    QVERIFY(best.recommended && best.fits() && best.moved_bytes == 0);
    QVERIFY(!best.devices.empty() && best.devices.size() + best.idle.size() == 8);
    // What the dialog says about memory is what the search counts with.
    ui::StartForm form;
    form.model = QStringLiteral("gpt-nano");
    form.values[kBatch] = QStringLiteral("8");
    const ui::StartCheck check = ui::checkStart(form, f.model.snapshot());
    const auto memory = ui::startMemory(check.settings, best);
    QVERIFY(memory);
    QCOMPARE(memory->parameters + memory->optimizer + memory->gradients + memory->other,
             best.peak_bytes);

    const ui::StartRequest sent = f.dialog->request();
    QVERIFY2(f.start("gpt-nano"), f.why());
    const engine::JobStatus job = *f.model.findJob("gpt-nano");
    QCOMPARE(job.mesh, best.mesh);
    QCOMPARE(job.global_batch, std::int64_t{8});
    QVERIFY(m_cluster->WaitStep(QStringLiteral("gpt-nano"), 2));

    // The name is taken now. A second proposal and a second start fail with it, and nothing
    // changes.
    std::optional<Result<engine::Proposal>> proposal;
    f.bridge.proposeStart(sent, [&](const auto& result) { proposal = result; });
    QTRY_VERIFY_WITH_TIMEOUT(proposal, 20'000);
    QVERIFY(!*proposal);
    QCOMPARE(proposal->error().code, ErrorCode::kAlreadyExists);
    std::optional<Status> started;
    f.bridge.startJob(sent, [&](const Status& result) { started = result; });
    QTRY_VERIFY_WITH_TIMEOUT(started, 20'000);
    QVERIFY(!*started);
    QCOMPARE(started->error().code, ErrorCode::kAlreadyExists);
    QCOMPARE(f.model.snapshot().jobs.size(), std::size_t{1});

    std::optional<Status> saved;
    f.bridge.saveCheckpoint(QStringLiteral("gpt-nano"), m_folder.path(),
                            [&](const Status& result) { saved = result; });
    QTRY_VERIFY_WITH_TIMEOUT(saved, kStartPatienceMs);
    QVERIFY2(*saved, *saved ? "" : saved->error().message.c_str());
    QVERIFY(
        m_cluster->Run(QStringLiteral("job stop gpt-nano --yes").split(QLatin1Char(' '))).code ==
        0);
  }

  // Its model, name and step are those of the checkpoint, and the configurations are known before.
  void aCheckpointIsContinued() {
    OpenDialog f(*m_cluster);
    std::vector<engine::CheckpointEntry> list;
    f.bridge.ask(ui::CheckpointsRequest{}, [&](auto answer) {
      if (answer) list = *answer;
    });
    QTRY_COMPARE_WITH_TIMEOUT(list.size(), std::size_t{1}, 20'000);
    f.dialog->programs()->segment(ui::StartQuestions::Stored)->click();
    f.set(kCheckpoint, QString::fromStdString(list.front().path));
    f.set(kGpus, QStringLiteral("2"));
    QTRY_VERIFY_WITH_TIMEOUT(f.dialog->candidates().rowCount() > 0, 20'000);
    QVERIFY2(f.start("gpt-nano"), f.why());
    const engine::JobStatus job = *f.model.findJob("gpt-nano");
    QCOMPARE(job.model, std::string("gpt-nano"));
    QCOMPARE(job.devices.size(), std::size_t{2});
    QCOMPARE(job.global_batch, std::int64_t{8});
    QVERIFY(job.step >= list.front().step);
    QVERIFY(
        m_cluster->WaitStep(QStringLiteral("gpt-nano"), static_cast<int>(list.front().step) + 2));
  }

  void aProgramOfTheUserTrainsBesideIt() {
    OpenDialog f(*m_cluster);
    f.dialog->programs()->segment(ui::StartQuestions::Own)->click();
    f.set(ui::StartQuestions::kKind, QStringLiteral("exec"));
    f.set(kCommand, QStringLiteral("exec " TESSERA_BIN_DIR "/tessera-job-example 200000"));
    f.set(kTensors, QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.tensors.json"));
    f.set(kRules, QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.rules.json"));
    f.set(kName, QStringLiteral("own"));
    f.set(kGpus, QStringLiteral("n1g0,n1g1"));
    QVERIFY2(f.start("own"), f.why());
    const engine::JobStatus job = *f.model.findJob("own");
    QVERIFY(job.command.ends_with(" 200000"));
    QCOMPARE(job.devices.size(), std::size_t{2});
    QVERIFY(m_cluster->WaitStep(QStringLiteral("own"), 5));
    for (const char* done : {"own", "gpt-nano"}) {  // their steps have no pause: they fill all cores
      QVERIFY(m_cluster->Run({"job", "stop", done, "--yes"}).code == 0);
    }
  }

  // A shell script, whose state is files that it loads and saves.
  void aProgramThatUsesFilesIsStarted() {
    const test::ShellJob files = test::WriteShellJob(m_folder.path());
    QVERIFY(!files.script.isEmpty() && !files.tensors.isEmpty() && !files.rules.isEmpty());
    OpenDialog f(*m_cluster);
    f.dialog->programs()->segment(ui::StartQuestions::Own)->click();
    f.set(ui::StartQuestions::kKind, QStringLiteral("files"));
    f.set(kScript, files.script);
    f.set(kTensors, files.tensors);
    f.set(kRules, files.rules);
    f.set(kSaveEvery, QStringLiteral("1000"));
    f.set(kName, QStringLiteral("files"));
    f.set(kGpus, QStringLiteral("n0g2,n1g2"));
    QVERIFY2(f.start("files"), f.why());
    const engine::JobStatus job = *f.model.findJob("files");
    QCOMPARE(job.mesh, *ptc::ParseMeshShape("dp=2"));  // its state cannot be cut
    QVERIFY(m_cluster->WaitStep(QStringLiteral("files"), 2));
    // What it holds is the number of the step, in all replicas.
    QVERIFY(m_cluster->Run({"job", "pause", "files"}).code == 0);
    const std::int64_t step = m_cluster->Step(QStringLiteral("files"));
    for (const char* device : {"n0g2", "n1g2"}) {
      const auto arena = m_cluster->ArenaOf(device);
      QVERIFY(arena);
      QCOMPARE(static_cast<std::int64_t>(arena->header().end.load()), step);
    }
    QVERIFY(m_cluster->Run({"job", "stop", "files", "--yes"}).code == 0);
  }

  // The panel runs it up to the point where it says what it has, and shows the configurations.
  void aTorchProgramIsDescribedAndStarted() {
    const test::Python python = test::FindPython({QStringLiteral("torch")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    OpenDialog f(*m_cluster);
    f.dialog->programs()->segment(ui::StartQuestions::Own)->click();
    f.set(kScript, QStringLiteral(TESSERA_SOURCE_DIR "/agents/python/examples/plain.py"));
    f.set(kPython, python.program);
    f.set(kArguments, QStringLiteral("--steps 2000"));
    f.set(kGpus, QStringLiteral("n1g2,n1g3"));
    QVERIFY(f.dialog->describeButton()->isVisible());
    f.dialog->describeButton()->click();
    QTRY_VERIFY_WITH_TIMEOUT(f.dialog->candidates().rowCount() > 0, kStartPatienceMs);
    QVERIFY(!f.dialog->describeButton()->isVisible());
    QVERIFY2(f.start("plain"), f.why());
    QVERIFY(m_cluster->WaitStep(QStringLiteral("plain"), 2));
    QVERIFY(m_cluster->Run({"job", "stop", "plain", "--yes"}).code == 0);
  }

  void aLargeModelStartsOnASimulatedCluster() {
    test::LocalCluster::Options options;
    options.simulate = QStringLiteral("64x8");
    options.more = QStringLiteral("--hardware h100 --speed 100").split(QLatin1Char(' '));
    const test::LocalCluster cluster(options);
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    OpenDialog f(cluster);
    f.set(ui::StartQuestions::kModel, QStringLiteral("llama-3-405b"));
    f.set(QStringLiteral("precision"), QStringLiteral("bf16"));
    QVERIFY2(f.start("llama-3-405b"), f.why());
    const engine::JobStatus job = *f.model.findJob("llama-3-405b");
    QCOMPARE(job.model, std::string("llama-3-405b"));
    QCOMPARE(job.global_batch, std::int64_t{256});
    QVERIFY(job.devices.size() > 256);
    QVERIFY(cluster.WaitStep(QStringLiteral("llama-3-405b"), 1));
  }

  // What the panel has started with --simulate ends with it, also by a signal, unless --keep.
  void aSignalEndsTheSimulationToo_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<bool>("stays");
    QTest::newRow("ends") << QStringList{} << false;
    QTest::newRow("kept") << QStringList{QStringLiteral("--keep")} << true;
  }
  void aSignalEndsTheSimulationToo() {
    QFETCH(QStringList, more);
    QFETCH(bool, stays);
    const QTemporaryDir home;
    const QStringList environment = test::EnvironmentWithHome(home.path()) +
                                    QStringList{QStringLiteral("QT_QPA_PLATFORM=offscreen")};
    const auto ask = [&](const QStringList& words) {
      return test::RunProgram(QStringLiteral("tesseractl"), words, environment);
    };
    const QStringList status = {QStringLiteral("--cluster"), QStringLiteral("simulated"),
                                QStringLiteral("status")};
    const auto panel = test::StartProgram(
        QStringLiteral("tessera"),
        QStringList{QStringLiteral("--simulate"), QStringLiteral("1x2")} + more, environment);
    QTRY_VERIFY_WITH_TIMEOUT(ask(status).code == 0, 30'000);
    QTest::qWait(500);  // the window
    panel->terminate();
    const test::Outcome outcome = test::FinishProgram(*panel, 20);
    QVERIFY2(outcome.code == 128 + SIGTERM, outcome.Text());
    QCOMPARE(ask(status).code == 0, stays);
    const test::Outcome down =
        ask({QStringLiteral("down"), QStringLiteral("--all"), QStringLiteral("--yes")});
    QVERIFY2(down.code == 0, down.Text());
  }

 private:
  std::unique_ptr<test::LocalCluster> m_cluster;
  const QTemporaryDir m_folder;
};

TESSERA_THEMED_TEST(E2ePanelStartTest)
#include "e2e_panel_start_test.moc"
