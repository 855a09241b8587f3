// SPDX-License-Identifier: Apache-2.0
#include "agents/data/block_cache.h"

#include <sys/resource.h>

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "agents/data/block_file.h"
#include "engine/files/whole_file.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using agents::BlockCache;
using agents::BlockCacheOptions;
namespace fs = std::filesystem;

namespace {

/// Counts the bytes that are read from it. Switches make reads fail or wait.
class Counting final : public engine::ByteSource {
 public:
  Counting(std::string name, std::string bytes, std::string version = "1")
      : name_(std::move(name)), bytes_(std::move(bytes)), version_(std::move(version)) {}
  const std::string& name() const override { return name_; }
  std::int64_t size_bytes() const override { return std::ssize(bytes_); }
  std::string version() const override { return version_; }
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    ++reads;
    read_bytes += std::ssize(out);
    if (fails) return Unavailable("data file 'x' at byte 0: no network");
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return OkStatus();
  }
  mutable std::atomic<int> reads = 0;
  mutable std::atomic<std::int64_t> read_bytes = 0;
  std::atomic<bool> fails = false;
  std::atomic<int> delay_ms = 0;

 private:
  const std::string name_, bytes_, version_;
};

std::string SomeBytes(std::size_t size) {
  std::mt19937_64 rng(test::Seed());
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng());
  return bytes;
}

/// Limits the size of files as long as this object exists, as a full disk would.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

class BlockCacheTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_folder;
  std::string folder() const { return m_folder->path().toStdString() + "/blocks"; }
  static std::string Read(BlockCache& cache, const engine::ByteSource& source, std::size_t offset,
                          std::size_t size) {
    std::vector<std::byte> out(size);
    const Status status = cache.Read(source, static_cast<std::int64_t>(offset), out);
    return status ? test::AsText(out) : "error: " + status.error().message;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder())) found.push_back(entry.path());
    return found;
  }
  std::int64_t usedBytes() const {
    std::int64_t used = 0;
    for (const std::string& file : files()) used += static_cast<std::int64_t>(fs::file_size(file));
    return used;
  }

 private slots:
  void init() { m_folder = std::make_unique<QTemporaryDir>(); }

  void anyRangeIsRightAndEachBlockIsFetchedOnce() {
    const Counting source("x", SomeBytes(1000000));
    BlockCache cache({.folder = folder(), .block_bytes = 200000});
    std::mt19937_64 rng(test::Seed());
    const std::string bytes = SomeBytes(1000000);
    for (int i = 0; i < 300; ++i) {
      const std::size_t offset = rng() % bytes.size();
      const std::size_t size = rng() % std::min<std::size_t>(bytes.size() - offset + 1, 300000);
      QVERIFY(Read(cache, source, offset, size) == bytes.substr(offset, size));
    }
    QCOMPARE(source.reads.load(), 5);
    BlockCache other({.folder = folder(), .block_bytes = 200000});  // as another process
    QVERIFY(Read(other, source, 0, 1000000) == bytes);
    QCOMPARE(source.reads.load(), 5);
    const Counting newer("x", bytes, "2");
    QVERIFY(Read(other, newer, 0, 1000) == bytes.substr(0, 1000));
    QCOMPARE(newer.reads.load(), 1);
  }

  void damagedBlocksAreFetchedAgain() {
    std::mt19937_64 rng(test::Seed());
    const std::string bytes = SomeBytes(150000);
    for (int i = 0; i < 100; ++i) {
      const Counting source("x", bytes);
      BlockCache cache({.folder = folder(), .block_bytes = 150000});
      QVERIFY(Read(cache, source, 0, 150000) == bytes);
      QCOMPARE(files().size(), std::size_t{1});
      std::string block = *engine::ReadWholeFile(files()[0]);
      if (i % 2 == 0) block[rng() % block.size()] ^= static_cast<char>(1U << rng() % 8);
      if (i % 2 == 1) block.resize(rng() % block.size());
      test::WriteBytes(files()[0], block);
      const int before = source.reads;
      QVERIFY(Read(cache, source, 0, 150000) == bytes);
      QCOMPARE(source.reads.load(), before + 1);
      QVERIFY(Read(cache, source, 5, 10) == bytes.substr(5, 10));
      QCOMPARE(source.reads.load(), before + 1);
      fs::remove_all(folder());
    }
  }

  void limitIsKeptAndWhatWasUsedStays() {
    const std::string bytes = SomeBytes(4000000);
    const Counting source("x", bytes);
    BlockCache cache({.folder = folder(), .limit_bytes = 1000000, .block_bytes = 100000});
    Read(cache, source, 0, 100);
    const std::string first = files()[0];
    for (std::size_t block = 1; block < 40; ++block) {
      Read(cache, source, block * 100000, 100);
      // Times are set by hand: the clock of a file system may be coarse.
      for (const std::string& file : files()) {
        const auto now = fs::file_time_type::clock::now();
        fs::last_write_time(file, file == first ? now : now - std::chrono::hours(1));
      }
      QVERIFY2(usedBytes() <= 1000000 + 1000000 / 16 + 101000,
               qPrintable(QString::number(usedBytes())));
    }
    QVERIFY(fs::exists(first));
    QVERIFY(files().size() >= 8);
  }

  void useRenewsABlock() {
    const Counting source("x", SomeBytes(1000));
    BlockCache cache({.folder = folder(), .block_bytes = 1000});
    Read(cache, source, 0, 10);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(5);
    fs::last_write_time(files()[0], old);
    Read(cache, source, 0, 10);
    QVERIFY(fs::last_write_time(files()[0]) > old + std::chrono::hours(4));
  }

  void fullDiskMeansNoCacheAndOneWarning() {
    const std::string bytes = SomeBytes(1000000);
    const Counting source("x", bytes);
    std::vector<std::string> warnings;
    BlockCache cache({.folder = folder(),
                      .block_bytes = 100000,
                      .warn = [&](const std::string& line) { warnings.push_back(line); }});
    {
      const FullDisk full(50000);
      for (std::size_t block = 0; block < 10; ++block) {
        QVERIFY(Read(cache, source, block * 100000 + 7, 50) ==
                bytes.substr(block * 100000 + 7, 50));
      }
    }
    QCOMPARE(warnings.size(), std::size_t{1});
    QVERIFY2(warnings[0].find("data is read without the cache: ") == 0 &&
                 warnings[0].find(folder()) != std::string::npos,
             warnings[0].c_str());
    QVERIFY(files().empty());
    QCOMPARE(source.read_bytes.load(),
             std::int64_t{100000 + 9 * 50});  // only the requested bytes, no whole blocks
  }

  void errorsOfTheSourceGoThrough() {
    Counting source("x", SomeBytes(1000));
    BlockCache cache({.folder = folder(), .block_bytes = 1000});
    source.fails = true;
    QCOMPARE(Read(cache, source, 0, 10), std::string("error: data file 'x' at byte 0: no network"));
    source.fails = false;
    QCOMPARE(Read(cache, source, 0, 10), SomeBytes(1000).substr(0, 10));
  }

  void ofManyReadersOneFetches() {
    const std::string bytes = SomeBytes(300000);
    Counting source("x", bytes);
    source.delay_ms = 20;
    BlockCache cache({.folder = folder(), .block_bytes = 100000});
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] { wrong += Read(cache, source, 0, 300000) == bytes ? 0 : 1; });
      }
    }
    QCOMPARE(wrong.load(), 0);
    QCOMPARE(source.reads.load(), 3);
  }

  void leftoversOfKilledWritersGo() {
    fs::create_directories(folder());
    test::WriteBytes(folder() + "/x.block.0.new", "half");
    test::WriteBytes(folder() + "/y.block.0.new", "half");
    fs::last_write_time(folder() + "/x.block.0.new",
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
    const BlockCache cache({.folder = folder()});
    QVERIFY(!fs::exists(folder() + "/x.block.0.new"));
    QVERIFY(fs::exists(folder() + "/y.block.0.new"));  // perhaps still written
  }

  // Golden bytes: the layout of FORMAT.md.
  void layoutIsTheDocumentedOne() {
    fs::create_directories(folder());
    const std::string block(70000, 'b');
    QVERIFY(agents::WriteBlockFile(folder() + "/k.block", 0x1122, std::as_bytes(std::span(block)))
                .has_value());
    const std::string bytes = *engine::ReadWholeFile(folder() + "/k.block");
    QCOMPARE(bytes.size(), std::size_t{40 + 16 + 70000});
    QCOMPARE(bytes.substr(0, 8), std::string("TSRBLOCK"));
    QCOMPARE(bytes.substr(8, 8), test::Raw<std::uint64_t>(1));
    QCOMPARE(bytes.substr(16, 8), test::Raw<std::uint64_t>(0x1122));
    QCOMPARE(bytes.substr(24, 8), test::Raw<std::uint64_t>(70000));
    QCOMPARE(bytes.substr(56), block);
  }
};
TESSERA_TEST(BlockCacheTest)
#include "block_cache_test.moc"
