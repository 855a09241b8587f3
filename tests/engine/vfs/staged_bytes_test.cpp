// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/staged_bytes.h"

#include <sys/mman.h>

#include <QtTest>
#include <algorithm>
#include <vector>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine::vfs;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::size_t kPage = 4096;

/// The number of whole pages of a range that have memory.
std::size_t Resident(std::span<const std::byte> room) {
  const auto address = reinterpret_cast<std::uintptr_t>(room.data());
  const std::uintptr_t begin = (address + kPage - 1) / kPage * kPage;
  const std::size_t count = (address + room.size() - begin) / kPage;
  std::vector<unsigned char> pages(count);
  if (::mincore(reinterpret_cast<void*>(begin), count * kPage, pages.data()) != 0) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](auto page) { return page & 1; }));
}

}  // namespace

class StagedBytesTest : public QObject {
  Q_OBJECT
  std::shared_ptr<StagingBudget> m_budget = std::make_shared<StagingBudget>(64 * kMiB);

  std::unique_ptr<StagedBytes> Make(std::int64_t limit) {
    auto made = StagedBytes::Make(m_budget, limit);
    return made ? std::move(*made) : nullptr;
  }

 private slots:
  /// A sequential writer finds memory under every byte from 5 MiB on, and never more than twice what
  /// it wrote.
  void room_ahead_is_before_the_writer() {
    constexpr std::int64_t kLimit = 21 * kMiB + 12345;
    const auto bytes = Make(kLimit);
    QVERIFY(bytes);
    const std::vector<std::byte> block(512 * 1024, std::byte{7});
    std::int64_t ready = 0;  // no byte before it lacks memory
    for (std::int64_t at = 0; at < kLimit;) {
      const auto count = std::min(std::ssize(block), kLimit - at);
      VERIFY_OK(bytes->Write(at, std::span(block).first(static_cast<std::size_t>(count))));
      at += count;
      if (at > 5 * kMiB) QVERIFY2(ready >= at, qPrintable(QString("at %1").arg(at)));
      const auto room = bytes->RoomAhead();
      if (at < 4 * kMiB) QVERIFY(room.empty());
      ready = std::max(ready, at);
      if (room.empty()) continue;
      QCOMPARE(room.data() - bytes->bytes().data(), std::ptrdiff_t{ready});
      ready += std::ssize(room);
      QVERIFY(ready <= std::min(kLimit, 2 * at + 2 * kMiB));
      StagedBytes::Touch(room);
      QVERIFY(Resident(room) >= room.size() / kPage - 1);
    }
    QCOMPARE(ready, kLimit);
    QVERIFY(bytes->RoomAhead().empty());
    QVERIFY(std::ranges::all_of(bytes->bytes(), [](std::byte b) { return b == std::byte{7}; }));
  }

  void what_was_cut_off_is_zeros_again() {
    const auto bytes = Make(12 * kMiB);
    QVERIFY(bytes);
    const std::vector<std::byte> block(6 * kMiB, std::byte{7});
    VERIFY_OK(bytes->Write(0, block));
    StagedBytes::Touch(bytes->RoomAhead());
    VERIFY_OK(bytes->Resize(0));
    QVERIFY(bytes->RoomAhead().empty());
    VERIFY_OK(bytes->Write(8 * kMiB, std::span(block).first(1)));
    const auto all = bytes->bytes();
    QVERIFY(std::ranges::all_of(all.first(8 * kMiB), [](std::byte b) { return b == std::byte{}; }));
    QCOMPARE(all.back(), std::byte{7});
  }

  void refusals_name_the_limit_and_write_nothing() {
    const auto bytes = Make(80 * kMiB);
    QVERIFY(bytes);
    const std::vector<std::byte> block(65 * kMiB);
    VERIFY_ERROR(bytes->Write(0, block), ErrorCode::kResourceExhausted, "67108864");
    QCOMPARE(bytes->size(), std::int64_t{0});
    VERIFY_ERROR(bytes->Write(81 * kMiB, std::span(block).first(1)), ErrorCode::kResourceExhausted,
                 "83886080");
    VERIFY_ERROR(bytes->Resize(81 * kMiB), ErrorCode::kResourceExhausted, "83886080");
    VERIFY_ERROR(bytes->Resize(-1), ErrorCode::kInvalidArgument, "-1");
  }
};

TESSERA_TEST_APPLESS(StagedBytesTest)
#include "staged_bytes_test.moc"
