// SPDX-License-Identifier: Apache-2.0
// Programs that load and save their state in files, started as a user does, whose mesh changes
// while they train.
#include <sys/mount.h>

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/losses.h"
#include "tests/e2e/shell_job.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kFilesPackage = QStringLiteral(TESSERA_SOURCE_DIR "/agents/python");
const QString kFilesExamples = kFilesPackage + "/examples/";
constexpr int kFilesSteps = 40;
constexpr int kFilesPatience = 90;  // seconds: programs import their frameworks in each start

/// Mesh and devices.
using FilesLayout = std::pair<QString, QString>;

/// A job with one tensor of 4 numbers, cut over tp, as one file each.
const QString kVectorTensors =
    QStringLiteral(R"({"layers": 0, "tensors": [{"name": "w", "dtype": "f32", "shape": [4]}]})");
const QString kVectorRules = QStringLiteral(R"({"rules": [{"match": "w", "cut": "colwise"}]})");

}  // namespace

Q_DECLARE_METATYPE(std::vector<FilesLayout>)

class E2eFilesJobTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_python = FindPython({QStringLiteral("numpy")});
    if (m_python.program.isEmpty()) QSKIP(qPrintable(m_python.why));
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = QStringLiteral("16M"), .link = {}});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(QDir().mkpath(m_files.filePath("tmp")));
    QVERIFY(Write("vector.tensors.json", kVectorTensors));
    QVERIFY(Write("vector.rules.json", kVectorRules));
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void cleanup() {
    if (!m_cluster) return;
    for (const char* job : {"still", "moved", "own"}) {
      m_cluster->Run({"job", "stop", job, "--yes"});
    }
    QFile::remove(m_files.filePath("wrong"));
    // The folders of ranks that were killed go as well.
    QVERIFY2(LocalCluster::WaitFor([&] { return Folders().isEmpty(); }, 10),
             qPrintable(Folders().join(u' ')));
  }

  void trainsOnAsIfNothingHadMoved_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<QString>("module");
    QTest::addColumn<FilesLayout>("first");
    QTest::addColumn<std::vector<FilesLayout>>("then");
    QTest::newRow("Megatron, tp 2, 4, 1")
        << "megatron_files.py"
        << "numpy" << FilesLayout("tp=2", "n0g0,n1g0")
        << std::vector<FilesLayout>{{"dp=1,tp=4", "n0g0,n0g1,n1g0,n1g1"}, {"dp=1,tp=1", "n1g1"}};
    QTest::newRow("Megatron, (dp 3), (dp 2, tp 2), and places exchanged")
        << "megatron_files.py"
        << "numpy" << FilesLayout("dp=3", "n0g0,n1g0,n1g1")
        << std::vector<FilesLayout>{{"dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1"},
                                    {"dp=2,tp=2", "n1g1,n1g0,n0g1,n0g0"}};
    QTest::newRow("JAX, (dp 1), (dp 2, tp 2), (tp 2)")
        << "jax_files.py"
        << "jax" << FilesLayout("dp=1", "n0g1")
        << std::vector<FilesLayout>{{"dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1"},
                                    {"dp=1,tp=2", "n0g1,n1g0"}};
  }
  void trainsOnAsIfNothingHadMoved() {
    QFETCH(QString, script);
    QFETCH(QString, module);
    QFETCH(FilesLayout, first);
    QFETCH(std::vector<FilesLayout>, then);
    const Python python = FindPython({QStringLiteral("numpy"), module});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    const QString path = kFilesExamples + script;
    QVERIFY(Write("tensors.json",
                  OutputOf(python, {"-m", "tessera.files", "list", "--", python.program, path})));
    QVERIFY(Write("rules.json", OutputOf(python, {path, "--rules"})));
    const auto start = [&](const QString& job, const QStringList& more) {
      return m_cluster->Run(StartOf(job, path, python, "tensors.json", "rules.json", first) +
                                QStringList{"--", "--steps", QString::number(kFilesSteps)} + more,
                            kFilesPatience);
    };
    const Outcome still_start = start("still", {});
    QVERIFY2(still_start.code == 0, still_start.Text());
    QVERIFY(EndsPaused("still"));
    const Run still = RunOf(*m_cluster, "still");
    QCOMPARE(still.size(), std::size_t{kFilesSteps});
    QVERIFY(still.at(kFilesSteps).loss < still.at(1).loss);
    QVERIFY(m_cluster->Run({"job", "stop", "still", "--yes"}).code == 0);

    const Outcome moved_start = start("moved", {"--delay", "0.3"});
    QVERIFY2(moved_start.code == 0, moved_start.Text());
    std::int64_t epoch = 1;
    for (const auto& [mesh, devices] : then) {
      QVERIFY(m_cluster->GoesOn("moved", 2, kFilesPatience));
      const Json moved = m_cluster->Apply("moved", mesh, devices, {"--pin"});
      QVERIFY(moved.is_object());
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QCOMPARE(moved["moved_bytes"].dump(), moved["volume_bound_bytes"].dump());
      QCOMPARE(moved["epoch"].get<std::int64_t>(), ++epoch);
    }
    QVERIFY(m_cluster->Step("moved") < kFilesSteps);
    QVERIFY(EndsPaused("moved"));
    const QString difference = DifferenceOf(RunOf(*m_cluster, "moved"), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
    // Programs are started once more after their last step. They find nothing to do.
    const Json last = m_cluster->Apply("moved", first.first, first.second);
    QVERIFY(last.is_object());
    VERIFY_DIGESTS(last["digest_before"], last["digest_after"]);
    QVERIFY(EndsPaused("moved"));
  }

  // Its ranks begin again with the state of the last save, and make the same steps again.
  void aProgramThatDiesBeginsAgainFromItsLastSave() {
    const QString path = kFilesExamples + "megatron_files.py";
    QVERIFY(Write("tensors.json", OutputOf(m_python, {"-m", "tessera.files", "list", "--",
                                                      m_python.program, path})));
    QVERIFY(Write("rules.json", OutputOf(m_python, {path, "--rules"})));
    const FilesLayout layout("dp=1,tp=2", "n0g0,n1g0");
    const QStringList steps = {"--", "--steps", QString::number(kFilesSteps)};
    const Outcome still_start = m_cluster->Run(
        StartOf("still", path, m_python, "tensors.json", "rules.json", layout) + steps,
        kFilesPatience);
    QVERIFY2(still_start.code == 0, still_start.Text());
    QVERIFY(EndsPaused("still"));
    const Run still = RunOf(*m_cluster, "still");
    const Json digest = m_cluster->Ask({"digest", "still"});
    QVERIFY(m_cluster->Run({"job", "stop", "still", "--yes"}).code == 0);

    const Outcome start =
        m_cluster->Run(StartOf("moved", path, m_python, "tensors.json", "rules.json", layout) +
                           QStringList{"--save-every", "5"} + steps + QStringList{"--delay", "0.1"},
                       kFilesPatience);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep("moved", 8));
    const auto programs = ProgramsOf(path);
    QCOMPARE(programs.size(), std::size_t{2});
    QVERIFY(SendSignal(programs.back(), SIGKILL));
    QVERIFY(EndsPaused("moved"));
    const QString events = m_cluster->Run({"events"}).output;
    QVERIFY2(events.contains("was ended by signal 9") && events.contains("started again"),
             qPrintable(events));
    const QString difference = DifferenceOf(RunOf(*m_cluster, "moved"), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
    VERIFY_DIGESTS(m_cluster->Ask({"digest", "moved"})["digest"], digest["digest"]);
  }

  // No Python in the program: its state is a number, which is to be equal to the step.
  void aShellScriptIsAJob() {
    const ShellJob job = WriteShellJob(m_files.path());
    QVERIFY(!job.script.isEmpty() && !job.tensors.isEmpty() && !job.rules.isEmpty());
    const Outcome start = m_cluster->Run(StartOf("own", job.script, m_python, "own.tensors.json",
                                                 "own.rules.json", {"dp=2", "n0g0,n1g0"}) +
                                             QStringList{"--save-every", "4"},
                                         kFilesPatience);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->GoesOn("own", 3));
    const Json moved = m_cluster->Apply("own", "dp=3", "n1g0,n0g0,n0g1");
    QVERIFY(moved.is_object());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY(m_cluster->GoesOn("own", 3));
    const Outcome paused = m_cluster->Run({"job", "pause", "own"});
    QVERIFY2(paused.code == 0, paused.Text());
    const std::int64_t step = m_cluster->Step("own");
    const auto arena = m_cluster->ArenaOf("n0g1");
    QVERIFY(arena);
    QCOMPARE(static_cast<std::int64_t>(arena->header().end.load()), step);
    QVERIFY(m_cluster->Run({"job", "resume", "own"}).code == 0);
    QVERIFY(m_cluster->GoesOn("own", 9));  // with two saves
    std::vector<std::int64_t> programs;
    QVERIFY(LocalCluster::WaitFor([&] {  // each save ends them and starts them again
      programs = ProgramsOf(job.script);
      return programs.size() == 3;
    }));
    QVERIFY(SendSignal(programs.front(), SIGKILL));
    QVERIFY(m_cluster->GoesOn("own", 9));
    QCOMPARE(m_cluster->Job("own")["epoch"].get<std::int64_t>(), std::int64_t{2});
    const QString events = m_cluster->Run({"events"}).output;
    QVERIFY2(!events.contains("the state is after"), qPrintable(events));
  }

  void aWrongFileIsRefusedAndTheJobGoesOn_data() {
    QTest::addColumn<QString>("state");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("shape") << "{'w': np.zeros(3, 'f4')}"
                           << "has 'w' with shape [3], its part [0:2] of [4] has shape [2]";
    QTest::newRow("dtype") << "{'w': np.zeros(2, 'f8')}"
                           << "has 'w' as f64, the job as f32";
    QTest::newRow("step") << "setattr(run, 'step', 99) or state"
                          << "states step 99 in its metadata";
    QTest::newRow("none") << "{}"
                          << "lacks tensor 'w'";
    QTest::newRow("another") << "{**state, 'v': state['w']}"
                             << "has a tensor 'v', which the job does not have";
  }
  void aWrongFileIsRefusedAndTheJobGoesOn() {
    QFETCH(QString, state);
    QFETCH(QString, sentence);
    QVERIFY(Write(
        "own.py",
        Program(QStringLiteral("        wrong = os.path.exists(sys.argv[1]) and run.rank == 0\n"
                               "        files.save(%1 if wrong else state)\n")
                    .arg(state))));
    const Outcome start = StartVector({"dp=1,tp=2", "n0g0,n1g0"}, {m_files.filePath("wrong")});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->GoesOn("own", 3));
    QVERIFY(Write("wrong", "now"));
    const Outcome refused = m_cluster->Run(
        {"apply", "own", "--mesh", "dp=1,tp=4", "--devices", "n0g0,n0g1,n1g0,n1g1", "--yes"},
        kFilesPatience);
    QFile::remove(m_files.filePath("wrong"));
    QVERIFY2(refused.code != 0, refused.Text());
    const QString events = m_cluster->Run({"events"}).output;
    QVERIFY2(events.contains(sentence), qPrintable(events));
    // From the beginning, since nothing was saved before.
    QVERIFY(m_cluster->WaitJob("own", [](const Json& job) { return job["state"] == "running"; }));
    QVERIFY(m_cluster->GoesOn("own", 3));
    QCOMPARE(m_cluster->Job("own")["epoch"].get<std::int64_t>(), std::int64_t{1});
    const Json moved = m_cluster->Apply("own", "dp=1,tp=4", "n0g0,n0g1,n1g0,n1g1");
    QVERIFY(moved.is_object());
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_cluster->GoesOn("own", 3));
  }

  // Such a program is started twice again and then stays suspended, with the reason.
  void aProgramThatBreaksTheProtocolIsNamed_data() {
    QTest::addColumn<QString>("line");  // in place of the report of step 2
    QTest::addColumn<QString>("sentence");
    QTest::newRow("a step left out") << "files.report(3, 1.0)"
                                     << "the program reports step 3 after step 1";
    QTest::newRow("no message") << "run._say('hello')"
                                << "the program wrote 'hello' into 'steps'";
    QTest::newRow("ends early") << "sys.exit(0)"
                                << "ended with status 0 after step 1, which was not its last";
    QTest::newRow("its own words") << "print('no more coffee', file=sys.stderr) or sys.exit(3)"
                                   << "no more coffee";
  }
  void aProgramThatBreaksTheProtocolIsNamed() {
    QFETCH(QString, line);
    QFETCH(QString, sentence);
    QVERIFY(Write("own.py", Program("        files.save(state)\n", line)));
    const Outcome start = StartVector({"dp=1,tp=2", "n0g0,n0g1"}, {});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitJob(
        "own",
        [&](const Json& job) {
          return job["state"] == "suspended" &&
                 QString::fromStdString(job["reason"].get<std::string>()).contains("3 times");
        },
        kFilesPatience));
    const QString reason = QString::fromStdString(m_cluster->Job("own")["reason"]);
    QVERIFY2(reason.contains(sentence), qPrintable(reason));
  }

  void saysWhatIsWrongAtTheStart_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("no initial state") << "print('nothing')\n"
                                      << "has saved no initial state in";
    QTest::newRow("no file at all") << "import os\n"
                                       "open(os.environ['TESSERA_SAVE'], 'wb').write(b'hello')\n"
                                    << "5 bytes are no safetensors file";
    QTest::newRow("a step without a state")
        << "import os\n"
           "open(os.environ['TESSERA_FOLDER'] + '/steps', 'w').write('1 0.5\\n')\n"
           "open(os.environ['TESSERA_FOLDER'] + '/answer').readline()\n"
        << "must save an initial one before its first step";
    QTest::newRow("its own words") << "raise ValueError('the data is late')\n"
                                   << "ValueError: the data is late";
  }
  void saysWhatIsWrongAtTheStart() {
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    QVERIFY(Write("own.py", text));
    const Outcome start = StartVector({"dp=1,tp=2", "n0g0,n1g0"}, {});
    QVERIFY2(start.code != 0 && QString(start.Text()).contains(sentence), start.Text());
  }

  void aPlaceThatIsTooSmallIsNamed() {
    const QString place = m_files.filePath("small");
    QVERIFY(QDir().mkpath(place));
    if (::mount("tmpfs", qPrintable(place), "tmpfs", 0, "size=64k") != 0)
      QSKIP("no file system can be mounted here");
    const auto unmount = qScopeGuard([&] { ::umount2(qPrintable(place), MNT_DETACH); });
    QVERIFY(Write("large.tensors.json", QString(kVectorTensors).replace("[4]", "[65536]")));
    QVERIFY(Write("own.py", Program("        files.save(state)\n").replace("arange(4,",
                                                                          "arange(65536,")));
    const Outcome start = m_cluster->Run(
        StartOf("own", m_files.filePath("own.py"), m_python, "large.tensors.json",
                "vector.rules.json", {"dp=1,tp=2", "n0g0,n0g1"}) +
            QStringList{"--env", "TESSERA_FILES=" + place},
        kFilesPatience);
    QVERIFY2(start.code != 0, start.Text());
    const QString said = start.Text();
    QVERIFY2(said.contains(place) && said.contains("needs 131072"), qPrintable(said));
  }

  void listsWhatAFileHas_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");  // of the list, or of the error
    const auto file = [](const QByteArray& header, qsizetype more) {
      QByteArray out(8, '\0');
      out[0] = static_cast<char>(header.size());
      return out + header + QByteArray(more, '\0');
    };
    QTest::newRow("a parameter, its moment and a counter")
        << file(R"({"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
                R"("a.exp_avg":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},)"
                R"("n":{"dtype":"I64","shape":[],"data_offsets":[20,28]}})",
                28)
        << R"({
  "layers": 0,
  "tensors": [
    {"name": "a", "dtype": "bf16", "shape": [2, 3]},
    {"name": "a.exp_avg", "dtype": "f32", "shape": [2], "role": "exp_avg"},
    {"name": "n", "dtype": "i64", "shape": [], "role": "buffer"}
  ]
}
)";
    const QByteArray one = R"({"n":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
    QTest::newRow("cut off") << file(one, 1) << "the header gives it bytes 0 to 2 of 1";
    QTest::newRow("another type") << file(QByteArray(one).replace("U8", "F4"), 2)
                                  << "'n' has dtype F4, which a job cannot hold";
    QTest::newRow("text") << QByteArray("hello world, this is no tensor")
                          << "30 bytes are no safetensors file";
  }
  void listsWhatAFileHas() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, text);
    QFile file(m_files.filePath("listed.safetensors"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
    file.close();
    QProcess process;
    process.setProcessEnvironment(WithPackage());
    process.start(m_python.program, {"-m", "tessera.files", "list", file.fileName()});
    QVERIFY(process.waitForFinished(kFilesPatience * 1000));
    const QString output = QString::fromUtf8(process.readAllStandardOutput());
    const QString errors = QString::fromUtf8(process.readAllStandardError());
    const bool is_list = text.startsWith(u'{');
    QCOMPARE(process.exitCode(), is_list ? 0 : 1);
    if (is_list) {
      QCOMPARE(output, text);
    } else {
      QVERIFY2(errors.contains(text) && errors.count(u'\n') == 1, qPrintable(errors));
    }
  }

  void refusesOptionsThatDoNotFit_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("no program") << QStringList{"--kind", "files"}
                                << "--kind files needs a program, such as train.sh";
    QTest::newRow("no tensors") << QStringList{"x.sh", "--kind", "files", "--rules", "r.json"}
                                << "--kind files needs --tensors";
    QTest::newRow("with --exec") << QStringList{"x.sh", "--kind", "files", "--exec", "true"}
                                 << "--kind files and --exec are given";
    QTest::newRow("another kind") << QStringList{"x.sh", "--kind", "tar"} << "tar";
    QTest::newRow("--save-every alone")
        << QStringList{"gpt-nano", "--save-every", "3"} << "--save-every is for --kind files";
    QTest::newRow("no such program")
        << QStringList{"x.sh", "--kind", "files", "--tensors", "t", "--rules", "r"}
        << "no program 'x.sh'";
  }
  void refusesOptionsThatDoNotFit() {
    QFETCH(QStringList, words);
    QFETCH(QString, sentence);
    const Outcome start = m_cluster->Run(QStringList{"job", "start"} + words);
    QVERIFY2(start.code == 2 && start.errors.contains(sentence), start.Text());
  }

 private:
  /// Of ranks: in the place that tests name, and in the usual one.
  QStringList Folders() const {
    QStringList out;
    for (const QString& place : {m_files.filePath("tmp"), m_cluster->home()}) {
      QDirIterator entries(place, {"tessera-files-*"}, QDir::Dirs, QDirIterator::Subdirectories);
      while (entries.hasNext()) out.push_back(entries.next());
    }
    return out;
  }
  bool Write(const QString& name, const QString& text) {
    QFile file(m_files.filePath(name));
    return !text.isEmpty() && file.open(QIODevice::WriteOnly) && file.write(text.toUtf8()) > 0;
  }
  static QProcessEnvironment WithPackage() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PYTHONPATH", kFilesPackage);
    return environment;
  }
  /// What a program of the package prints; empty if it fails.
  static QString OutputOf(const Python& python, const QStringList& words) {
    QProcess process;
    process.setProcessEnvironment(WithPackage());
    process.start(python.program, words);
    const bool is_good = process.waitForFinished(kFilesPatience * 1000) && process.exitCode() == 0;
    if (!is_good) qWarning() << process.readAllStandardError();
    return is_good ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
  }
  /// A program with the tensor `w`, which makes many steps.
  static QString Program(const QString& save, const QString& second = {}) {
    return QStringLiteral(
               "import os, sys, time\n"
               "import numpy as np\n"
               "from tessera import files\n"
               "run = files.begin()\n"
               "state = files.load()\n"
               "if state is None:\n"
               "    state = {'w': run.part_of('w', np.arange(4, dtype='f4'))}\n"
               "    files.save(state)\n"
               "for step in range(run.step + 1, 10000):\n"
               "    time.sleep(0.05)\n"
               "    if %1 and step == 2:\n"
               "        %2\n"
               "    files.report(step, 1.0)\n"
               "    if files.should_save():\n"
               "%3")
        .arg(second.isEmpty() ? "False" : "True", second.isEmpty() ? "pass" : second, save);
  }
  QStringList StartOf(const QString& job, const QString& program, const Python& python,
                      const QString& tensors, const QString& rules,
                      const FilesLayout& layout) const {
    QStringList out = {"job", "start", program, "--kind", "files", "--name", job};
    out += {"--python", python.program, "--mesh", layout.first, "--devices", layout.second};
    out += {"--tensors", m_files.filePath(tensors), "--rules", m_files.filePath(rules)};
    if (job == "moved") out += {"--env", "TESSERA_FILES=" + m_files.filePath("tmp")};
    return out;
  }
  /// own.py
  Outcome StartVector(const FilesLayout& layout, const QStringList& arguments) const {
    return m_cluster->Run(StartOf("own", m_files.filePath("own.py"), m_python,
                                  "vector.tensors.json", "vector.rules.json", layout) +
                              QStringList{"--"} + arguments,
                          kFilesPatience);
  }
  bool EndsPaused(const QString& job) {
    return m_cluster->WaitJob(
        job, [](const Json& now) { return now["state"] == "paused" && now["step"] == kFilesSteps; },
        kFilesPatience);
  }
  /// The processes of a script, without the launchers that have its name in their words.
  std::vector<std::int64_t> ProgramsOf(const QString& script) const {
    std::vector<std::int64_t> out;
    for (int node = 0; node < 2; ++node) {
      for (const std::int64_t pid : m_cluster->Children(node, script.toStdString())) {
        QFile words(QStringLiteral("/proc/%1/cmdline").arg(pid));
        if (words.open(QIODevice::ReadOnly) && !words.readAll().contains("tessera.files")) {
          out.push_back(pid);
        }
      }
    }
    return out;
  }

  Python m_python;
  std::unique_ptr<LocalCluster> m_cluster;
  QTemporaryDir m_files;
};
TESSERA_TEST(E2eFilesJobTest)
#include "e2e_files_job_test.moc"
