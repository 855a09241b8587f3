// SPDX-License-Identifier: Apache-2.0

/// \file
/// tessera-train: its environment, its end by a signal, its command line. A process takes half a
/// second to load libtorch, so what needs no process of its own runs in this one.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

#include "agents/train/arguments.h"
#include "agents/train/blas_environment.h"
#include "agents/train/solo.h"
#include "agents/train/step_time.h"
#include "agents/train/termination.h"
#include "engine/model/gpt.h"
#include "ptc/packed.h"
#include "ptc/tensor_spec.h"
#include "tests/folders.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents::train;

namespace {

/// Runs `body(out)` in a child, which then exits with 0. Returns its wait status; `said` is the
/// text that it wrote to the descriptor `out`.
int InChild(const std::function<void(int)>& body, QByteArray* said) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    body(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  char buffer[64];
  ssize_t n = 0;
  while ((n = ::read(ends[0], buffer, sizeof buffer)) > 0) said->append(buffer, n);
  ::close(ends[0]);
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

void Say(int out, char c) {
  if (::write(out, &c, 1) != 1) ::_exit(9);
}

struct Outcome {
  int exit_code = -1;
  QByteArray out, error;
};

Outcome RunTrainer(const QStringList& arguments) {
  QProcess process;
  process.start(QStringLiteral(TESSERA_BIN_DIR "/tessera-train"), arguments);
  Outcome outcome;
  if (!process.waitForFinished(60000) || process.exitStatus() != QProcess::NormalExit) {
    return outcome;
  }
  outcome.exit_code = process.exitCode();
  outcome.out = process.readAllStandardOutput();
  outcome.error = process.readAllStandardError();
  return outcome;
}

Result<Arguments> Parse(const QStringList& words) {
  std::vector<std::string> texts;
  for (const QString& word : words) texts.push_back(word.toStdString());
  return ParseArguments({texts.begin(), texts.end()});
}

/// Trains in this process what `tessera-train WORDS…` trains.
/// \return its output
Result<QByteArray> Train(const QStringList& words) {
  TESSERA_TRY(const Arguments arguments, Parse(words));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  if (!file) return Unavailable("no temporary file");
  TESSERA_RETURN_IF_ERROR(RunSolo(arguments.settings, arguments.json, file.get()));
  std::rewind(file.get());
  QByteArray out(1 << 16, '\0');
  out.resize(static_cast<qsizetype>(std::fread(out.data(), 1, 1 << 16, file.get())));
  return out;
}

}  // namespace

class TrainProcessTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  static QString modelNames() {
    QStringList names;
    for (const std::string& name : engine::ModelNames()) names << QString::fromStdString(name);
    return names.join(", ");
  }
  QString textFile(const QString& name, const QByteArray& bytes) {
    QFile file(m_folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(bytes);
    return file.fileName();
  }

 private slots:
  void sigtermWaitsForTheUpdate() {
    QByteArray said;
    const int status = InChild(
        [](int out) {
          InstallTermination();
          {
            const UpdateSection section;
            ::kill(::getpid(), SIGTERM);
            Say(out, 'u');  // the update runs to its end
          }
          Say(out, 'x');  // never reached
        },
        &said);
    QCOMPARE(said, QByteArray("u"));
    QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  }

  void stepsTakeATimeAtLeast() {
    qunsetenv("TESSERA_STEP_TIME");
    auto least = LeastStepTime();
    QVERIFY(least && least->count() == 0.0);
    qputenv("TESSERA_STEP_TIME", "0.25");
    least = LeastStepTime();
    QVERIFY(least && least->count() == 0.25);
    for (const char* wrong : {"", "fast", "-1", "0.1s", "nan", "3601"}) {
      qputenv("TESSERA_STEP_TIME", wrong);
      const auto refused = LeastStepTime();
      QVERIFY2(!refused, wrong);
      QCOMPARE(refused.error().message, std::string("TESSERA_STEP_TIME=") + wrong +
                                            " is not a number of seconds from 0 to 3600");
    }
    qunsetenv("TESSERA_STEP_TIME");
  }

  void sigtermEndsAWaitAtOnce() {
#if defined(__SANITIZE_THREAD__)
    QSKIP("the thread sanitizer delivers signals later");
#endif
    QByteArray said;
    const int status = InChild(
        [](int out) {
          InstallTermination();
          { const UpdateSection finished; }
          Say(out, 'a');
          ::kill(::getpid(), SIGTERM);
          Say(out, 'x');
        },
        &said);
    QCOMPARE(said, QByteArray("a"));
    QVERIFY(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  }

  void environmentLeavesWhatTheUserSet() {
    const auto has = [](const char* key) {
      const auto variables = BlasEnvironment();
      return std::any_of(variables.begin(), variables.end(), [&](const std::string& variable) {
        return variable.starts_with(std::string(key) + "=");
      });
    };
    qunsetenv("OMP_NUM_THREADS");
    QVERIFY(has("OMP_NUM_THREADS"));
    qputenv("OMP_NUM_THREADS", "3");
    QVERIFY(!has("OMP_NUM_THREADS"));
    qunsetenv("OMP_NUM_THREADS");
    for (const char* key : {"OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY"}) {
      qputenv(key, "chosen");
      QVERIFY(!has(key));
      qunsetenv(key);
    }
  }

  void soloPrintsTheSameTwice() {
    const QString text = textFile("text", QByteArray("All work and no play. ").repeated(500));
    const QStringList arguments{"--solo", "gpt-nano", "--steps", "3",
                                "--json", "--data",   text,      "--seed"};
    const Outcome first = RunTrainer(arguments + QStringList{"5"});
    QCOMPARE(first.exit_code, 0);
    const QList<QByteArray> lines = first.out.trimmed().split('\n');
    QCOMPARE(lines.size(), 3);
    for (qsizetype i = 0; i < lines.size(); ++i) {
      const QJsonObject line = QJsonDocument::fromJson(lines[i]).object();
      QCOMPARE(line.keys(), QStringList({"grad_norm", "loss", "step"}));
      QCOMPARE(line["step"].toInt(), static_cast<int>(i) + 1);
      QVERIFY(line["loss"].toDouble() > 0 && line["grad_norm"].toDouble() > 0);
    }
    QCOMPARE(RunTrainer(arguments + QStringList{"5"}).out, first.out);
    const auto other = Train(arguments + QStringList{"6"});
    VERIFY_OK(other);
    QVERIFY(*other != first.out);
    QCOMPARE(*Train(arguments + QStringList{"6"}), *other);
  }

  void scheduleDoesNotDependOnTheSteps() {
    const QString text = textFile("text", QByteArray("All work and no play. ").repeated(500));
    const auto run = [&](const char* steps) {
      return Train({"--solo", "gpt-nano", "--steps", steps, "--json", "--data", text});
    };
    const auto few = run("2");
    VERIFY_OK(few);
    const auto more = run("4");
    VERIFY_OK(more);
    QVERIFY(!few->isEmpty() && more->startsWith(*few));
  }

  void settingsChangeTheRun() {
    const QString text = textFile("text", QByteArray("All work and no play. ").repeated(500));
    const auto run = [&](const QStringList& settings) {
      QStringList arguments;
      for (const QString& setting : settings) arguments << "--set" << setting;
      // A setting may appear anywhere on the command line.
      return Train(arguments +
                   QStringList{"--solo", "gpt-nano", "--steps", "2", "--json", "--data", text});
    };
    const auto plain = run({});
    VERIFY_OK(plain);
    const QByteArray first = plain->left(plain->indexOf('\n') + 1);
    const auto changed = run({"dropout=0.1", "vocab=300", "gated_mlp=true", "tied_head=false",
                              "kv_heads=2", "precision=bf16"});
    VERIFY_OK(changed);
    QVERIFY(changed->count('\n') == 2 && !changed->startsWith(first));
    const auto faster = run({"learning_rate=0.01"});  // takes effect from the second step on
    VERIFY_OK(faster);
    QVERIFY(faster->startsWith(first) && *faster != *plain);
    const auto refused = run({"learning_speed=1"});
    VERIFY_ERROR(refused, ErrorCode::kInvalidArgument,
                 "there is no setting 'learning_speed'; there are ");
    VERIFY_ERROR(refused, ErrorCode::kInvalidArgument, "learning_rate=0.001");
  }

  void wrongUseIsNamed_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const QStringList& words, const QString& message) {
      QTest::newRow(name) << words << message;
    };
    row("unknown flag", {"--frob"}, "unknown argument '--frob'");
    row("no value", {"--solo"}, "--solo needs a value");
    row("steps of 0", {"--solo", "gpt-nano", "--steps", "0"},
        "--steps '0' is not a whole number from 1 on");
    row("unknown model", {"--solo", "gpt-9"}, "no model 'gpt-9'; there are " + modelNames());
    row("setting without a value", {"--solo", "gpt-nano", "--steps", "1", "--set", "dropout"},
        "--set 'dropout' is not NAME=VALUE");
    row("setting without a model", {"--set", "dropout=0.1"}, "--set needs --solo");
    row("a checkpoint without settings", {"--evaluate", "folder"},
        "--evaluate and --settings need each other");
    row("nothing to do", {"--json"}, "'--json' needs --solo");
  }
  void wrongUseIsNamed() {
    QFETCH(QStringList, words);
    QFETCH(QString, message);
    const auto arguments = Parse(words);
    QVERIFY(!arguments);
    QCOMPARE(QString::fromStdString(arguments.error().ToString()), message);
  }

  void errorsAreOneLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("message");
    QTest::newRow("no agent")
        << QStringList{} << 2
        << "tessera-train: started without an agent; see --help, or --solo MODEL --steps N\n";
    QTest::newRow("no steps") << QStringList{"--solo", "gpt-nano"} << 2
                              << "tessera-train: --solo needs --steps\n";
    QTest::newRow("no data") << QStringList{"--solo", "gpt-nano", "--steps",
                                            "1",      "--data",   "/no/such/path"}
                             << 1 << "tessera-train: data path '/no/such/path' does not exist\n";
  }
  void errorsAreOneLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QString, message);
    const Outcome outcome = RunTrainer(arguments);
    // The warning of a slow BLAS library may precede it.
    QVERIFY2(outcome.error.endsWith(message.toUtf8()), outcome.error.constData());
    QCOMPARE(outcome.exit_code, code);
    QVERIFY(outcome.out.isEmpty());
  }

  void anEvaluationSaysWhatItDoesNotRead() {
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-nano");
    QJsonObject header, names;
    qint64 end = 0;
    const auto collection = *engine::MakeCollection(settings, false);
    for (const ptc::TensorSpec& tensor : collection->tensors()) {
      if (tensor.role != ptc::TensorRole::kParam) continue;
      const QString name = QString::fromStdString(tensor.name);
      QJsonArray shape;
      for (const std::int64_t size : tensor.shape) shape.append(qint64(size));
      const qint64 begin = end;
      end += *ptc::ByteCount(tensor.dtype, tensor.shape);
      header[name] =
          QJsonObject{{"dtype", "F32"}, {"shape", shape}, {"data_offsets", QJsonArray{begin, end}}};
      names[name] = "a.safetensors";
    }
    const auto safetensors = [](const QJsonObject& about, qint64 bytes) {
      const QByteArray text = QJsonDocument(about).toJson(QJsonDocument::Compact);
      QByteArray size(8, '\0');
      for (int i = 0; i < 4; ++i) size[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
      return size + text + QByteArray(bytes, '\0');
    };
    QVERIFY(QDir(m_folder.path()).mkdir("model"));
    textFile("model/a.safetensors", safetensors(header, end));
    textFile("model/forgotten.safetensors", safetensors({}, 0));
    textFile("model/model.safetensors.index.json",
             QJsonDocument(QJsonObject{{"weight_map", names}}).toJson());
    const QString job = textFile("job.json", QByteArray::fromStdString(engine::ToJson(settings)));
    const QString text = textFile("evaluated.txt", QByteArray(20'000, 'a'));
    const Outcome outcome =
        RunTrainer({"--evaluate", m_folder.filePath("model"), "--settings", job, "--data", text});
    QVERIFY2(outcome.exit_code == 0, outcome.error.constData());
    QVERIFY2(outcome.error.endsWith("tessera-train: 'forgotten.safetensors' is not read: "
                                    "model.safetensors.index.json does not name it\n"),
             outcome.error.constData());
    QVERIFY(QJsonDocument::fromJson(outcome.out)["loss"].isDouble());
  }

  void helpNamesTheDefaults() {
    const Outcome outcome = RunTrainer({"--help"});
    QCOMPARE(outcome.exit_code, 0);
    for (const char* word : {"gpt-mini", "default 16", "sequence 128", "2000", "An agent starts",
                             "dropout=0", "precision=fp32", "kv_heads=0"}) {
      QVERIFY2(outcome.out.contains(word), word);
    }
  }
};
TESSERA_TEST(TrainProcessTest)
#include "train_process_test.moc"
