// SPDX-License-Identifier: Apache-2.0
/// \file
/// A real mount in a process of its own, which other programs read.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <thread>

#include "agents/fuse/mount_point.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;

namespace {

constexpr int kPatienceMs = 20000;
constexpr std::int64_t kRows = 512, kColumns = 2048;  // 4 MiB

engine::vfs::JobInfo JobAt(std::int64_t step, std::int64_t epoch = 1) {
  const char* mesh = epoch % 2 == 0 || epoch == 1 ? "tp=2 on 1x2" : "tp=1 on 1x1";
  auto job = test::AnyJobInfo("a", test::MatrixLayout(mesh, kRows, kColumns));
  job.step = step;
  job.epoch = epoch;
  return job;
}

QByteArray Run(const QString& program, const QStringList& words, int* code = nullptr) {
  QProcess process;
  process.start(program, words);
  if (!process.waitForFinished(kPatienceMs)) process.kill();
  if (code != nullptr) *code = process.exitCode();
  return process.readAllStandardOutput();
}

std::string NumberAfter(const std::string& text, const std::string& key) {
  const auto at = text.find(key);
  if (at == std::string::npos) return {};
  return text.substr(at + key.size(), text.find('"', at + key.size()) - at - key.size());
}

/// The server and its folder.
class Mount {
 public:
  explicit Mount(QString folder, const QString& mesh = QStringLiteral("tp=2 on 1x2"))
      : folder_(std::move(folder)) {
    process_.setProcessChannelMode(QProcess::SeparateChannels);
    process_.start(QStringLiteral(TESSERA_TEST_FOLDER "/tessera-fake-mount"),
                   {folder_, QString::number(kRows), QString::number(kColumns), mesh});
    first_ = Line();
  }
  ~Mount() {
    process_.kill();
    process_.waitForFinished(kPatienceMs);
    ::umount2(qPrintable(folder_), MNT_DETACH);
  }
  QByteArray first() const { return first_; }
  QByteArray Line() {
    while (!process_.canReadLine() && process_.waitForReadyRead(kPatienceMs)) {
    }
    return process_.readLine().trimmed();
  }
  QByteArray Tell(const QByteArray& line) {
    process_.write(line + '\n');
    return Line();
  }
  QString Path(const char* name) const { return folder_ + QLatin1Char('/') + QLatin1String(name); }
  void Signal(int signal) { ::kill(static_cast<pid_t>(process_.processId()), signal); }
  bool WaitGone() {
    return process_.state() == QProcess::NotRunning || process_.waitForFinished(kPatienceMs);
  }
  int code() const {
    return process_.exitStatus() == QProcess::NormalExit ? process_.exitCode() : -1;
  }

 private:
  QString folder_;
  QProcess process_;
  QByteArray first_;
};

const char* const kModel = "jobs/a/full/model.safetensors";

}  // namespace

class FuseMountTest : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<QTemporaryDir> folder_;
  QString Dir() const { return folder_->filePath(QStringLiteral("mount")); }
  bool IsMounted() const {
    const auto mount = agents::FindMount(Dir().toStdString());
    return mount && mount->has_value();
  }
  static std::string Slurp(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
  }

  static QString inMount(const Mount& mount, const QString& file) {
    return mount.Path("jobs/a/ranks/") + file;
  }
  /// Copies the files of all ranks beside the mount.
  /// \return "0/model.safetensors", …
  QStringList copyOfRanks(const Mount& mount) const {
    QStringList files;
    const int held = ::open(qPrintable(mount.Path(kModel)), O_RDONLY);  // of one step
    for (const char* rank : {"0", "1"}) {
      QDir().mkpath(folder_->filePath(QLatin1String(rank)));
      for (const char* part : {"model", "optimizer"}) {
        files << QStringLiteral("%1/%2.safetensors").arg(QLatin1String(rank), QLatin1String(part));
        if (!QFile::copy(inMount(mount, files.last()), folder_->filePath(files.last()))) return {};
      }
    }
    ::close(held);
    return files;
  }

 private slots:
  void initTestCase() {
    if (const auto may = agents::CheckMayMount(false); !may) {
      QSKIP(qPrintable(QStringLiteral("TESSERA_SKIP_ALL ") +
                       QString::fromStdString(may.error().ToString())));
    }
  }
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QVERIFY(QDir().mkpath(Dir()));
  }
  void cleanup() { QVERIFY2(!IsMounted(), "a mount was left"); }

  void filesAreReadByOthers_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QStringList>("flags");
    for (const char* file :
         {kModel, "jobs/a/full/optimizer.safetensors", "jobs/a/ranks/1/model.safetensors",
          "jobs/a/ranks/0/optimizer.safetensors"}) {
      const QString name = QLatin1String(file);
      QTest::addRow("%s", file) << name << QStringList{QStringLiteral("bs=1M")};
      QTest::addRow("%s, odd blocks", file) << name << QStringList{QStringLiteral("bs=12345")};
      QTest::addRow("%s, O_DIRECT", file)
          << name << QStringList{QStringLiteral("bs=1M"), QStringLiteral("iflag=direct")};
    }
  }
  void filesAreReadByOthers() {
    QFETCH(QString, file);
    QFETCH(QStringList, flags);
    Mount mount(Dir());
    QCOMPARE(mount.first(), QByteArray("mounted"));
    const QString path = mount.Path(qPrintable(file));
    const bool model = file.contains(QLatin1String("model"));
    const auto rank = file.contains(QLatin1String("full"))
                          ? std::nullopt
                          : std::optional(file.contains(QLatin1String("ranks/1")) ? 1 : 0);
    for (const char* direct : {"direct 0", "direct 1"}) {
      mount.Tell(direct);
      const QByteArray bytes =
          Run(QStringLiteral("dd"),
              QStringList{QStringLiteral("if=") + path, QStringLiteral("status=none")} + flags);
      QCOMPARE(test::Judge(bytes.toStdString(), JobAt(10), rank, model), std::string());
    }
  }

  void twoReadersAtOnce() {
    Mount mount(Dir());
    QProcess readers[2];
    for (QProcess& reader : readers) {
      reader.start(QStringLiteral("dd"), {QStringLiteral("if=") + mount.Path(kModel),
                                          QStringLiteral("bs=64k"), QStringLiteral("status=none")});
    }
    for (QProcess& reader : readers) {
      QVERIFY(reader.waitForFinished(kPatienceMs));
      QCOMPARE(
          test::Judge(reader.readAllStandardOutput().toStdString(), JobAt(10), std::nullopt, true),
          std::string());
    }
  }

  void pagesAreMappedAndNeverMixSteps() {
    Mount mount(Dir());
    const int first = ::open(qPrintable(mount.Path(kModel)), O_RDONLY);
    QVERIFY(first >= 0);
    const auto size = static_cast<std::size_t>(QFileInfo(mount.Path(kModel)).size());
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, first, 0);
    QVERIFY(memory != MAP_FAILED);
    ::close(first);  // the mapping holds the view
    const std::string_view mapped(static_cast<const char*>(memory), size);
    QCOMPARE(mapped.substr(0, 9).back(), '{');
    mount.Tell("step 7");
    QCOMPARE(mount.Tell("views"), QByteArray("1"));
    QCOMPARE(test::Judge(std::string(mapped), JobAt(10), std::nullopt, true), std::string());
    QCOMPARE(test::Judge(Slurp(mount.Path(kModel)), JobAt(10), std::nullopt, true), std::string());
    QCOMPARE(Slurp(mount.Path("jobs/a/step")), std::string("10\n"));
    QCOMPARE(mount.Tell("pins"), QByteArray("1"));

    ::munmap(memory, size);
    QTRY_COMPARE(mount.Tell("views"), QByteArray("0"));  // the kernel closes files later
    QCOMPARE(test::Judge(Slurp(mount.Path(kModel)), JobAt(17), std::nullopt, true), std::string());
    QCOMPARE(Slurp(mount.Path("jobs/a/step")), std::string("17\n"));
    QCOMPARE(mount.Tell("pins"), QByteArray("2"));
  }

  void pythonOpensIt() {
    const auto python = test::FindPython({QStringLiteral("numpy"), QStringLiteral("safetensors")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    Mount mount(Dir());
    for (const char* file : {kModel, "jobs/a/ranks/1/optimizer.safetensors"}) {
      const QString wrong =
          test::RunScript(python, QStringLiteral("mount_judge.py"), {mount.Path(file)});
      QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
  }

  /// TESSERA_TEST_SECONDS: duration. The slow test takes a minute, with one change per second.
  void readersWhileTheJobIsReconfigured() {
    const int seconds = std::max(3, qEnvironmentVariableIntValue("TESSERA_TEST_SECONDS"));
    constexpr int kLeastEpochs = 4, kPatienceSeconds = 30;  // on a busy machine
    Mount mount(Dir());
    mount.Tell(seconds > 3 ? "churn 1000" : "churn 20");
    std::set<std::string> epochs;
    QElapsedTimer timer;
    timer.start();
    int read = 0;
    while (timer.elapsed() < seconds * 1000 ||
           (epochs.size() < kLeastEpochs && timer.elapsed() < kPatienceSeconds * 1000)) {
      const char* file = read % 2 == 0 ? kModel : "jobs/a/ranks/0/model.safetensors";
      const bool by_dd = read % 4 < 2;
      const std::string bytes =
          by_dd
              ? Run(QStringLiteral("dd"), {QStringLiteral("if=") + mount.Path(file),
                                           QStringLiteral("bs=64k"), QStringLiteral("status=none")})
                    .toStdString()
              : Slurp(mount.Path(file));
      const std::string epoch = NumberAfter(bytes, "\"tessera.epoch\":\"");
      const std::string step = NumberAfter(bytes, "\"tessera.step\":\"");
      QVERIFY2(!epoch.empty(), file);
      QCOMPARE(test::Judge(bytes, JobAt(std::stoll(step), std::stoll(epoch)),
                           read % 2 == 0 ? std::nullopt : std::optional(0), true),
               std::string());
      epochs.insert(epoch);
      ++read;
    }
    qInfo("%d files of %zu epochs in %d s", read, epochs.size(), seconds);
    QVERIFY2(epochs.size() >= kLeastEpochs, qPrintable(QString::number(epochs.size())));
  }

  void aKilledServerIsNoticedAndItsMountIsCleaned() {
    {
      Mount mount(Dir());
      const int open = ::open(qPrintable(mount.Path(kModel)), O_RDONLY);
      QVERIFY(open >= 0);
      mount.Signal(SIGKILL);
      QVERIFY(mount.WaitGone());
      char byte = 0;
      QCOMPARE(::pread(open, &byte, 1, 0), ssize_t{-1});
      QCOMPARE(errno, ENOTCONN);
      ::close(open);
      QVERIFY(::open(qPrintable(mount.Path(kModel)), O_RDONLY) < 0);
      QCOMPARE(errno, ENOTCONN);
      QVERIFY(IsMounted());

      Mount next(Dir());
      QCOMPARE(next.first(), QByteArray("mounted again"));
      QCOMPARE(test::Judge(Slurp(next.Path(kModel)), JobAt(10), std::nullopt, true), std::string());
      next.Signal(SIGTERM);
      QCOMPARE(next.Line(), QByteArray("unmounted"));
      QVERIFY(next.WaitGone());
    }
    QVERIFY(!IsMounted());
  }

  void itUnmountsOnEveryWayOut_data() {
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGHUP") << SIGHUP;
    QTest::newRow("unmounted by somebody") << 0;
  }
  void itUnmountsOnEveryWayOut() {
    QFETCH(int, signal);
    Mount mount(Dir());
    const int open = signal != 0 ? ::open(qPrintable(mount.Path(kModel)), O_RDONLY) : -1;
    if (signal != 0) {
      mount.Signal(signal);
    } else {
      VERIFY_OK(agents::Unmount(Dir().toStdString(), false));
    }
    QCOMPARE(mount.Line(), QByteArray("unmounted"));
    QVERIFY(mount.WaitGone());
    QCOMPARE(mount.code(), 0);
    QVERIFY(!IsMounted());
    if (open < 0) return;
    char byte = 0;
    QCOMPARE(::pread(open, &byte, 1, 0), ssize_t{-1});  // an error without a wait
    ::close(open);
  }

  // Nothing that asks the server ends before the server goes on.
  void aStoppedServerIsUnmounted() {
    Mount mount(Dir());
    mount.Signal(SIGSTOP);
    const auto path = agents::MountPath(Dir().toStdString());
    VERIFY_OK(path);
    QCOMPARE(QString::fromStdString(*path).section(QLatin1Char('/'), -1), QStringLiteral("mount"));
    VERIFY_OK(agents::RemoveMount(*path));
    QVERIFY(!IsMounted());
    mount.Signal(SIGCONT);
    QVERIFY(mount.WaitGone());
  }

  void aStoppedServerIsNotDead() {
    Mount mount(Dir());
    mount.Signal(SIGSTOP);
    const auto removed = agents::RemoveStaleMounts(Dir().toStdString());
    VERIFY_OK(removed);
    QVERIFY(!*removed);
    mount.Signal(SIGCONT);
    QVERIFY(IsMounted());
  }

  void whatIsInUseIsNotUnmounted() {
    Mount mount(Dir());
    const int open = ::open(qPrintable(mount.Path(kModel)), O_RDONLY);
    VERIFY_ERROR(agents::Unmount(Dir().toStdString(), false),
                 ::geteuid() == 0 ? ErrorCode::kFailedPrecondition : ErrorCode::kUnavailable, "");
    ::close(open);
    mount.Signal(SIGTERM);
    QVERIFY(mount.WaitGone());
  }

  void foldersThatCannotBeMountedOnAreRefused() {
    {
      Mount first(Dir());
      Mount second(Dir());
      QVERIFY2(second.first().contains("is mounted already"), second.first().constData());
      QCOMPARE(Slurp(first.Path("jobs/a/step")), std::string("10\n"));
    }
    VERIFY_ERROR(agents::Unmount(Dir().toStdString(), false), ErrorCode::kNotFound,
                 "nothing of Tessera");
    QFile(folder_->filePath(QStringLiteral("mount/file"))).open(QIODevice::WriteOnly);
    Mount full(Dir());
    QVERIFY2(full.first().contains("is not empty"), full.first().constData());
    Mount none(folder_->filePath(QStringLiteral("none")));
    QVERIFY2(none.first().contains("no folder"), none.first().constData());
  }

  /// cp, cat and dd write files; the last one completes the hand-in.
  void filesAreHandedIn() {
    Mount mount(Dir());
    const QString copies = folder_->path();
    const QStringList files = copyOfRanks(mount);
    QCOMPARE(files.size(), 4);
    mount.Tell("step 7");
    const auto shell = [&](const QString& command) {
      int code = 0;
      Run(QStringLiteral("sh"), {QStringLiteral("-c"), command}, &code);
      return code;
    };
    const auto pair = [&](int i) {
      return QStringLiteral("'%1/%2' '%3.new'").arg(copies, files[i], inMount(mount, files[i]));
    };
    QCOMPARE(shell("cp " + pair(0)), 0);
    QCOMPARE(shell("cp -p " + pair(1)), 0);  // with times and mode
    const QString to = pair(2).section(u' ', 1);
    QCOMPARE(shell("cat " + pair(2).section(u' ', 0, 0) + " > " + to), 0);
    QCOMPARE(mount.Tell("taken"), QByteArray("0"));
    QCOMPARE(QFileInfo(inMount(mount, files[2]) + ".new").size(),
             QFileInfo(copies + '/' + files[2]).size());
    QVERIFY(shell("head -c 5000 " + pair(3).section(u' ', 0, 0) + " > " + copies + "/half && cp " +
                  copies + "/half " + pair(3).section(u' ', 1)) != 0);
    QVERIFY(!QFileInfo::exists(inMount(mount, files[3]) + ".new"));
    QCOMPARE(shell("dd status=none bs=1M if=" + pair(3).section(u' ', 0, 0) +
                   " of=" + pair(3).section(u' ', 1)),
             0);
    QCOMPARE(mount.Tell("taken"), QByteArray("1"));
    for (const QString& file : files) QVERIFY(!QFileInfo::exists(inMount(mount, file) + ".new"));
  }

  void pythonHandsIn() {
    const auto python = test::FindPython({QStringLiteral("safetensors")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    Mount mount(Dir());
    QCOMPARE(copyOfRanks(mount).size(), 4);
    mount.Tell("step 3");
    const QString wrong = test::RunScript(python, QStringLiteral("mount_hand_in.py"),
                                          {folder_->path(), mount.Path("jobs/a/ranks")});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QCOMPARE(mount.Tell("taken"), QByteArray("1"));
  }

  void nothingElseCanBeWritten() {
    Mount mount(Dir());
    QVERIFY(::open(qPrintable(mount.Path(kModel)), O_RDWR) < 0);
    QCOMPARE(errno, EROFS);
    QVERIFY(::open(qPrintable(mount.Path("new")), O_CREAT | O_WRONLY, 0644) < 0);
    QVERIFY(errno == EROFS || errno == EACCES);
    QVERIFY(::unlink(qPrintable(mount.Path("jobs/a/step"))) != 0);
  }

  void aFolderOfThousandsIsListed() {
    Mount mount(Dir(), QStringLiteral("dp=2048 on 256x8"));
    const QStringList names = QDir(mount.Path("jobs/a/ranks"))
                                  .entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Unsorted);
    QCOMPARE(names.size(), 2048);
    QCOMPARE(names.at(1000), QStringLiteral("1000"));
  }
};

TESSERA_TEST(FuseMountTest)
#include "fuse_mount_test.moc"
