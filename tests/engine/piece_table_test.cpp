// SPDX-License-Identifier: Apache-2.0
#include "engine/store/piece_table.h"

#include <unistd.h>

#include <QTest>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/copy/checksum.h"
#include "tests/engine/cells.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;
using ptc::Box;
using Dims = std::vector<ptc::Interval>;

namespace {

constexpr std::int64_t kCapacity = std::int64_t{4} << 20;
constexpr auto kFirst = static_cast<std::int64_t>(kArenaDataOffset);
// Offsets of the fields of a table in FORMAT.md.
constexpr std::size_t kPayloadSizeAt = 16, kChecksumAt = 24, kPayloadAt = 32;

Box MakeBox(const Dims& dims) { return *Box::Make(dims); }

Arena NewArena() {
  const auto fd = Arena::CreateMemfd("test", kCapacity);
  auto arena = Arena::Map(*fd, true);
  close(*fd);
  return std::move(*arena);
}

PieceEntry State(int tensor, const Box& box, std::int64_t offset) {
  return {tensor, box, PieceEntry::kState, offset, box.num_elements() * 4};
}

/// Disjoint entries with random boxes; tensor i has rank i % 5.
std::vector<PieceEntry> AnyEntries(std::mt19937_64& rng) {
  std::vector<PieceEntry> entries;
  std::int64_t offset = kFirst;
  const int tensors = static_cast<int>(rng() % 20);
  for (int t = 0; t < tensors; ++t) {
    const Box box = test::AnyBox(rng, t % 5, 6);
    entries.push_back(State(t, box, offset));
    offset += entries.back().size_bytes + static_cast<std::int64_t>(rng() % 3) * 4;
    if (rng() % 2 == 0) {
      entries.push_back(State(t, box, offset));
      entries.back().kind = PieceEntry::kGradient;
      offset += entries.back().size_bytes;
    }
  }
  std::shuffle(entries.begin(), entries.end(), rng);
  return entries;
}

std::uint64_t WordAt(std::span<const std::byte> slot, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, slot.data() + offset, sizeof(word));
  return word;
}

void SetWord(std::span<std::byte> slot, std::size_t offset, std::uint64_t word) {
  std::memcpy(slot.data() + offset, &word, sizeof(word));
}

/// Recomputes the checksum.
void FixChecksum(std::span<std::byte> slot) {
  const std::size_t size = WordAt(slot, kPayloadSizeAt);
  SetWord(slot, kChecksumAt, Checksum(slot.subspan(kPayloadAt, size)));
}

}  // namespace

class PieceTableTest : public QObject {
  Q_OBJECT
 private slots:
  void readsWhatWasWritten() {
    std::mt19937_64 rng(test::Seed());
    Arena arena = NewArena();
    for (int i = 0; i < 200; ++i) {
      const auto epoch = static_cast<std::int64_t>(rng() % 1000);
      const auto table =
          PieceTable::Make(epoch, rng(), "job-" + std::to_string(i), AnyEntries(rng), kCapacity);
      VERIFY_OK(table);
      const auto written = table->Write(arena, PieceTable::SlotOf(epoch));
      VERIFY_OK(written);
      QCOMPARE(arena.header().layout_hash[epoch & 1].load(), table->layout_hash());
      const auto read = PieceTable::Read(arena, PieceTable::SlotOf(epoch));
      VERIFY_OK(read);
      QVERIFY(*read == *table);
    }
  }

  void theEpochOfTheHeaderSelectsTheTable() {
    Arena arena = NewArena();
    VERIFY_ERROR(PieceTable::ReadCurrent(arena), ErrorCode::kNotFound, "slot 0 is empty");
    const auto old = PieceTable::Make(4, 44, "j", {State(0, MakeBox({{0, 4}}), kFirst)}, kCapacity);
    const auto next = PieceTable::Make(5, 55, "j", {State(0, MakeBox({{2, 4}}), kFirst + 8)},
                                       kCapacity, kCapacity / 2);
    VERIFY_OK(old);
    VERIFY_OK(next);
    QVERIFY(old->Write(arena, 0));
    FlipTo(arena, 4);
    QVERIFY(next->Write(arena, 1));
    QVERIFY(*PieceTable::ReadCurrent(arena) == *old);
    FlipTo(arena, 5);
    QVERIFY(*PieceTable::ReadCurrent(arena) == *next);
    // Slot 0 still holds epoch 4.
    FlipTo(arena, 6);
    VERIFY_ERROR(PieceTable::ReadCurrent(arena), ErrorCode::kDataLoss, "epoch 4");
  }

  void findsPiecesByBoxAndByContent() {
    const Box upper = MakeBox({{0, 4}, {0, 8}}), lower = MakeBox({{4, 8}, {0, 8}});
    PieceEntry gradient = State(1, upper, kFirst + 512);
    gradient.kind = PieceEntry::kGradient;
    const auto table = PieceTable::Make(
        1, 2, "j", {gradient, State(1, lower, kFirst + 128), State(1, upper, kFirst)}, kCapacity);
    VERIFY_OK(table);
    QCOMPARE(table->used_bytes(), 3 * 128);
    QCOMPARE(table->Find(PieceEntry::kState, 1, lower)->offset_bytes, kFirst + 128);
    QCOMPARE(table->Find(PieceEntry::kGradient, 1, upper)->offset_bytes, kFirst + 512);
    QVERIFY(table->Find(PieceEntry::kGradient, 1, lower) == nullptr);
    QVERIFY(table->Find(PieceEntry::kState, 0, upper) == nullptr);
    QVERIFY(table->Find(PieceEntry::kState, 2, upper) == nullptr);
    QCOMPARE(table->FindContaining(1, MakeBox({{5, 6}, {1, 2}}))->offset_bytes, kFirst + 128);
    QVERIFY(table->FindContaining(1, MakeBox({{3, 5}, {1, 2}})) == nullptr);
    QVERIFY(table->FindContaining(0, MakeBox({{3, 4}, {1, 2}})) == nullptr);
  }

  void brokenInvariantsAreNamed() {
    const Box box = MakeBox({{0, 16}});
    const auto make = [](std::vector<PieceEntry> entries) {
      return PieceTable::Make(1, 2, "j", std::move(entries), kCapacity);
    };
    VERIFY_ERROR(make({State(0, box, kFirst), State(1, box, kFirst + 60)}),
                 ErrorCode::kInvalidArgument, "overlap");
    VERIFY_ERROR(make({State(0, box, kFirst), State(0, box, kFirst + 64)}),
                 ErrorCode::kInvalidArgument, "piece of tensor 0 [0:16] appears twice");
    VERIFY_ERROR(make({State(0, box, kFirst - 4)}), ErrorCode::kInvalidArgument, "outside");
    VERIFY_ERROR(make({State(0, box, kCapacity - 60)}), ErrorCode::kInvalidArgument, "outside");
    PieceEntry odd = State(0, box, kFirst);
    odd.size_bytes = 48;
    VERIFY_ERROR(make({odd}), ErrorCode::kInvalidArgument, "48 bytes are not a size");
    VERIFY_ERROR(PieceTable::Make(-1, 2, "j", {}, kCapacity), ErrorCode::kInvalidArgument,
                 "epoch -1");
  }

  // As many entries as a device has for a model with 180,000 tensors.
  void tablesOfManyPiecesAreWrittenAndRead() {
    constexpr std::int64_t kLarge = std::int64_t{24} << 20;
    const auto fd = Arena::CreateMemfd("large", kLarge);
    VERIFY_OK(fd);
    auto arena = Arena::Map(*fd, true);
    close(*fd);
    VERIFY_OK(arena);
    std::vector<PieceEntry> entries;
    for (int t = 0; t < 250'000; ++t) {
      entries.push_back(State(t, MakeBox({{0, 1}, {0, 1}}), kFirst + 4 * t));
    }
    const std::int64_t bytes = PieceTable::BytesFor(entries);
    QVERIFY(bytes >= 250'000 * 56 && bytes < 250'000 * 56 + 256);
    const auto table = PieceTable::Make(1, 1, "j", std::move(entries), kLarge);
    VERIFY_OK(table);
    QCOMPARE(table->extent().end, kLarge);
    QCOMPARE(table->extent().size(), bytes);
    const auto written = table->Write(*arena, 1);
    VERIFY_OK(written);
    const auto read = PieceTable::Read(*arena, 1);
    VERIFY_OK(read);
    QVERIFY(*read == *table);
  }

  void aTableOutsideOfItsArenaOrOverItsPiecesIsAnError() {
    Arena arena = NewArena();
    const std::vector<PieceEntry> one{State(0, MakeBox({{0, 16}}), kFirst + 256)};
    const auto make = [&](std::int64_t capacity, std::optional<std::int64_t> offset) {
      return PieceTable::Make(0, 1, "j", one, capacity, offset);
    };
    const std::int64_t bytes = PieceTable::BytesFor(one);
    QCOMPARE(bytes, 192);  // 32 + 24 + 64 + 24 + 16, rounded up
    VERIFY_OK(make(kCapacity, kFirst + 256 - bytes));
    VERIFY_OK(make(kCapacity, kFirst + 320));
    VERIFY_ERROR(make(kCapacity, kFirst + 128), ErrorCode::kInvalidArgument, "overlap at 4352");
    VERIFY_ERROR(make(kCapacity, kFirst - 64), ErrorCode::kInvalidArgument, "outside");
    VERIFY_ERROR(make(kCapacity, kCapacity - 64), ErrorCode::kInvalidArgument, "outside");
    VERIFY_ERROR(make(kCapacity, kFirst + 4), ErrorCode::kInvalidArgument, "outside");
    VERIFY_ERROR(make(kFirst, std::nullopt), ErrorCode::kInvalidArgument, "outside");
    const auto foreign = make(2 * kCapacity, std::nullopt);  // made for a larger arena
    VERIFY_OK(foreign);
    VERIFY_ERROR(foreign->Write(arena, 0), ErrorCode::kInvalidArgument, "outside of an arena");
    VERIFY_ERROR(PieceTable::Read(arena, 0), ErrorCode::kNotFound, "empty");
    arena.header().table_offset[0].store(kCapacity);
    VERIFY_ERROR(PieceTable::Read(arena, 0), ErrorCode::kDataLoss, "names offset 4194304");
    VERIFY_ERROR(PieceTable::Make(0, 1, std::string(65, 'x'), {}, kCapacity),
                 ErrorCode::kInvalidArgument, "65 bytes");
  }

  // A device can leave a job however full its arena is.
  void aTableWithoutEntriesLiesInTheControlPage() {
    Arena arena = NewArena();
    const auto full = PieceTable::Make(
        2, 1, "j", {State(0, MakeBox({{0, (kCapacity - kFirst - 192) / 4}}), kFirst)}, kCapacity);
    VERIFY_OK(full);
    QVERIFY(full->Write(arena, 0));
    FlipTo(arena, 2);
    const auto empty = PieceTable::Make(3, 1, std::string(64, 'x'), {}, kCapacity);
    VERIFY_OK(empty);
    QCOMPARE(empty->extent().size(), 0);
    QVERIFY(empty->Write(arena, 1));
    QVERIFY(*PieceTable::ReadCurrent(arena) == *full);
    FlipTo(arena, 3);
    QVERIFY(*PieceTable::ReadCurrent(arena) == *empty);
  }

  void everyFlippedBitIsNoticed() {
    std::mt19937_64 rng(test::Seed() + 1);
    Arena arena = NewArena();
    const auto table = PieceTable::Make(2, 3, "job", AnyEntries(rng), kCapacity);
    VERIFY_OK(table);
    QVERIFY(table->Write(arena, 0));
    const auto slot = arena.table_slot(0).bytes;
    const std::size_t size = kPayloadAt + WordAt(slot, kPayloadSizeAt);
    for (int i = 0; i < 2000; ++i) {
      const std::size_t at = rng() % size;
      const std::byte saved = slot[at];
      slot[at] ^= static_cast<std::byte>(1U << (rng() % 8));
      const auto read = PieceTable::Read(arena, 0);
      slot[at] = saved;
      QVERIFY(!read);
      QCOMPARE(read.error().code, ErrorCode::kDataLoss);
    }
    const auto read = PieceTable::Read(arena, 0);
    VERIFY_OK(read);
  }

  // With a recomputed checksum the decoder sees the damage. It may find a table that is valid by
  // chance, but it must return.
  void damageBehindAGoodChecksumNeverCrashes() {
    std::mt19937_64 rng(test::Seed() + 2);
    Arena arena = NewArena();
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto table = PieceTable::Make(2, 3, "job", AnyEntries(rng), kCapacity, kCapacity / 2);
      VERIFY_OK(table);
      QVERIFY(table->Write(arena, 0));
      const auto slot = arena.table_slot(0).bytes;
      const std::size_t size = WordAt(slot, kPayloadSizeAt);
      switch (rng() % 3) {
        case 0:
          SetWord(slot, kPayloadSizeAt, rng() % (size + 64));
          break;
        case 1:
          SetWord(slot, kPayloadAt + rng() % (size - 8), rng());
          break;
        default:
          slot[kPayloadAt + rng() % size] = static_cast<std::byte>(rng() & 0xff);
      }
      FixChecksum(slot);
      const auto read = PieceTable::Read(arena, 0);
      if (!read) {
        QCOMPARE(read.error().code, ErrorCode::kDataLoss);
        ++refused;
      }
    }
    QVERIFY(refused > 500);
  }

  // The worked example of FORMAT.md.
  void bytesAreThoseOfTheFormat() {
    Arena arena = NewArena();
    const auto table = PieceTable::Make(3, 0x1122334455667788, "gpt",
                                        {State(5, MakeBox({{2, 4}, {0, 8}}), kFirst)}, kCapacity);
    VERIFY_OK(table);
    QVERIFY(table->Write(arena, 1));
    // clang-format off
    const QByteArray expected = QByteArray::fromHex(
        "5453504945434531" "0100000000000000"  // magic, version
        "5300000000000000" "a0e5910a4f933e5c"  // payload bytes, checksum
        "0300000000000000" "8877665544332211"  // epoch, layout hash
        "03000000" "01000000" "677074"         // name bytes, entries, name
        "05000000" "0000" "0200"               // tensor, kind, rank
        "0010000000000000" "4000000000000000"  // offset, bytes
        "0200000000000000" "0400000000000000"  // [2:4,
        "0000000000000000" "0800000000000000"  // 0:8]
    );
    // clang-format on
    const auto slot = arena.table_slot(1).bytes;
    const QByteArray written(reinterpret_cast<const char*>(slot.data()), expected.size());
    QCOMPARE(written.toHex(), expected.toHex());
  }
};
TESSERA_TEST_APPLESS(PieceTableTest)
#include "piece_table_test.moc"
