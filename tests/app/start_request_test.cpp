// SPDX-License-Identifier: Apache-2.0
// The panel's command line for a job says what the panel sends, to the letter.
#include "app/commands/start_request.h"

#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <stop_token>
#include <thread>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "tests/folders.h"
#include "tests/support/test_main.h"
#include "ui/models/start_form.h"

using namespace tessera;

namespace {

engine::ClusterSnapshot IdleNodes() {
  engine::ClusterSnapshot cluster;
  for (std::int32_t n = 0; n < 2; ++n) {
    engine::NodeStatus node;
    node.node = n;
    node.state = engine::NodeState::kAlive;
    for (std::int32_t i = 0; i < 4; ++i) {
      engine::DeviceStatus device;
      device.id = {n, i};
      node.devices.push_back(device);
    }
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

/// The words of a command line, as a POSIX shell divides them.
std::vector<std::string> ShellWords(const QString& command) {
  QProcess shell;
  shell.start(QStringLiteral("/bin/sh"),
              {QStringLiteral("-c"), QStringLiteral("printf '%s\\n' ") + command});
  shell.waitForFinished();
  std::vector<std::string> words;
  for (const QByteArray& line : shell.readAllStandardOutput().split('\n'))
    words.push_back(line.toStdString());
  words.pop_back();
  return words;
}

/// What `tesseractl` makes of a command line.
Result<wire::StartJobRequest> ReadAsCommand(const QString& command) {
  std::vector<std::string> words = ShellWords(command);
  words.erase(words.begin());  // the program
  TESSERA_TRY(const app::ParsedLine line, app::parseLine(words));
  if (line.command == nullptr || line.command->syntax.verb != "job start")
    return InvalidArgument("not `job start`");
  return app::readStartRequest(line.arguments);
}

}  // namespace

class StartRequestTest : public QObject {
  Q_OBJECT

 private slots:
  void theDefaultsAreThoseOfTheCommandLine() {
    ui::StartForm form;
    form.model = QStringLiteral("gpt-mini");
    const ui::StartCheck check = ui::checkStart(form, IdleNodes());
    QVERIFY(check.isGood());
    QCOMPARE(ui::startCommand({}, check.request), QStringLiteral("tesseractl job start gpt-mini"));
    const auto read = ReadAsCommand(ui::startCommand(QStringLiteral("lab-a"), check.request));
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QCOMPARE(read->name(), std::string("gpt-mini"));
    QCOMPARE(read->seed(), engine::JobSettings().seed);
    QVERIFY(read->settings().empty());
  }

  void everyFieldArrivesAsItWasEntered() {
    using namespace ui::start_field;
    ui::StartForm form;
    form.model = QStringLiteral("gpt-10m");
    form.values = {{kName, QStringLiteral("my-job")},
                   {kData, QStringLiteral("/data/my books; 0.5:/data/code;s3://bucket/it's")},
                   {kGpus, QStringLiteral("n1g3,n0g0,n0g1,n1g0")},
                   {kBatch, QStringLiteral("48")},
                   {kSteps, QStringLiteral("700")},
                   {kSeed, QStringLiteral("9")},
                   {kOnFailure, QStringLiteral("shrink")},
                   {kSnapshots, QStringLiteral("5m")},
                   {QStringLiteral("precision"), QStringLiteral("bf16")},
                   {QStringLiteral("dropout"), QStringLiteral("0.1")},
                   {QStringLiteral("learning_rate"), QStringLiteral("3e-4")},
                   {QStringLiteral("sequence"), QStringLiteral("64")},
                   {QStringLiteral("gated_mlp"), QStringLiteral("true")}};
    ui::StartCheck check = ui::checkStart(form, IdleNodes());
    QVERIFY2(check.isGood(), check.isGood() ? "" : qPrintable(check.problems.begin()->second));
    check.request.mesh = ptc::MeshShape{};
    (*check.request.mesh)[ptc::Axis::kDp] = 2;
    (*check.request.mesh)[ptc::Axis::kPp] = 2;
    check.request.options = {.zero = true, .micro_batch = 4};

    const auto read = ReadAsCommand(ui::startCommand(QStringLiteral("lab-a"), check.request));
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QCOMPARE(read->model(), std::string("gpt-10m"));
    QCOMPARE(read->name(), std::string("my-job"));
    QCOMPARE(read->data_size(), 3);
    QCOMPARE(read->data(0), std::string("/data/my books"));
    QCOMPARE(read->data(2), std::string("s3://bucket/it's"));
    QCOMPARE(read->devices_size(), 4);
    QCOMPARE(read->devices(0).node(), 1);
    QCOMPARE(*agents::Decode(read->mesh()), *check.request.mesh);
    QCOMPARE(*agents::Decode(read->options()), check.request.options);
    QCOMPARE(read->max_steps(), std::int64_t{700});
    QCOMPARE(read->global_batch(), std::int64_t{48});
    QCOMPARE(read->seed(), std::int64_t{9});
    QCOMPARE(read->on_failure(), static_cast<std::uint32_t>(engine::OnFailure::kShrink));
    QCOMPARE(read->snapshots().seconds(), std::int64_t{300});
    // The settings that the form shows the memory of are those that the job will have.
    engine::JobSettings settings;
    settings.model = *engine::FindModel(read->model());
    for (const auto& [key, value] : read->settings())
      QVERIFY(engine::ApplySetting(settings, key, value));
    settings.global_batch = read->global_batch();
    settings.max_steps = read->max_steps();
    settings.seed = read->seed();
    settings.data.assign(read->data().begin(), read->data().end());
    QVERIFY(settings == check.settings);
  }

  void aScriptIsDescribedWithItsArguments() {
    using namespace ui::start_field;
    ui::StartForm form;
    form.program = ui::StartForm::Program::Script;
    form.values = {{kScript, QStringLiteral(TESSERA_SOURCE_DIR "/agents/python/examples/plain.py")},
                   {kArguments, QStringLiteral("--name \"a b\" -v")},
                   {kPython, QStringLiteral("/opt/my python/bin/python3")},
                   {kDirectory, QStringLiteral("/tmp")}};
    const ui::StartCheck check = ui::checkStart(form, IdleNodes());
    QVERIFY2(check.isGood(), check.isGood() ? "" : qPrintable(check.problems.begin()->second));
    QCOMPARE(check.request.name, QStringLiteral("plain"));
    std::vector<std::string> words = ShellWords(ui::startCommand({}, check.request));
    words.erase(words.begin());
    const auto line = app::parseLine(words);
    QVERIFY(line);
    app::Script asked;
    const auto read = app::readStartRequest(
        line->arguments,
        [&](const app::Script& script, std::stop_token) -> Result<app::DescribedScript> {
          asked = script;
          return app::DescribedScript{"run it", "{}", "{}", true, true};
        });
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QVERIFY(asked.path.ends_with("/plain.py"));
    QCOMPARE(asked.arguments, (std::vector<std::string>{"--name", "a b", "-v"}));
    QCOMPARE(asked.python, std::string("/opt/my python/bin/python3"));
    QCOMPARE(asked.directory, std::string("/tmp"));
    QCOMPARE(read->command(), std::string("run it"));
    QCOMPARE(read->name(), std::string("plain"));
    QVERIFY(read->finishes_updates());
    QVERIFY(read->pauses_before_updates());
  }

  void aCommandArrivesWithItsFilesAndItsCheckpoint() {
    using namespace ui::start_field;
    const QTemporaryDir folder;
    const QString tensors = folder.filePath(QStringLiteral("t.json"));
    QFile file(tensors);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"layers": 0, "tensors": []})");
    file.close();
    ui::StartForm form;
    form.program = ui::StartForm::Program::Exec;
    form.values = {{kName, QStringLiteral("mine")},
                   {kCommand, QStringLiteral("/opt/job --say \"it's\"")},
                   {kTensors, tensors},
                   {kRules, tensors},
                   {kFinishes, QStringLiteral("yes")},
                   {kCheckpoint, QStringLiteral("/checkpoints/mine 4")},
                   {kTakes, QStringLiteral("parameters")}};
    const ui::StartCheck check = ui::checkStart(form, IdleNodes());
    QVERIFY2(check.isGood(), check.isGood() ? "" : qPrintable(check.problems.begin()->second));
    const auto read = ReadAsCommand(ui::startCommand(QStringLiteral("lab-a"), check.request));
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QCOMPARE(read->name(), std::string("mine"));
    QCOMPARE(read->command(), std::string("/opt/job --say \"it's\""));
    QCOMPARE(read->tensors().text(), std::string(R"({"layers": 0, "tensors": []})"));
    QVERIFY(read->finishes_updates());
    QCOMPARE(read->from_checkpoint().path(), std::string("/checkpoints/mine 4"));
    QVERIFY(read->from_checkpoint().parameters_only());
  }

  void aCheckpointBringsTheModelAndTheName() {
    using namespace ui::start_field;
    ui::StartForm form;
    form.program = ui::StartForm::Program::Stored;
    form.values = {{kCheckpoint, QStringLiteral("s3://bucket/a")},
                   {kBatch, QStringLiteral("16")},  // of a built-in model this would be the default
                   {kSettings, QStringLiteral("learning_rate=1e-4; dropout=0.1")}};
    const ui::StartCheck check = ui::checkStart(form, IdleNodes());
    QVERIFY2(check.isGood(), check.isGood() ? "" : qPrintable(check.problems.begin()->second));
    const auto read = ReadAsCommand(ui::startCommand({}, check.request));
    QVERIFY2(read, read ? "" : read.error().message.c_str());
    QVERIFY(read->name().empty() && read->model().empty());
    QCOMPARE(read->from_checkpoint().path(), std::string("s3://bucket/a"));
    QCOMPARE(read->global_batch(), std::int64_t{16});
    QCOMPARE(read->settings().at("learning_rate"), std::string("1e-4"));
    QCOMPARE(read->settings().at("dropout"), std::string("0.1"));
    QCOMPARE(read->seed(), std::int64_t{0});
  }

  void aStopEndsAScriptThatHangs() {
    const QTemporaryDir folder;
    const QString begun = folder.filePath(QStringLiteral("begun"));
    const QString path = folder.filePath(QStringLiteral("hang.py"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("import os, time\nos.mkdir('begun')\ntime.sleep(600)\n");
    file.close();
    std::optional<Result<app::DescribedScript>> result;
    {
      std::jthread thread([&](const std::stop_token& stop) {
        result = app::describeScript(
            {.path = path.toStdString(), .directory = folder.path().toStdString()}, stop);
      });
      QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(begun), 30'000);
    }
    QVERIFY(result && !*result);
    QCOMPARE(result->error().code, ErrorCode::kCancelled);
  }
};

TESSERA_TEST(StartRequestTest)
#include "start_request_test.moc"
