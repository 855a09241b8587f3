// SPDX-License-Identifier: Apache-2.0
#include "engine/data/local_source.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/engine/data/data_files.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::LocalFiles;
namespace fs = std::filesystem;

class LocalSourceTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_folder;
  std::string path(const std::string& name) const {
    return m_folder->path().toStdString() + "/" + name;
  }
  static std::string Read(const engine::ByteSource& source, std::int64_t offset, std::size_t size) {
    std::vector<std::byte> bytes(size);
    const Status status = source.ReadAt(offset, bytes);
    return status ? test::AsText(bytes) : status.error().message;
  }

 private slots:
  void init() { m_folder = std::make_unique<QTemporaryDir>(); }

  void readsRanges() {
    test::WriteBytes(path("a"), "0123456789");
    const LocalFiles files;
    const auto source = files.Open(path("a"));
    QVERIFY(source.has_value());
    QCOMPARE((*source)->size_bytes(), std::int64_t{10});
    QCOMPARE((*source)->name(), path("a"));
    QCOMPARE(Read(**source, 3, 4), std::string("3456"));
    QCOMPARE(Read(**source, 10, 0), std::string());
  }

  void changesAreDataLossNamingFileAndOffset_data() {
    QTest::addColumn<int>("change");
    QTest::addColumn<QString>("what");
    QTest::newRow("shrank") << 0 << "the file shrank since it was opened, from 10 to 5 bytes";
    QTest::newRow("grew") << 1 << "the file grew since it was opened, from 10 to 12 bytes";
    QTest::newRow("other content") << 2 << "the file changed since it was opened";
    QTest::newRow("deleted") << 3 << "the file was deleted since it was opened";
  }
  void changesAreDataLossNamingFileAndOffset() {
    QFETCH(int, change);
    QFETCH(QString, what);
    test::WriteBytes(path("a"), "0123456789");
    const LocalFiles files;
    const auto source = *files.Open(path("a"));
    QCOMPARE(Read(*source, 2, 2), std::string("23"));
    if (change == 0) fs::resize_file(path("a"), 5);
    if (change == 1) test::WriteBytes(path("a"), "012345678901");
    if (change == 2) {
      test::WriteBytes(path("a"), "9876543210");
      // Coarse clocks: the change may fall into the tick of the first write.
      const timespec times[2] = {{1, 0}, {1, 0}};
      QCOMPARE(::utimensat(AT_FDCWD, path("a").c_str(), times, 0), 0);
    }
    if (change == 3) fs::remove(path("a"));
    std::vector<std::byte> out(2);
    const Status status = source->ReadAt(2, out);
    QVERIFY(!status);
    QCOMPARE(status.error().code, ErrorCode::kDataLoss);
    QCOMPARE(QString::fromStdString(status.error().message),
             QStringLiteral("data file '%1' at byte 2: %2")
                 .arg(QString::fromStdString(path("a")), what));
  }

  void replacedFileIsSeenWhenItIsOpenedAgain() {
    test::WriteBytes(path("a"), "0123456789");
    test::WriteBytes(path("b"), "9876543210");
    const LocalFiles files(1);
    const auto a = *files.Open(path("a"));
    const auto time = fs::last_write_time(path("a"));
    fs::rename(path("b"), path("a"));
    fs::last_write_time(path("a"), time);  // same size, same time
    test::WriteBytes(path("c"), "x");
    const auto c = *files.Open(path("c"));
    QCOMPARE(Read(*c, 0, 1), std::string("x"));  // closes the other
    std::vector<std::byte> out(2);
    QVERIFY(!a->ReadAt(0, out));
  }

  void versionFollowsTheTime() {
    test::WriteBytes(path("a"), "0123456789");
    const LocalFiles files;
    const std::string before = (*files.Open(path("a")))->version();
    QCOMPARE((*files.Open(path("a")))->version(), before);
    fs::last_write_time(path("a"), fs::last_write_time(path("a")) + std::chrono::nanoseconds(1000));
    QVERIFY((*files.Open(path("a")))->version() != before);
  }

  // More files than descriptors, from several threads.
  void thousandsOfFiles() {
    constexpr int kFiles = 2000;
    struct rlimit limit {};
    QCOMPARE(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 256;
    QCOMPARE(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    const LocalFiles files(64);
    std::vector<engine::ByteSourcePtr> sources;
    for (int i = 0; i < kFiles; ++i) {
      test::WriteBytes(path(std::to_string(i)), "file " + std::to_string(i));
      auto source = files.Open(path(std::to_string(i)));
      QVERIFY2(source.has_value(), source ? "" : source.error().ToString().c_str());
      sources.push_back(*source);
    }
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (int k = 0; k < kFiles; ++k) {
            const int i = (k * 7 + t * 501) % kFiles;
            const std::string text = "file " + std::to_string(i);
            if (Read(*sources[static_cast<std::size_t>(i)], 0, text.size()) != text) ++wrong;
          }
        });
      }
    }
    limit.rlim_cur = before;
    QCOMPARE(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    QCOMPARE(wrong.load(), 0);
  }

  void foldersAreListedInByteOrderWithoutWhatChanges() {
    for (const char* name : {"b/2", "b/10", "a", "Z", ".hidden", ".git/x", "__pycache__/y",
                             "site-packages/z", "dist-packages/z"}) {
      test::WriteBytes(path(name), "x");
    }
    fs::create_symlink(path("a"), path("link"));
    const auto names = LocalFiles().List(m_folder->path().toStdString());
    QVERIFY(names.has_value());
    QCOMPARE(*names, std::vector<std::string>({path("Z"), path("a"), path("b/10"), path("b/2")}));
    QCOMPARE(*LocalFiles().List(path("link")), std::vector<std::string>({path("link")}));
  }

  // Leaving it out would give ranks of unlike rights different data sets.
  void folderThatCannotBeReadIsAnError() {
    test::WriteBytes(path("closed/a"), "x");
    fs::permissions(m_folder->path().toStdString(), fs::perms::all);
    fs::permissions(path("closed"), fs::perms::none);
    constexpr uid_t kNobody = 65534;
    const uid_t before = ::geteuid();
    if (before == 0) QCOMPARE(::seteuid(kNobody), 0);  // root may read everything
    const auto names = LocalFiles().List(m_folder->path().toStdString());
    if (before == 0) QCOMPARE(::seteuid(before), 0);
    fs::permissions(path("closed"), fs::perms::all);
    QVERIFY(!names);
    QCOMPARE(names.error().message,
             "data path '" + path("closed") + "' cannot be read: Permission denied");
  }

  void whatIsNoFileIsRefused() {
    const LocalFiles files;
    QCOMPARE(files.Open(path("no")).error().message,
             "data path '" + path("no") + "' does not exist");
    QCOMPARE(files.Open(path("no")).error().code, ErrorCode::kNotFound);
    QCOMPARE(files.List(path("no")).error().code, ErrorCode::kNotFound);
    QCOMPARE(::mkfifo(path("fifo").c_str(), 0600), 0);
    QCOMPARE(files.Open(path("fifo")).error().message,
             "data path '" + path("fifo") + "' cannot be read: it is not a regular file");
    QVERIFY(!files.Open(m_folder->path().toStdString()));
    QVERIFY(!files.Knows("https://example.org/a"));
    QVERIFY(files.Knows("a:b"));
  }
};
TESSERA_TEST_APPLESS(LocalSourceTest)
#include "local_source_test.moc"
