// SPDX-License-Identifier: Apache-2.0
#include "engine/store/piece_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "engine/copy/checksum.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "tables are little-endian in memory");

constexpr std::uint64_t kTableMagic = 0x3145434549505354ULL;  // "TSPIECE1" in memory order
constexpr std::uint64_t kTableVersion = 1;

/// Precedes the payload.
struct TableHeader {
  std::uint64_t magic = kTableMagic;
  std::uint64_t version = kTableVersion;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;
};
/// Epoch, layout hash, bytes of the name, number of entries.
constexpr std::size_t kPayloadHeadBytes = 24;
/// An entry of rank 0. Bounds the number of entries that a payload can claim.
constexpr std::size_t kMinEntryBytes = 24;
constexpr std::size_t kEntryDimBytes = 16;
static_assert(sizeof(TableHeader) + kPayloadHeadBytes + PieceTable::kMaxJobBytes <=
              kEmptyTableBytes);
static_assert(kEmptyTableOffset + 2 * kEmptyTableBytes <= kArenaHeaderBytes);

auto Key(const PieceEntry& entry) { return std::tie(entry.kind, entry.tensor, entry.box); }

std::string Describe(const PieceEntry& entry) {
  return fmt::format("{} of tensor {} {}", entry.kind == PieceEntry::kState ? "piece" : "gradient",
                     entry.tensor, ptc::ToString(entry.box));
}

/// Whether the size is that of the box's elements in some type.
bool SizeFits(const PieceEntry& entry) {
  const std::int64_t elements = entry.box.num_elements();
  if (entry.size_bytes <= 0 || entry.size_bytes % elements != 0) return false;
  const std::int64_t element = entry.size_bytes / elements;
  if (entry.kind == PieceEntry::kGradient) return element == 4;
  return element == 1 || element == 2 || element == 4 || element == 8;
}

class Encoder {
 public:
  template <typename T>
  void Put(T value) {
    static_assert(std::is_integral_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  void PutText(std::string_view text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), first, first + text.size());
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A read past the end returns nullopt.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  std::optional<T> Get() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  std::optional<std::string> GetText(std::size_t size) {
    if (bytes_.size() < size) return std::nullopt;
    std::string text(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

std::optional<PieceEntry> DecodeEntry(Decoder& decoder) {
  const auto tensor = decoder.Get<std::uint32_t>();
  const auto kind = decoder.Get<std::uint16_t>();
  const auto rank = decoder.Get<std::uint16_t>();
  const auto offset = decoder.Get<std::int64_t>();
  const auto size = decoder.Get<std::int64_t>();
  if (!tensor || !kind || !rank || !offset || !size) return std::nullopt;
  if (*tensor > std::uint32_t{std::numeric_limits<std::int32_t>::max()}) return std::nullopt;
  if (*kind > PieceEntry::kGradient || *rank > ptc::kMaxRank) return std::nullopt;
  std::array<ptc::Interval, ptc::kMaxRank> dims;
  for (std::size_t d = 0; d < *rank; ++d) {
    const auto begin = decoder.Get<std::int64_t>();
    const auto end = decoder.Get<std::int64_t>();
    if (!begin || !end) return std::nullopt;
    dims[d] = {*begin, *end};
  }
  const auto box = ptc::Box::Make(std::span(dims).first(*rank));
  if (!box) return std::nullopt;
  return PieceEntry{static_cast<int>(*tensor), *box, static_cast<PieceEntry::Kind>(*kind), *offset,
                    *size};
}

}  // namespace

std::int64_t PieceTable::BytesFor(std::span<const PieceEntry> entries) {
  std::int64_t dims = 0;
  for (const PieceEntry& entry : entries) dims += entry.box.rank();
  return BytesFor(std::ssize(entries), dims);
}

std::int64_t PieceTable::BytesFor(std::int64_t num_entries, std::int64_t num_dims) {
  if (num_entries == 0) return 0;
  constexpr auto kHead =
      static_cast<std::int64_t>(sizeof(TableHeader) + kPayloadHeadBytes + kMaxJobBytes);
  return RoundUpToPiece(kHead + num_entries * static_cast<std::int64_t>(kMinEntryBytes) +
                        num_dims * static_cast<std::int64_t>(kEntryDimBytes));
}

Result<PieceTable> PieceTable::Make(std::int64_t epoch, std::uint64_t layout_hash, std::string job,
                                    std::vector<PieceEntry> entries, std::int64_t capacity,
                                    std::optional<std::int64_t> offset) {
  if (epoch < 0) return InvalidArgument(fmt::format("piece table: epoch {} is negative", epoch));
  if (job.size() > kMaxJobBytes) {
    return InvalidArgument(fmt::format("piece table: the name of the job has {} bytes, at most {}",
                                       job.size(), kMaxJobBytes));
  }
  const std::int64_t own_bytes = BytesFor(entries);
  constexpr auto kAlignment = static_cast<std::int64_t>(kPieceAlignment);
  if (own_bytes == 0) {
    offset = static_cast<std::int64_t>(kEmptyTableOffset + (epoch & 1) * kEmptyTableBytes);
  } else if (!offset) {
    offset = (capacity - own_bytes) / kAlignment * kAlignment;
  }
  if (own_bytes > 0 &&
      (*offset < static_cast<std::int64_t>(kArenaDataOffset) || *offset % kAlignment != 0 ||
       *offset > capacity || own_bytes > capacity - *offset)) {
    return InvalidArgument(fmt::format("piece table: its {} bytes at {} are outside of {}..{}",
                                       own_bytes, *offset, kArenaDataOffset, capacity));
  }
  for (const PieceEntry& entry : entries) {
    if (entry.tensor < 0 || !SizeFits(entry)) {
      return InvalidArgument(fmt::format("piece table: {} bytes are not a size of {}",
                                         entry.size_bytes, Describe(entry)));
    }
    const auto first = static_cast<std::int64_t>(kArenaDataOffset);
    if (entry.offset_bytes < first || entry.offset_bytes > capacity ||
        entry.size_bytes > capacity - entry.offset_bytes) {
      return InvalidArgument(fmt::format("piece table: {} at {} with {} bytes is outside of {}..{}",
                                         Describe(entry), entry.offset_bytes, entry.size_bytes,
                                         first, capacity));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const PieceEntry& a, const PieceEntry& b) {
    return a.offset_bytes < b.offset_bytes;
  });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].offset_bytes < entries[i - 1].offset_bytes + entries[i - 1].size_bytes) {
      return InvalidArgument(fmt::format("piece table: {} and {} overlap at {}",
                                         Describe(entries[i - 1]), Describe(entries[i]),
                                         entries[i].offset_bytes));
    }
  }
  for (const PieceEntry& entry : entries) {
    if (entry.offset_bytes < *offset + own_bytes &&
        *offset < entry.offset_bytes + entry.size_bytes) {
      return InvalidArgument(fmt::format("piece table: {} and the table overlap at {}",
                                         Describe(entry), entry.offset_bytes));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const PieceEntry& a, const PieceEntry& b) { return Key(a) < Key(b); });
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(),
                         [](const PieceEntry& a, const PieceEntry& b) { return Key(a) == Key(b); });
  if (twice != entries.end()) {
    return InvalidArgument(fmt::format("piece table: {} appears twice", Describe(*twice)));
  }
  PieceTable table;
  table.epoch_ = epoch;
  table.layout_hash_ = layout_hash;
  table.job_ = std::move(job);
  entries.shrink_to_fit();
  for (const PieceEntry& entry : entries) table.used_bytes_ += entry.size_bytes;
  table.entries_ = std::make_shared<const std::vector<PieceEntry>>(std::move(entries));
  table.offset_ = *offset;
  return table;
}

const PieceEntry* PieceTable::Find(PieceEntry::Kind kind, int tensor, const ptc::Box& box) const {
  const auto key = std::tie(kind, tensor, box);
  const auto at =
      std::lower_bound(entries_->begin(), entries_->end(), key,
                       [](const PieceEntry& entry, const auto& k) { return Key(entry) < k; });
  return at != entries_->end() && Key(*at) == key ? &*at : nullptr;
}

const PieceEntry* PieceTable::FindContaining(int tensor, const ptc::Box& box,
                                             PieceEntry::Kind kind) const {
  auto at = std::lower_bound(entries_->begin(), entries_->end(), std::tie(kind, tensor),
                             [](const PieceEntry& entry, const auto& k) {
                               return std::tie(entry.kind, entry.tensor) < k;
                             });
  for (; at != entries_->end() && at->kind == kind && at->tensor == tensor; ++at) {
    if (Contains(at->box, box)) return &*at;
  }
  return nullptr;
}

Status PieceTable::Write(Arena& arena, int slot) const {
  TESSERA_CHECK(arena.writable() && slot == SlotOf(epoch_));
  Encoder payload;
  payload.Put(epoch_);
  payload.Put(layout_hash_);
  payload.Put(static_cast<std::uint32_t>(job_.size()));
  payload.Put(static_cast<std::uint32_t>(entries_->size()));
  payload.PutText(job_);
  for (const PieceEntry& entry : *entries_) {
    payload.Put(static_cast<std::uint32_t>(entry.tensor));
    payload.Put(static_cast<std::uint16_t>(entry.kind));
    payload.Put(static_cast<std::uint16_t>(entry.box.rank()));
    payload.Put(entry.offset_bytes);
    payload.Put(entry.size_bytes);
    for (int d = 0; d < entry.box.rank(); ++d) {
      payload.Put(entry.box[d].begin);
      payload.Put(entry.box[d].end);
    }
  }
  const std::vector<std::byte>& bytes = payload.bytes();
  const auto end = offset_ + static_cast<std::int64_t>(sizeof(TableHeader) + bytes.size());
  if (end > arena.capacity()) {
    return InvalidArgument(fmt::format("piece table: {}..{} is outside of an arena of {} bytes",
                                       offset_, end, arena.capacity()));
  }
  const ArenaBytes room = arena.From(offset_);
  if (room.bytes.size() < sizeof(TableHeader) + bytes.size()) {
    return ResourceExhausted(fmt::format("piece table: {} bytes at {} cannot be mapped",
                                         sizeof(TableHeader) + bytes.size(), offset_));
  }
  TableHeader header;
  header.payload_bytes = bytes.size();
  header.payload_checksum = Checksum(bytes);
  std::byte* const target = room.bytes.data();
  std::memcpy(target + sizeof(TableHeader), bytes.data(), bytes.size());
  std::memcpy(target, &header, sizeof(TableHeader));
  ArenaHeader& words = arena.header();
  words.layout_hash[slot].store(layout_hash_);
  words.table_offset[slot].store(static_cast<std::uint64_t>(offset_), std::memory_order_release);
  return OkStatus();
}

Result<PieceTable> PieceTable::Read(const Arena& arena, int slot) {
  const std::uint64_t offset = arena.header().table_offset[slot].load(std::memory_order_acquire);
  if (offset == 0) return NotFound(fmt::format("piece table: slot {} is empty", slot));
  const ArenaBytes window = arena.table_slot(slot);
  const std::span<const std::byte> source = window.bytes;
  if (source.size() < sizeof(TableHeader)) {
    return DataLoss(fmt::format("piece table: slot {} names offset {} of an arena of {} bytes",
                                slot, offset, arena.capacity()));
  }
  TableHeader header;
  std::memcpy(&header, source.data(), sizeof(TableHeader));
  if (header.magic != kTableMagic || header.version != kTableVersion) {
    return DataLoss(
        fmt::format("piece table: slot {} has magic {:016x} version {}, {:016x} version"
                    " {} expected",
                    slot, header.magic, header.version, kTableMagic, kTableVersion));
  }
  if (header.payload_bytes > source.size() - sizeof(TableHeader)) {
    return DataLoss(fmt::format("piece table: slot {} claims {} bytes, {} are left in the arena",
                                slot, header.payload_bytes, source.size() - sizeof(TableHeader)));
  }
  // A copy, so that the bytes that were checked are the ones that are decoded.
  const auto first = source.begin() + sizeof(TableHeader);
  const std::vector<std::byte> payload(first,
                                       first + static_cast<std::ptrdiff_t>(header.payload_bytes));
  if (const auto sum = Checksum(payload); sum != header.payload_checksum) {
    return DataLoss(fmt::format("piece table: slot {} has checksum {:016x}, {:016x} expected", slot,
                                sum, header.payload_checksum));
  }

  const auto malformed = [slot](std::string_view what) {
    return DataLoss(fmt::format("piece table: slot {}: {}", slot, what));
  };
  Decoder decoder(payload);
  const auto epoch = decoder.Get<std::int64_t>();
  const auto layout_hash = decoder.Get<std::uint64_t>();
  const auto name_bytes = decoder.Get<std::uint32_t>();
  const auto count = decoder.Get<std::uint32_t>();
  if (!epoch || !layout_hash || !name_bytes || !count) return malformed("cut short");
  auto job = decoder.GetText(*name_bytes);
  if (!job || *count > decoder.left() / kMinEntryBytes) return malformed("cut short");
  if (SlotOf(*epoch) != slot) return malformed(fmt::format("epoch {} belongs elsewhere", *epoch));
  std::vector<PieceEntry> entries;
  entries.reserve(*count);
  for (std::uint32_t i = 0; i < *count; ++i) {
    auto entry = DecodeEntry(decoder);
    if (!entry) return malformed(fmt::format("entry {} of {} is malformed", i, *count));
    entries.push_back(*entry);
  }
  if (decoder.left() != 0) return malformed(fmt::format("{} bytes too many", decoder.left()));
  auto table = Make(*epoch, *layout_hash, std::move(*job), std::move(entries), arena.capacity(),
                    static_cast<std::int64_t>(offset));
  if (!table) return malformed(table.error().message);
  return table;
}

Result<PieceTable> PieceTable::ReadCurrent(const Arena& arena) {
  const auto epoch =
      static_cast<std::int64_t>(arena.header().epoch.load(std::memory_order_acquire));
  TESSERA_TRY(auto table, Read(arena, SlotOf(epoch)));
  if (table.epoch() != epoch) {
    return DataLoss(
        fmt::format("piece table: epoch {} in the slot of epoch {}", table.epoch(), epoch));
  }
  return table;
}

void FlipTo(Arena& arena, std::int64_t epoch) {
  TESSERA_CHECK(arena.writable() && epoch >= 0);
  arena.header().epoch.store(static_cast<std::uint64_t>(epoch), std::memory_order_release);
}

}  // namespace tessera::engine
