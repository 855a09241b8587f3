// SPDX-License-Identifier: Apache-2.0
#include "agents/data/read_ahead.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "tests/engine/data/data_files.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using agents::ReadAhead;
using namespace std::chrono_literals;

namespace {

std::string SomeBytes(std::size_t size) {
  std::mt19937_64 rng(test::Seed());
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng());
  return bytes;
}

/// Records the reads and their results.
class Far final : public engine::ByteSource {
 public:
  explicit Far(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  std::int64_t size_bytes() const override { return std::ssize(bytes_); }
  std::string version() const override { return "1"; }
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    {
      const std::lock_guard lock(mutex_);
      asked_.emplace_back(offset, std::ssize(out));
    }
    if (offset >= fails_from) return Unavailable("gone at " + std::to_string(offset));
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return OkStatus();
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::atomic<std::int64_t> fails_from = std::int64_t{1} << 60;

 private:
  const std::string name_ = "far", bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::int64_t, std::int64_t>> asked_;
};

class OneFile final : public engine::SourceOpener {
 public:
  explicit OneFile(engine::ByteSourcePtr source) : source_(std::move(source)) {}
  bool Knows(const std::string&) const override { return true; }
  Result<engine::ByteSourcePtr> Open(const std::string&) const override { return source_; }
  Result<std::vector<std::string>> List(const std::string& name) const override {
    return std::vector{name};
  }

 private:
  const engine::ByteSourcePtr source_;
};

struct Stack {
  explicit Stack(std::string bytes) : far(std::make_shared<Far>(std::move(bytes))) {
    const auto ahead = std::make_shared<ReadAhead>(agents::ReadAheadOptions{.block_bytes = 1000});
    source = *agents::AheadFiles(std::make_shared<OneFile>(far), ahead).Open("x");
  }
  std::string Read(std::size_t offset, std::size_t size) const {
    std::vector<std::byte> out(size);
    const Status status = source->ReadAt(static_cast<std::int64_t>(offset), out);
    return status ? test::AsText(out) : status.error().message;
  }
  std::shared_ptr<Far> far;
  engine::ByteSourcePtr source;
};

}  // namespace

class ReadAheadTest : public QObject {
  Q_OBJECT
 private slots:
  void sequentialReadsAreFetchedAhead() {
    const std::string bytes = SomeBytes(20000);
    const Stack stack(bytes);
    QVERIFY(stack.Read(0, 100) == bytes.substr(0, 100));
    // The next blocks arrive without a request.
    const auto has = [&](std::int64_t offset) {
      return std::ranges::count(stack.far->asked(),
                                std::pair<std::int64_t, std::int64_t>{offset, 1000}) > 0;
    };
    QTRY_VERIFY(has(1000) && has(2000) && has(3000));
    for (std::size_t offset = 100; offset < 20000; offset += 100) {
      QVERIFY(stack.Read(offset, 100) == bytes.substr(offset, 100));
    }
    // Each block is read once, by the reader or ahead of it.
    QCOMPARE(stack.far->asked().size(), std::size_t{20});
  }

  void randomReadsFetchNothingMore() {
    const std::string bytes = SomeBytes(20000);
    const Stack stack(bytes);
    for (const std::size_t offset : {5000U, 300U, 9000U, 12U, 15000U}) {
      QVERIFY(stack.Read(offset, 10) == bytes.substr(offset, 10));
    }
    // Blocks read ahead would arrive before the blocks of the sequential reads that follow.
    for (std::size_t offset = 0; offset < 4000; offset += 100) {
      QVERIFY(stack.Read(offset, 100) == bytes.substr(offset, 100));
    }
    const auto asked = stack.far->asked();
    QVERIFY(asked.size() > 5);
    for (std::size_t i = 0; i < 5; ++i) QCOMPARE(asked[i].second, std::int64_t{10});
    QCOMPARE(asked[5].first, std::int64_t{0});
  }

  void errorsAreMetByTheReadThatNeedsThem() {
    const std::string bytes = SomeBytes(5000);
    const Stack stack(bytes);
    stack.far->fails_from = 2000;
    QVERIFY(stack.Read(0, 1500) == bytes.substr(0, 1500));
    QVERIFY(stack.Read(1500, 500) == bytes.substr(1500, 500));
    QCOMPARE(stack.Read(2000, 10), std::string("gone at 2000"));
    stack.far->fails_from = 1 << 20;
    QVERIFY(stack.Read(2000, 10) == bytes.substr(2000, 10));
  }

  void manyReadersOfManyFiles() {
    const std::string bytes = SomeBytes(30000);
    const auto ahead = std::make_shared<ReadAhead>(agents::ReadAheadOptions{.block_bytes = 700});
    const agents::AheadFiles files(std::make_shared<OneFile>(std::make_shared<Far>(bytes)), ahead);
    const auto shared = *files.Open("x");
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 6; ++t) {
        threads.emplace_back([&, t] {
          const auto source = t % 2 == 0 ? shared : *files.Open("x");
          std::mt19937_64 rng(test::Seed() + t);
          std::size_t offset = 0;
          for (int i = 0; i < 500; ++i) {
            if (rng() % 20 == 0) offset = rng() % bytes.size();
            const std::size_t size = std::min<std::size_t>(rng() % 3000, bytes.size() - offset);
            std::vector<std::byte> out(size);
            if (!source->ReadAt(static_cast<std::int64_t>(offset), out) ||
                test::AsText(out) != bytes.substr(offset, size)) {
              ++wrong;
            }
            offset = (offset + size) % bytes.size();
          }
        });
      }
    }
    QCOMPARE(wrong.load(), 0);
  }
};
TESSERA_TEST(ReadAheadTest)
#include "read_ahead_test.moc"
