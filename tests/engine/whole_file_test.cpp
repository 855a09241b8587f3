// SPDX-License-Identifier: Apache-2.0
// Files as a whole: every size, files that cannot be read or written, processes that go away.
#include "engine/files/whole_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include "engine/files/process_stat.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::ReadWholeFile;
using engine::WriteWholeFile;

class WholeFileTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QVERIFY(folder_->isValid());
  }

  void whatIsWrittenIsRead_data() {
    QTest::addColumn<int>("bytes");
    for (const int bytes : {0, 1, 4095, 4096, 4097, 8192, 1'000'003})
      QTest::addRow("%d", bytes) << bytes;
  }
  void whatIsWrittenIsRead() {
    QFETCH(int, bytes);
    std::string text(static_cast<std::size_t>(bytes), '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 251);
    QVERIFY(WriteWholeFile(Path("file"), "before", 0600));
    QVERIFY(WriteWholeFile(Path("file"), text, 0600));
    const auto read = ReadWholeFile(Path("file"));
    QVERIFY(read);
    QVERIFY(*read == text);
    QCOMPARE(Names(), QStringList{"file"});
  }

  void theModeIsThatOfTheNewFile() {
    const mode_t before = ::umask(022);
    QVERIFY(WriteWholeFile(Path("file"), "open", 0666));
    QCOMPARE(ModeOf("file"), 0644);
    QVERIFY(WriteWholeFile(Path("file"), "secret", 0600));
    QCOMPARE(ModeOf("file"), 0600);
    ::umask(before);
  }

  void aLinkIsReplacedAndWhatItNamesStays() {
    QVERIFY(WriteWholeFile(Path("target"), "kept", 0600));
    QCOMPARE(::symlink("target", Path("file").c_str()), 0);
    QVERIFY(WriteWholeFile(Path("file"), "new", 0600));
    QCOMPARE(*ReadWholeFile(Path("file")), std::string("new"));
    QCOMPARE(*ReadWholeFile(Path("target")), std::string("kept"));
  }

  // Writers on two hosts that share a folder may have the same process and thread numbers, as two
  // writes of one thread have.
  void everyWriteHasATemporaryOfItsOwn() {
    const int watch = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    QVERIFY(watch >= 0);
    QVERIFY(::inotify_add_watch(watch, folder_->path().toLocal8Bit().constData(), IN_CREATE) >= 0);
    for (int i = 0; i < 2; ++i) QVERIFY(WriteWholeFile(Path("file"), "whole", 0600));
    alignas(inotify_event) std::array<char, 4096> events{};
    const ssize_t size = ::read(watch, events.data(), events.size());
    ::close(watch);
    QStringList created;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      created << QString::fromLocal8Bit(event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    QCOMPARE(created.size(), 2);
    for (const QString& name : created) {
      QVERIFY2(name.startsWith("file.") && name.endsWith(".new"), qPrintable(name));
    }
    QVERIFY2(created[0] != created[1], qPrintable(created[0]));
    QCOMPARE(Names(), QStringList{"file"});
  }

  void unreadableFilesAreErrors_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* path, ErrorCode code, const char* says) {
      QTest::newRow(name) << QString::fromLatin1(path) << static_cast<int>(code)
                          << QString::fromLatin1(says);
    };
    row("missing", "/nowhere/at/all", ErrorCode::kNotFound, "No such file or directory");
    row("below a file", "/proc/self/stat/x", ErrorCode::kNotFound, "Not a directory");
    row("folder", "/proc", ErrorCode::kUnavailable, "Is a directory");
    row("own memory at 0", "/proc/self/mem", ErrorCode::kUnavailable, "Input/output error");
    row("empty name", "", ErrorCode::kNotFound, "No such file or directory");
  }
  void unreadableFilesAreErrors() {
    QFETCH(QString, path);
    QFETCH(QString, says);
    const auto read = ReadWholeFile(path.toStdString());
    QVERIFY(!read);
    QTEST(static_cast<int>(read.error().code), "code");
    QCOMPARE(QString::fromStdString(read.error().message),
             QStringLiteral("cannot read '%1': %2").arg(path, says));
  }

  void aFileWithoutEndHasALimit() {
    const auto read = ReadWholeFile("/dev/zero", 100'000);
    QVERIFY(!read);
    QCOMPARE(read.error(),
             ResourceExhausted("cannot read '/dev/zero': it has more than 100000 bytes"));
  }

  // /proc opens, and then there is nobody to read about.
  void aProcessThatGoesBetweenOpenAndRead() {
    int hold[2];
    QCOMPARE(::pipe2(hold, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      char byte = 0;
      ::close(hold[1]);
      static_cast<void>(::read(hold[0], &byte, 1));
      ::_exit(0);
    }
    QVERIFY(child > 0);
    ::close(hold[0]);
    const int open = ::open(("/proc/" + std::to_string(child) + "/stat").c_str(), O_RDONLY);
    QVERIFY(open >= 0);
    ::close(hold[1]);
    QCOMPARE(::waitpid(child, nullptr, 0), child);
    const auto read = ReadWholeFile("/proc/self/fd/" + std::to_string(open));
    ::close(open);
    QVERIFY(!read);
    QVERIFY2(read.error().code == ErrorCode::kNotFound, read.error().message.c_str());
    const auto stat = engine::ReadProcessStat(child);
    QVERIFY(!stat);
    QCOMPARE(stat.error().code, ErrorCode::kNotFound);
  }

  void processesThatComeAndGoAreReadOrAreNot() {
    std::atomic<pid_t> now = 0;
    std::atomic<bool> done = false;
    std::atomic<int> reads = 0;
    std::atomic<int> wrong = 0;
    {
      std::jthread reader([&] {
        while (!done) {
          const pid_t pid = now;
          if (pid == 0) continue;
          const auto stat = engine::ReadProcessStat(pid);
          ++reads;
          // A process that ends meanwhile is gone; it is never a file with other fields.
          if (!stat && stat.error().code != ErrorCode::kNotFound) ++wrong;
          if (stat && stat->start == 0) ++wrong;
        }
      });
      for (int i = 0; i < 200; ++i) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        now = child;
        const int before = reads;
        while (reads == before) std::this_thread::yield();
        ::waitpid(child, nullptr, 0);
      }
      done = true;
    }
    QVERIFY(reads >= 200);
    QCOMPARE(wrong.load(), 0);
  }

  void theStatOfThisProcess() {
    const auto mine = engine::ReadProcessStat(::getpid());
    QVERIFY(mine);
    QCOMPARE(mine->state, 'R');
    QCOMPARE(mine->parent, ::getppid());
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    siginfo_t info{};
    QCOMPARE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    const auto zombie = engine::ReadProcessStat(child);
    ::waitpid(child, nullptr, 0);
    QVERIFY(zombie);
    QCOMPARE(zombie->state, 'Z');
    QCOMPARE(zombie->parent, ::getpid());
    QVERIFY(zombie->start >= mine->start);
  }

  void aFailedWriteLeavesTheOldFile_data() {
    QTest::addColumn<QString>("path");
    QTest::newRow("no such folder") << "nowhere/file";
    QTest::newRow("below a file") << "old/file";
    QTest::newRow("a folder stands there") << "folder";
  }
  void aFailedWriteLeavesTheOldFile() {
    QFETCH(QString, path);
    QVERIFY(WriteWholeFile(Path("old"), "old", 0600));
    QVERIFY(QDir(folder_->path()).mkdir("folder"));
    const Status written = WriteWholeFile(Path(path.toStdString()), "new", 0600);
    QVERIFY(!written);
    QCOMPARE(written.error().code, ErrorCode::kUnavailable);
    QVERIFY2(written.error().message.starts_with("cannot write '" + Path(path.toStdString())),
             written.error().message.c_str());
    QCOMPARE(*ReadWholeFile(Path("old")), std::string("old"));
    QCOMPARE(Names(), (QStringList{"folder", "old"}));
  }

  void aFolderThatMayNotBeWrittenTo() {
    if (::geteuid() == 0) QSKIP("the superuser may write everywhere");
    QVERIFY(WriteWholeFile(Path("file"), "old", 0600));
    ::chmod(folder_->path().toLocal8Bit().constData(), 0500);
    const Status written = WriteWholeFile(Path("file"), "new", 0600);
    ::chmod(folder_->path().toLocal8Bit().constData(), 0700);
    QVERIFY(!written);
    QCOMPARE(written.error(),
             Unavailable("cannot write '" + Path("file") + "': Permission denied"));
    QCOMPARE(*ReadWholeFile(Path("file")), std::string("old"));
  }

  // The limit on the size of a file acts like a full disk: some bytes are written, then no more.
  void aWriteThatEndsHalfwayLeavesTheOldFile() {
    QVERIFY(WriteWholeFile(Path("file"), "old", 0600));
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{10'000, before.rlim_max};
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Status written = WriteWholeFile(Path("file"), std::string(20'000, 'x'), 0600);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, SIG_DFL);
    QVERIFY(!written);
    QCOMPARE(written.error(), Unavailable("cannot write '" + Path("file") + "': File too large"));
    QCOMPARE(*ReadWholeFile(Path("file")), std::string("old"));
    QCOMPARE(Names(), QStringList{"file"});
  }

  // Readers beside writers see one of the texts, never a part and never nothing.
  void writersAtOnceLeaveOneOfTheTexts() {
    QVERIFY(WriteWholeFile(Path("file"), std::string(5000, 'a'), 0600));
    std::atomic<int> failures = 0;
    {
      std::vector<std::jthread> writers;
      for (int writer = 0; writer < 4; ++writer)
        writers.emplace_back([&, writer] {
          const std::string text(5000, static_cast<char>('a' + writer));
          for (int i = 0; i < 20; ++i)
            if (!WriteWholeFile(Path("file"), text, 0600)) ++failures;
        });
      for (int i = 0; i < 400; ++i) {
        const auto text = ReadWholeFile(Path("file"));
        if (!text || text->size() != 5000 ||
            text->find_first_not_of(text->front()) != std::string::npos)
          ++failures;
      }
    }
    QCOMPARE(failures.load(), 0);
    QCOMPARE(Names(), QStringList{"file"});
  }

 private:
  std::string Path(const std::string& name) const {
    return folder_->path().toStdString() + "/" + name;
  }
  QStringList Names() const {
    return QDir(folder_->path())
        .entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::System | QDir::Hidden);
  }
  int ModeOf(const std::string& name) const {
    struct stat info {};
    return ::stat(Path(name).c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 0777) : -1;
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

TESSERA_TEST(WholeFileTest)
#include "whole_file_test.moc"
