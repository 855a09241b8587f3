// SPDX-License-Identifier: Apache-2.0
// The dialog that starts a job: its questions, the values that it refuses, and its request.
#include "ui/dialogs/start_job_dialog.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/sample_answers.h"
#include "ui/actions/action_registry.h"
#include "ui/pages/notice_bar.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/device_chips.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/stacked_bar.h"

using namespace tessera;
using namespace ui::start_field;

namespace {

/// The dialog over an idle cluster of two nodes with four GPUs each.
struct Fixture {
  ui::ClusterModel model;
  test::SpyCommands commands{model};
  ui::Draft draft{model};
  ui::DraftPlan plan{draft, model, commands};
  ui::MoveControl control{model, draft, plan, commands};
  engine::ClusterSnapshot cluster = test::IdleCluster(2, 4);
  std::unique_ptr<ui::StartJobDialog> dialog;

  explicit Fixture(bool operate = true) {
    model.setLink(ui::LinkState::Connected, {});
    show(cluster);
    control.setOperating(operate);
    dialog =
        std::make_unique<ui::StartJobDialog>(model, control, commands, QStringLiteral("lab-a"));
    dialog->show();
  }
  void show(const engine::ClusterSnapshot& snapshot) {
    cluster = snapshot;
    model.setSnapshot(snapshot);
    model.flush();
  }
  void type(const QString& key, const char* text) {
    QLineEdit* edit = dialog->field(key)->edit();
    edit->selectAll();
    QTest::keyClick(edit, Qt::Key_Delete);
    QTest::keyClicks(edit, QString::fromLatin1(text));
  }
  bool waitForProposal() {
    return QTest::qWaitFor([this] { return dialog->blockedReason().isEmpty(); }, 2000);
  }
  QString command() const { return dialog->command()->text(); }
};

void writeEmptyFile(const QString& path) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
}

engine::ClusterSnapshot WithStartingJob(engine::ClusterSnapshot cluster) {
  test::AddJob(&cluster, test::Shape(2, 1, 4));
  cluster.jobs.front().state = engine::JobState::kStarting;
  return cluster;
}

}  // namespace

class StartJobDialogTest : public QObject {
  Q_OBJECT

 private slots:
  void theDefaultsStartTheModelOnAllGpus() {
    Fixture f;
    QVERIFY(f.waitForProposal());
    QCOMPARE(f.dialog->field(kName)->edit()->text(), QStringLiteral("gpt-mini"));
    QVERIFY(
        f.dialog->field(QStringLiteral("model"))->noteText().contains(QStringLiteral("4 layers")));
    QCOMPARE(f.dialog->startButton()->text(), QStringLiteral("Start gpt-mini on 8 GPUs"));
    QVERIFY(f.dialog->startButton()->isEnabled());
    QCOMPARE(f.command(), QStringLiteral("tesseractl --cluster lab-a job start gpt-mini "
                                         "--mesh dp=2,pp=4 --micro-batch 4"));
    QVERIFY(f.dialog->candidates().rowCount() > 3);
    // Parameters, optimizer and gradients with fp32: 1, 2 and 1 parts.
    const auto& segments = f.dialog->memoryBar()->segments();
    QCOMPARE(segments.size(), std::size_t{4});
    QCOMPARE(segments[1].bytes, 2 * segments[0].bytes);
    QCOMPARE(segments[2].bytes, segments[0].bytes);
    QCOMPARE(f.commands.mutations(), 0);
  }

  void aNameThatIsTakenGetsANumber() {
    Fixture f;
    engine::ClusterSnapshot cluster = test::SmallCluster();
    f.show(cluster);
    QVERIFY(f.waitForProposal());
    QCOMPARE(f.dialog->field(kName)->edit()->text(), QStringLiteral("gpt-mini-2"));
    QCOMPARE(f.dialog->startButton()->text(), QStringLiteral("Start gpt-mini-2 on 4 GPUs"));
    QVERIFY(f.command().contains(QStringLiteral("--name gpt-mini-2")));
    f.type(kName, "gpt-mini");
    QVERIFY(f.dialog->field(kName)->problem().contains(QStringLiteral("already")));
    QVERIFY(!f.dialog->startButton()->isEnabled());
  }

  void wrongValuesAreExplainedBesideTheirField_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("problem");
    const auto row = [](const QString& key, const char* text, const char* problem) {
      QTest::addRow("%s %s", qPrintable(key), text)
          << key << QString::fromLatin1(text) << QString::fromLatin1(problem);
    };
    row(kName, "GPT", "lower-case");
    row(kBatch, "0", "0 is not a number from 1 to 1,048,576.");
    row(kBatch, "many", "many is not a number from 1");
    row(kSteps, "-1", "from 1 to");
    row(kData, "books", "books is not a full path");
    row(kSnapshots, "often", "neither steps");
    row(kGpus, "9", "9 is not a number from 1 to 8");
    row(kGpus, "n7g0", "n7g0 is not an idle GPU");
    row(QStringLiteral("dropout"), "2", "2 is not a number from 0 to 0.95.");
    row(QStringLiteral("sequence"), "0", "from 1 to");
    row(QStringLiteral("heads"), "7", "not divisible");
    row(QStringLiteral("layers"), "1.5", "1.5 is not a whole number from 1 to 4,096.");
    row(QStringLiteral("learning_rate"), "nan", "learning_rate");
  }
  void wrongValuesAreExplainedBesideTheirField() {
    QFETCH(QString, key);
    QFETCH(QString, text);
    QFETCH(QString, problem);
    Fixture f;
    QVERIFY(f.waitForProposal());
    const auto asked = f.commands.proposedStarts.size();
    f.type(key, text.toLatin1().constData());
    QVERIFY2(f.dialog->field(key)->problem().contains(problem),
             qPrintable(f.dialog->field(key)->problem()));
    QCOMPARE(f.dialog->field(key)->noteText(), f.dialog->field(key)->problem());
    QVERIFY(!f.dialog->startButton()->isEnabled());
    QVERIFY(f.dialog->startButton()->toolTip().contains(f.dialog->field(key)->problem()));
    QTest::qWait(2 * ui::StartProposal::kDelayMs);
    QVERIFY(f.commands.proposedStarts.size() <= asked + 1);  // prefixes may be right
    f.type(key, "");
    QVERIFY(f.dialog->field(key)->problem().isEmpty());
    QVERIFY(f.waitForProposal());
  }

  void everySettingHasAFieldWithItsLimitsAndHelp() {
    Fixture f;
    engine::JobSettings mini;
    mini.model = *engine::FindModel("gpt-mini");
    for (const engine::JobSetting& setting : engine::SettingsOf(mini)) {
      ui::LabelledField* field = f.dialog->field(QString::fromStdString(setting.name));
      QVERIFY2(field->label() != QString::fromStdString(setting.name), setting.name.c_str());
      QVERIFY2(!field->toolTip().isEmpty(), setting.name.c_str());
      const QString shown =
          field->list() == nullptr ? field->edit()->text() : field->list()->currentText();
      QCOMPARE(shown, QString::fromStdString(setting.value));
    }
    QVERIFY(!f.dialog->field(QStringLiteral("dropout"))->isVisible());
    f.dialog->moreButton()->click();
    QVERIFY(f.dialog->field(QStringLiteral("dropout"))->isVisible());
  }

  void anotherModelHasOtherDefaults() {
    Fixture f;
    f.type(QStringLiteral("width"), "512");
    auto* list = f.dialog->field(QStringLiteral("model"))->list();
    list->setCurrentText(QStringLiteral("gpt-nano"));
    emit list->activated(list->currentIndex());
    QCOMPARE(f.dialog->field(QStringLiteral("layers"))->edit()->text(), QStringLiteral("2"));
    QCOMPARE(f.dialog->field(QStringLiteral("width"))->edit()->text(), QStringLiteral("512"));
    QCOMPARE(f.dialog->field(kName)->edit()->text(), QStringLiteral("gpt-nano"));
    QVERIFY(f.waitForProposal());
    QVERIFY(f.command().endsWith(QStringLiteral("--set width=512")));
  }

  void gpusAreANumberAListOrChips() {
    Fixture f;
    f.type(kGpus, "3");
    QVERIFY(f.waitForProposal());
    QCOMPARE(f.dialog->chips()->chosen(), (std::vector<ptc::DeviceId>{{0, 0}, {0, 1}, {0, 2}}));
    QVERIFY(f.command().contains(QStringLiteral("--devices n0g0,n0g1,n0g2")));
    f.dialog->chips()->chip({1, 3})->click();
    QCOMPARE(f.dialog->field(kGpus)->edit()->text(), QStringLiteral("n0g0,n0g1,n0g2,n1g3"));
    for (const ptc::DeviceId device : ui::idleDevices(f.cluster))
      if (!f.dialog->chips()->chip(device)->isChecked()) f.dialog->chips()->chip(device)->click();
    QCOMPARE(f.dialog->field(kGpus)->edit()->text(), QString());  // all
    f.show(test::SmallCluster());
    QVERIFY(!f.dialog->chips()->chip({0, 0})->isEnabled());
    f.type(kGpus, "n0g0");
    QCOMPARE(f.dialog->field(kGpus)->problem(), QStringLiteral("n0g0 is used by gpt-mini."));
  }

  void whileAnotherJobUsesAllGpusTheButtonSaysSo() {
    Fixture f;
    engine::ClusterSnapshot cluster = test::IdleCluster(1, 4);
    test::AddJob(&cluster, test::Shape(2, 2, 1));
    f.show(cluster);
    QCOMPARE(f.dialog->startButton()->toolTip(),
             QStringLiteral("No GPU is idle: gpt-mini uses 4 GPUs. Take some out of it, or stop "
                            "it."));
    QVERIFY(!f.dialog->startButton()->isEnabled());
  }

  void monitorBlocks() {
    Fixture f(false);
    QTRY_VERIFY(f.dialog->candidates().rowCount() > 0);  // looking is allowed
    QCOMPARE(f.dialog->startButton()->toolTip(), f.control.lockReason());
    QVERIFY(!f.dialog->startButton()->isEnabled());
    f.dialog->startButton()->click();
    Status answer;
    f.control.startJob(f.dialog->request(), [&](const Status& result) { answer = result; });
    QVERIFY(!answer);
    QCOMPARE(f.commands.mutations(), 0);
    f.control.setOperating(true);
    QVERIFY(f.dialog->startButton()->isEnabled());
  }

  void oneRequestIsSentOnce() {
    Fixture f;
    QVERIFY(f.waitForProposal());
    f.dialog->candidateTable()->selectRow(2);
    const ui::StartRequest shown = f.dialog->request();
    f.dialog->startButton()->click();
    f.dialog->startButton()->click();
    QTest::keyClick(f.dialog->startButton(), Qt::Key_Return);
    QCOMPARE(f.commands.started.size(), std::size_t{1});
    QVERIFY(f.commands.started.front() == shown);
    QCOMPARE(f.commands.started.front().mesh, std::optional(test::Shape(2, 2, 2)));
    QVERIFY(f.dialog->isVisible());
    f.show(WithStartingJob(f.cluster));
    QVERIFY(!f.dialog->isVisible());  // the window shows how it goes on
    f.show(f.cluster);
    QCOMPARE(f.commands.started.size(), std::size_t{1});
  }

  void successClosesIt() {
    Fixture f;
    f.commands.startAnswer = OkStatus();
    QSignalSpy accepted(f.dialog.get(), &QDialog::accepted);
    QVERIFY(f.waitForProposal());
    f.dialog->startButton()->click();
    QTRY_COMPARE(accepted.size(), 1);
    QVERIFY(!f.dialog->isVisible());
  }

  void anErrorKeepsWhatWasEntered() {
    Fixture f;
    f.commands.startAnswer = Status(FailedPrecondition("n1 has no data '/data/books'"));
    f.type(kData, "/data/books; 0.5:/data/code");
    f.type(kBatch, "64");
    QVERIFY(f.waitForProposal());
    f.dialog->startButton()->click();
    QTRY_VERIFY(f.dialog->errorBar()->isVisible());
    QVERIFY(f.dialog->errorBar()->text().contains(QStringLiteral("n1 has no data '/data/books'")));
    QVERIFY(f.dialog->isVisible());
    QCOMPARE(f.dialog->field(kBatch)->edit()->text(), QStringLiteral("64"));
    QCOMPARE(f.commands.started.front().data,
             (QStringList{QStringLiteral("/data/books"), QStringLiteral("0.5:/data/code")}));
    QVERIFY(f.waitForProposal());
    f.dialog->startButton()->click();
    QCOMPARE(f.commands.started.size(), std::size_t{2});
  }

  void anErrorAfterTheJobHasAppearedShowsItAgain() {
    Fixture f;
    QVERIFY(f.waitForProposal());
    f.dialog->startButton()->click();
    f.show(WithStartingJob(f.cluster));
    QVERIFY(!f.dialog->isVisible());
    f.show(test::IdleCluster(2, 4));
    f.commands.releaseStart(FailedPrecondition("a rank ended with status 1"));
    QVERIFY(f.dialog->isVisible());
    QVERIFY(f.dialog->errorBar()->text().contains(QStringLiteral("a rank ended with status 1")));
    QVERIFY(f.waitForProposal());
  }

  void aLostConnectionLeavesTheOutcomeOpen() {
    Fixture f;
    QVERIFY(f.waitForProposal());
    f.dialog->startButton()->click();
    f.commands.releaseStart(Unavailable("the connection was lost"));
    QVERIFY(f.dialog->errorBar()->text().startsWith(
        QStringLiteral("It is not known whether gpt-mini starts")));
  }

  void aViewersKeyAsksForNothing() {
    Fixture f(false);
    QTRY_COMPARE(f.commands.proposedStarts.size(), std::size_t{1});
    f.model.setViewerKey(QStringLiteral("eve"));
    f.model.flush();
    f.type(kGpus, "2");
    QTest::qWait(2 * ui::StartProposal::kDelayMs);
    QCOMPARE(f.commands.proposedStarts.size(), std::size_t{1});
    QVERIFY(f.dialog->whyText().contains(QStringLiteral("Key 'eve' is a viewer's")));
    QVERIFY(!f.dialog->startButton()->isEnabled());
  }

  void whatDoesNotFitIsNotStarted() {
    Fixture f;
    f.commands.adjustStart = [](engine::Proposal proposal) -> Result<engine::Proposal> {
      proposal.candidates.back().peak_bytes = 2 * proposal.candidates.back().capacity;
      return proposal;
    };
    QVERIFY(f.waitForProposal());
    f.dialog->candidateTable()->selectRow(f.dialog->candidates().rowCount() - 1);
    QVERIFY(f.dialog->blockedReason().startsWith(QStringLiteral("Not enough memory")));
    QVERIFY(!f.dialog->startButton()->isEnabled());
    f.dialog->candidateTable()->selectRow(0);
    QVERIFY(f.dialog->startButton()->isEnabled());
  }

  void anOldAnswerIsDropped() {
    Fixture f;
    QVERIFY(f.waitForProposal());
    f.commands.holdStarts = true;
    f.type(kGpus, "2");
    QTRY_COMPARE(f.commands.heldStarts.size(), std::size_t{1});
    f.type(kGpus, "4");
    QVERIFY(!f.dialog->startButton()->isEnabled());
    QTest::qWait(2 * ui::StartProposal::kDelayMs);
    QCOMPARE(f.commands.heldStarts.size(), std::size_t{1});  // one question at a time
    f.commands.heldStarts.front()();
    QVERIFY(!f.dialog->startButton()->isEnabled());
    QTRY_COMPARE(f.commands.heldStarts.size(), std::size_t{2});
    f.commands.heldStarts.back()();
    QVERIFY(f.dialog->startButton()->isEnabled());
    QCOMPARE(f.dialog->startButton()->text(), QStringLiteral("Start gpt-mini on 4 GPUs"));
  }

  void aRefusedSearchIsExplained() {
    Fixture f;
    f.commands.adjustStart = [](const engine::Proposal&) -> Result<engine::Proposal> {
      return ResourceExhausted("model gpt-mini needs 1.9 GiB per device");
    };
    QTRY_VERIFY(f.dialog->whyText().contains(QStringLiteral("needs 1.9 GiB per device")));
    QVERIFY(!f.dialog->startButton()->isEnabled());
  }

  void aProgramRunsOnlyAfterItsButton() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("train_it.py"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    Fixture f;
    QVERIFY(f.waitForProposal());
    const auto asked = f.commands.proposedStarts.size();
    f.dialog->programs()->segment(ui::StartQuestions::Own)->click();
    QVERIFY(!f.dialog->startButton()->isEnabled());
    QVERIFY(f.dialog->field(kScript)->problem().isEmpty());  // nothing is chosen yet
    f.type(kScript, "/no/such.py");
    QVERIFY(f.dialog->field(kScript)->problem().contains(QStringLiteral("does not exist")));
    f.type(kScript, qPrintable(path));
    f.type(kArguments, "--lr 3e-4 \"a b\"");
    QTest::qWait(2 * ui::StartProposal::kDelayMs);
    QCOMPARE(f.commands.proposedStarts.size(), asked);
    QVERIFY(f.dialog->startButton()->isEnabled());  // the cluster chooses
    QCOMPARE(f.dialog->startButton()->text(), QStringLiteral("Start train-it on 8 GPUs"));
    QCOMPARE(f.command(),
             QStringLiteral("tesseractl --cluster lab-a job start %1 --directory %2 -- --lr 3e-4 "
                            "'a b'")
                 .arg(path, folder.path()));
    f.dialog->describeButton()->click();
    QTRY_COMPARE(f.commands.proposedStarts.size(), asked + 1);
    QVERIFY(f.waitForProposal());
    QVERIFY(f.command().contains(QStringLiteral("--mesh")));
  }

  void choose(Fixture& f, const QString& key, const char* value) {
    f.dialog->field(key)->setValue(QString::fromLatin1(value));
    emit f.dialog->field(key)->edited();
  }

  void aProgramThatUsesFilesIsNotRunForItsConfigurations() {
    const QTemporaryDir folder;
    for (const char* name : {"train.sh", "tensors.json", "rules.json"})
      writeEmptyFile(folder.filePath(QString::fromLatin1(name)));
    const auto path = [&](const char* name) { return folder.filePath(QString::fromLatin1(name)); };
    Fixture f;
    f.dialog->programs()->segment(ui::StartQuestions::Own)->click();
    QVERIFY(!f.dialog->field(kTensors)->isVisible());
    choose(f, ui::StartQuestions::kKind, "files");
    QVERIFY(f.dialog->field(kTensors)->isVisible());
    QVERIFY(!f.dialog->field(kCommand)->isVisible());
    QVERIFY(!f.dialog->describeButton()->isVisible());
    f.type(kScript, qPrintable(path("train.sh")));
    f.type(kTensors, qPrintable(path("tensors.json")));
    f.type(kRules, "/no/rules.json");
    QVERIFY(f.dialog->field(kRules)->problem().contains(QStringLiteral("does not exist")));
    QVERIFY(!f.dialog->startButton()->isEnabled());
    f.type(kRules, qPrintable(path("rules.json")));
    f.type(kEnvironment, "A=1; nonsense");
    QVERIFY(f.dialog->field(kEnvironment)->problem().contains(QStringLiteral("NAME=VALUE")));
    f.type(kEnvironment, "A=1; B=x y");
    f.type(kSaveEvery, "50");
    QVERIFY(f.waitForProposal());
    QVERIFY(f.dialog->candidates().rowCount() > 0);
    QVERIFY2(f.command().startsWith(
                 QStringLiteral("tesseractl --cluster lab-a job start %1/train.sh --directory %1 "
                                "--env A=1 --env 'B=x y' --kind files --tensors %1/tensors.json "
                                "--rules %1/rules.json --mesh dp=2,pp=4")
                     .arg(folder.path())),
             qPrintable(f.command()));
    QVERIFY(f.command().endsWith(QStringLiteral("--save-every 50")));
    f.dialog->startButton()->click();
    QCOMPARE(f.commands.started.size(), std::size_t{1});
    QVERIFY(std::holds_alternative<ui::StartRequest::Files>(f.commands.started.front().program));
  }

  void aCommandNeedsANameAndItsFiles() {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("both.json"));
    writeEmptyFile(file);
    Fixture f;
    f.dialog->programs()->segment(ui::StartQuestions::Own)->click();
    choose(f, ui::StartQuestions::kKind, "exec");
    QVERIFY(!f.dialog->field(kScript)->isVisible());
    f.type(kCommand, "/opt/my-job --lr 1");
    QVERIFY(f.dialog->field(kTensors)->problem().isEmpty());  // nothing is chosen yet
    QVERIFY(f.command().isEmpty());
    f.type(kTensors, qPrintable(file));
    f.type(kRules, qPrintable(file));
    QVERIFY(f.dialog->blockedReason().contains(QStringLiteral("Give the job a name")));
    f.type(kName, "mine");
    choose(f, kFinishes, "yes");
    QVERIFY(f.waitForProposal());
    QVERIFY2(f.command().contains(QStringLiteral("job start --exec '/opt/my-job --lr 1' "
                                                 "--finishes-updates --tensors %1 --rules %1 "
                                                 "--name mine --mesh")
                                      .arg(file)),
             qPrintable(f.command()));
  }

  void aCheckpointOfTheClusterBringsItsNameAndModel() {
    std::vector<engine::CheckpointEntry> known;
    Fixture f;
    f.commands.requestAnswer = [&](const ui::Request& request) {
      auto answer = test::SampleAnswer(request);
      if (answer && std::holds_alternative<ui::CheckpointsRequest>(request))
        known = std::get<std::vector<engine::CheckpointEntry>>(**answer);
      return answer;
    };
    f.dialog->programs()->segment(ui::StartQuestions::Stored)->click();
    QVERIFY(!f.dialog->field(ui::StartQuestions::kModel)->isVisible());
    QVERIFY(!f.dialog->moreButton()->isVisible());
    QVERIFY(!f.dialog->startButton()->isEnabled());
    QVERIFY(f.command().isEmpty());
    QCOMPARE(f.commands.requestsOf<ui::CheckpointsRequest>().size(), std::size_t{1});
    QTest::qWait(1);  // for the answer
    f.type(kCheckpoint, "books");
    QVERIFY(f.dialog->field(kCheckpoint)->problem().contains(QStringLiteral("full path")));
    f.type(kCheckpoint, known.front().path.c_str());
    QVERIFY2(f.dialog->field(kCheckpoint)->noteText().contains(QStringLiteral("step")),
             qPrintable(f.dialog->field(kCheckpoint)->noteText()));
    QCOMPARE(f.dialog->request().name.toStdString(), known.front().job);
    choose(f, kTakes, "parameters");
    f.type(kSettings, "speed=1");
    QVERIFY(f.dialog->field(kSettings)->problem().contains(QStringLiteral("no setting speed")));
    f.type(kSettings, "dropout=7");
    QVERIFY(f.dialog->field(kSettings)->problem().contains(QStringLiteral("not a number")));
    f.type(kSettings, "learning_rate=1e-4");
    QVERIFY(f.waitForProposal());
    const ui::StartRequest& asked = f.commands.proposedStarts.back();
    QCOMPARE(asked.checkpoint->path.toStdString(), known.front().path);
    QVERIFY2(f.command().contains(QStringLiteral("--from-checkpoint %1 --parameters-only --mesh")
                                      .arg(QString::fromStdString(known.front().path))),
             qPrintable(f.command()));
    QVERIFY(f.command().endsWith(QStringLiteral("--set learning_rate=1e-4")));
    // The panel does not know the job of a checkpoint that this cluster has not saved.
    f.type(kCheckpoint, "s3://bucket/other");
    QVERIFY(f.waitForProposal());
    QCOMPARE(f.dialog->request().name, QString());
    QVERIFY(!f.command().contains(QStringLiteral("--name")));
    QVERIFY(f.dialog->startButton()->isEnabled());
  }

  void largeModelsAreOfferedWhereTheyCanRun() {
    Fixture f;
    const QComboBox* models = f.dialog->field(ui::StartQuestions::kModel)->list();
    QVERIFY(models->findData(QStringLiteral("llama-3-405b")) < 0);
    engine::ClusterSnapshot cluster = test::IdleCluster(2, 8);
    cluster.simulation = engine::SimulationStatus{.hardware = "h100"};
    f.show(cluster);
    QVERIFY(models->findData(QStringLiteral("gpt3-175b")) >= 0);
    choose(f, ui::StartQuestions::kModel, "llama-3-405b");
    QVERIFY(f.waitForProposal());
    QVERIFY2(f.dialog->field(ui::StartQuestions::kModel)
                 ->noteText()
                 .contains(QStringLiteral("126 layers")),
             qPrintable(f.dialog->field(ui::StartQuestions::kModel)->noteText()));
    QCOMPARE(f.dialog->field(kBatch)->edit()->text(), QStringLiteral("256"));
    QVERIFY(!f.command().contains(QStringLiteral("--global-batch")));
    // A simulated state has no bytes to load.
    f.dialog->programs()->segment(ui::StartQuestions::Stored)->click();
    f.type(kCheckpoint, "/checkpoints/a");
    QVERIFY(f.dialog->field(kCheckpoint)->problem().contains(QStringLiteral("no bytes")));
  }

  void menuAndNoticeOpenIt() {
    engine::ClusterSnapshot idle = test::IdleCluster(2, 4);
    idle.cluster = "lab-a";
    test::Panel panel({.operate = true}, idle);
    test::settle();
    const auto dialogs = [&] { return panel.window->findChildren<ui::StartJobDialog*>(); };
    QAction* action = panel.window->actions()->find(QStringLiteral("cluster.startJob"));
    QCOMPARE(action->shortcut(), QKeySequence(QStringLiteral("Ctrl+N")));
    action->trigger();
    QCOMPARE(dialogs().size(), 1);
    QVERIFY(dialogs().front()->command()->text().startsWith(
        QStringLiteral("tesseractl --cluster lab-a job start gpt-mini")));
    action->trigger();
    QCOMPARE(dialogs().size(), 1);  // the same one
    dialogs().front()->reject();
    QTRY_COMPARE(dialogs().size(), 0);
    for (ui::NoticeBar* notice : panel.window->findChildren<ui::NoticeBar*>())
      if (notice->isVisible() && notice->actionButton()->text() == QStringLiteral("Start a job…"))
        notice->actionButton()->click();
    QCOMPARE(dialogs().size(), 1);
    panel.model.clear();
    QTRY_COMPARE(dialogs().size(), 0);
  }

  void theKeyboardIsEnough() {
    Fixture f;
    QVERIFY(f.waitForProposal());
    QApplication::setActiveWindow(f.dialog.get());
    f.dialog->field(kName)->edit()->setFocus();
    QTest::keyClicks(f.dialog->field(kName)->edit(), QStringLiteral("-b"));
    QVERIFY(f.waitForProposal());
    QTest::keyClick(f.dialog->field(kName)->edit(), Qt::Key_Return);
    QCOMPARE(f.commands.started.size(), std::size_t{0});  // Enter in a field starts nothing
    QTRY_VERIFY(f.dialog->startButton()->hasFocus());
    QTest::keyClick(f.dialog->startButton(), Qt::Key_Return);
    QCOMPARE(f.commands.started.size(), std::size_t{1});
    QCOMPARE(f.commands.started.front().name, QStringLiteral("gpt-mini-b"));
    // Tab reaches every control that is shown.
    QSet<QWidget*> reached;
    QWidget* at = f.dialog->startButton();
    for (int i = 0; i < 100 && !reached.contains(at); ++i) {
      reached << at;
      do at = at->nextInFocusChain();
      while (!(at->isVisible() && at->isEnabled() && at->focusPolicy() & Qt::TabFocus));
    }
    for (const QLatin1String key : {kName, kData, kBatch, kSteps, kSnapshots, kGpus})
      QVERIFY2(reached.contains(f.dialog->field(key)->edit()), key.data());
    QVERIFY(reached.contains(f.dialog->candidateTable()));
    QVERIFY(reached.contains(f.dialog->moreButton()));
  }
};

TESSERA_THEMED_TEST(StartJobDialogTest)
#include "start_job_dialog_test.moc"
