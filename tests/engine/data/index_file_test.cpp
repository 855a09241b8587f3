// SPDX-License-Identifier: Apache-2.0
#include "engine/data/index_file.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <thread>

#include "engine/data/local_source.h"
#include "engine/files/whole_file.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::IndexBuilder;
using engine::IndexOptions;
namespace fs = std::filesystem;

class IndexFileTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_folder;
  int m_scans = 0;

  std::string folder() const { return m_folder->path().toStdString() + "/cache"; }
  std::string data(int i) const { return m_folder->path().toStdString() + "/" + std::to_string(i); }
  std::vector<engine::ByteSourcePtr> sources() const {
    const engine::LocalFiles files;
    return {*files.Open(data(0)), *files.Open(data(1))};
  }
  /// Two entries in the first file, none in the second, three in the third.
  Result<engine::RecordIndexPtr> open(IndexOptions options) {
    const auto files = sources();
    return engine::OpenIndex(engine::DataFormat::kTar, 2, 3, files, options,
                             [this](IndexBuilder& builder) -> Status {
                               ++m_scans;
                               builder.BeginFile();
                               builder.Add({1, 2});
                               builder.Add({3, 4});
                               TESSERA_RETURN_IF_ERROR(builder.Passed(10));
                               builder.BeginFile();
                               builder.BeginFile();
                               for (std::uint64_t i = 0; i < 3; ++i) builder.Add({i + 5, 6});
                               return builder.Passed(5);
                             });
  }
  static void Check(const engine::RecordIndex& index) {
    QCOMPARE(index.num_entries(), std::int64_t{5});
    QCOMPARE(index.entry(1)[0], std::uint64_t{3});
    QCOMPARE(index.entry(4)[0], std::uint64_t{7});
    QCOMPARE(index.file_of(1), std::size_t{0});
    QCOMPARE(index.file_of(2), std::size_t{2});
    QCOMPARE(index.file_of(4), std::size_t{2});
    QCOMPARE(index.first_of(2), std::int64_t{2});
  }
  std::string kept() const {
    std::string found;
    for (const auto& entry : fs::directory_iterator(folder())) {
      if (!found.empty()) return "more than one";
      found = entry.path();
    }
    return found;
  }

 private slots:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_scans = 0;
    test::WriteBytes(data(0), std::string(10000, 'a'));
    test::WriteBytes(data(1), "12345");
  }

  void isBuiltOnceAndKept() {
    for (int i = 0; i < 3; ++i) {
      const auto index = open({.folder = folder()});
      QVERIFY2(index.has_value(), index ? "" : index.error().ToString().c_str());
      Check(**index);
      QCOMPARE(m_scans, 1);
    }
    const auto in_memory = open({});
    QCOMPARE(m_scans, 2);
    Check(**in_memory);
    QCOMPARE((*in_memory)->checksum(), (*open({.folder = folder()}))->checksum());
  }

  void contentInTheMiddleOfNothingButTheTimesIsSeen() {
    QVERIFY(open({.folder = folder()}).has_value());
    const auto time = fs::last_write_time(data(0));
    test::WriteBytes(data(0), std::string(10000, 'b'));
    fs::last_write_time(data(0), time);  // as a copy that keeps times
    QVERIFY(open({.folder = folder()}).has_value());
    QCOMPARE(m_scans, 2);
    test::WriteBytes(data(1), "123456");
    QVERIFY(open({.folder = folder()}).has_value());
    QCOMPARE(m_scans, 3);
  }

  // Golden bytes: the layout of FORMAT.md.
  void layoutIsTheDocumentedOne() {
    QVERIFY(open({.folder = folder()}).has_value());
    const std::string bytes = *engine::ReadWholeFile(kept());
    QCOMPARE(bytes.size(), std::size_t{64 + 8 * (4 + 10)});
    const auto word = [&](std::size_t i) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data() + 8 * i, 8);
      return value;
    };
    QCOMPARE(bytes.substr(0, 8), std::string("TSRINDEX"));
    QCOMPARE(word(1), std::uint64_t{1});  // version
    QCOMPARE(word(2), std::uint64_t{3});  // tar
    QCOMPARE(word(4), std::uint64_t{3});
    QCOMPARE(word(5), std::uint64_t{2});
    QCOMPARE(word(6), std::uint64_t{10});
    const std::vector<std::uint64_t> body = {0, 2, 2, 5, 1, 2, 3, 4, 5, 6, 6, 6, 7, 6};
    for (std::size_t i = 0; i < body.size(); ++i) QCOMPARE(word(8 + i), body[i]);
  }

  // Whatever the file in the cache contains, the index is correct.
  void damagedFilesAreBuiltAgain() {
    std::mt19937_64 rng(test::Seed());
    QVERIFY(open({.folder = folder()}).has_value());
    const std::string path = kept();
    const std::string good = *engine::ReadWholeFile(path);
    for (int i = 0; i < 300; ++i) {
      std::string bad = good;
      if (i % 3 == 0) bad.resize(rng() % good.size());
      if (i % 3 == 1) bad[rng() % good.size()] ^= static_cast<char>(1U << rng() % 8);
      if (i % 3 == 2) bad += std::string(rng() % 64 + 1, '\0');
      fs::remove(path);  // what is mapped is never written into
      test::WriteBytes(path, bad);
      m_scans = 0;
      const auto index = open({.folder = folder()});
      QVERIFY(index.has_value());
      Check(**index);
      QCOMPARE(m_scans, 1);
      QCOMPARE(*engine::ReadWholeFile(path), good);
    }
  }

  void progressAndCancel() {
    std::vector<std::int64_t> told;
    QVERIFY(open({.progress = [&](std::int64_t done, std::int64_t total) {
              QCOMPARE(total, std::int64_t{10005});
              told.push_back(done);
            }}).has_value());
    QVERIFY(std::is_sorted(told.begin(), told.end()));
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled = open({.folder = folder(), .cancel = stop.get_token()});
    QVERIFY(!cancelled);
    QCOMPARE(cancelled.error().code, ErrorCode::kCancelled);
    QVERIFY(!fs::exists(folder()) || fs::is_empty(folder()));
  }

  void whatKilledWritersLeftIsRemoved() {
    const std::string old = folder() + "/tar-1.index.77.new",
                      fresh = folder() + "/tar-2.index.78.new";
    test::WriteBytes(old, "half");
    test::WriteBytes(fresh, "half");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    QVERIFY(open({.folder = folder()}).has_value());
    QVERIFY(!fs::exists(old));
    QVERIFY(fs::exists(fresh));  // its writer may be at work
  }

  void sampledBlocksCountAsProgress() {
    int told = 0;
    QVERIFY(open({.folder = folder(),
                  .progress = [&](std::int64_t done, std::int64_t) { told += done == 0 ? 1 : 0; }})
                .has_value());
    QCOMPARE(told, 4);  // the first and the last block of two files
  }

  void folderThatCannotBeWrittenIsAWarning() {
    test::WriteBytes(folder(), "a file stands where the folder should");
    std::string warning;
    const auto index =
        open({.folder = folder(), .warn = [&](const std::string& line) { warning = line; }});
    QVERIFY(index.has_value());
    Check(**index);
    QVERIFY2(warning.find(folder()) != std::string::npos, warning.c_str());
  }

  void manyAtOnce() {
    std::atomic<int> wrong = 0;
    const auto files = sources();
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
          const auto index =
              engine::OpenIndex(engine::DataFormat::kTar, 1, 2, files, {.folder = folder()},
                                [](IndexBuilder& builder) -> Status {
                                  builder.BeginFile();
                                  for (std::uint64_t i = 0; i < 10000; ++i) builder.Add({i});
                                  builder.BeginFile();
                                  return OkStatus();
                                });
          if (!index || (*index)->num_entries() != 10000 || (*index)->entry(9999)[0] != 9999) {
            ++wrong;
          }
        });
      }
    }
    QCOMPARE(wrong.load(), 0);
    QVERIFY(kept() != "more than one");
  }
};
TESSERA_TEST_APPLESS(IndexFileTest)
#include "index_file_test.moc"
