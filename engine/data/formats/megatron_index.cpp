// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/megatron_index.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "engine/data/data_error.h"
#include "engine/data/formats/record_limits.h"
#include "engine/data/scan_reader.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

using Bytes = std::span<const std::byte>;
constexpr std::int64_t kHeaderBytes = 34;

struct MegatronIndexHeader {
  TokenType type = TokenType::kI32;
  std::int64_t num_sequences = 0;
  std::int64_t num_document_ends = 0;

  std::int64_t pointers() const { return kHeaderBytes + 4 * num_sequences; }
  std::int64_t documents() const { return pointers() + 8 * num_sequences; }
  std::int64_t end() const { return documents() + 8 * num_document_ends; }
};

std::optional<TokenType> TypeOfCode(std::uint8_t code) {
  switch (code) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 8:
      return TokenType{code};
    default:
      return std::nullopt;
  }
}

Result<MegatronIndexHeader> ReadHeader(const ByteSource& idx) {
  constexpr std::string_view kIndexMagic("MMIDIDX\0\0", 9);
  std::array<std::byte, kHeaderBytes> bytes{};
  TESSERA_RETURN_IF_ERROR(ReadChecked(idx, 0, bytes));
  if (std::memcmp(bytes.data(), kIndexMagic.data(), kIndexMagic.size()) != 0) {
    return BadData(idx, 0, "not an index of Megatron: it does not begin with MMIDIDX");
  }
  const auto version = Load<std::uint64_t>(bytes, 9);
  if (version != 1) return BadData(idx, 9, fmt::format("version {}, known is 1", version));
  const auto code = Load<std::uint8_t>(bytes, 17);
  const auto type = TypeOfCode(code);
  if (!type) return BadData(idx, 17, fmt::format("dtype code {} holds no token ids", code));
  const auto sequences = Load<std::uint64_t>(bytes, 18);
  const auto ends = Load<std::uint64_t>(bytes, 26);
  const auto left = static_cast<std::uint64_t>(idx.size_bytes() - kHeaderBytes);
  if (sequences > left / 12 || ends > (left - 12 * sequences) / 8) {
    return BadData(idx, 18,
                   fmt::format("{} sequences and {} document ends do not fit into {} bytes",
                               sequences, ends, idx.size_bytes()));
  }
  const MegatronIndexHeader header{*type, static_cast<std::int64_t>(sequences),
                                   static_cast<std::int64_t>(ends)};
  const std::int64_t rest = idx.size_bytes() - header.end();
  if (rest == 0 || rest == header.num_sequences) return header;
  return BadData(idx, header.end(), fmt::format("{} bytes are left over", rest));
}

/// Documents must be ranges of the sequences, one after the other, and hold them all.
Status CheckDocuments(const ByteSource& idx, const MegatronIndexHeader& header) {
  ScanReader reader(idx);
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < header.num_document_ends; ++i) {
    const std::int64_t at = header.documents() + 8 * i;
    TESSERA_TRY(const Bytes bytes, reader.At(at, 8));
    const auto end = Load<std::int64_t>(bytes);
    if (end < last || end > header.num_sequences || (i == 0 && end != 0)) {
      return BadData(idx, at,
                     fmt::format("document end {} is {}, allowed are {} to {}", i, end, last,
                                 i == 0 ? 0 : header.num_sequences));
    }
    last = end;
  }
  if (last == header.num_sequences) return OkStatus();
  return BadData(idx, header.documents(),
                 fmt::format("documents hold {} of {} sequences", last, header.num_sequences));
}

void AddRun(IndexBuilder& builder, const TokenRun& run, TokenType type) {
  if (run.num_tokens == 0) return;
  builder.Add({static_cast<std::uint64_t>(run.first_token),
               static_cast<std::uint64_t>(run.begin_bytes),
               static_cast<std::uint64_t>(run.num_tokens), static_cast<std::uint64_t>(type)});
}

}  // namespace

std::int64_t SizeOf(TokenType type) {
  switch (type) {
    case TokenType::kU8:
    case TokenType::kI8:
      return 1;
    case TokenType::kI16:
    case TokenType::kU16:
      return 2;
    case TokenType::kI32:
      return 4;
    case TokenType::kI64:
      return 8;
  }
  CheckFailed(__FILE__, __LINE__, "a known token type");
}

Result<TokenType> ScanMegatronIndex(const MegatronPair& pair, IndexBuilder& builder,
                                    std::int64_t& first_token) {
  const ByteSource& idx = *pair.idx;
  TESSERA_TRY(const MegatronIndexHeader header, ReadHeader(idx));
  TESSERA_RETURN_IF_ERROR(CheckDocuments(idx, header));
  builder.BeginFile();
  ScanReader lengths(idx), pointers(idx);
  const std::int64_t item = SizeOf(header.type);
  TokenRun run{.first_token = first_token};
  for (std::int64_t i = 0; i < header.num_sequences; ++i) {
    const std::int64_t length_at = kHeaderBytes + 4 * i, pointer_at = header.pointers() + 8 * i;
    TESSERA_TRY(const Bytes length_bytes, lengths.At(length_at, 4));
    TESSERA_TRY(const Bytes pointer_bytes, pointers.At(pointer_at, 8));
    const auto length = Load<std::int32_t>(length_bytes);
    const auto begin = Load<std::int64_t>(pointer_bytes);
    if (length < 0)
      return BadData(idx, length_at, fmt::format("sequence {} has length {}", i, length));
    const std::int64_t bytes = length * item;
    if (begin < 0 || begin > pair.bin->size_bytes() || bytes > pair.bin->size_bytes() - begin) {
      return BadData(idx, pointer_at,
                     fmt::format("sequence {} is {} bytes at {} of '{}', which has {}", i, bytes,
                                 begin, pair.bin->name(), pair.bin->size_bytes()));
    }
    if (length == 0) continue;
    if (run.num_tokens > 0 && begin == run.begin_bytes + run.num_tokens * item) {
      run.num_tokens += length;
    } else {
      AddRun(builder, run, header.type);
      run = {run.first_token + run.num_tokens, begin, length};
    }
    // Sequences may overlap, so only this check bounds the sum.
    if (run.num_tokens > std::int64_t{1} << 60 || run.first_token > std::int64_t{1} << 60) {
      return BadData(idx, length_at, "more than 2^60 tokens");
    }
    if (i % 4096 == 0) TESSERA_RETURN_IF_ERROR(builder.Passed(0));
  }
  AddRun(builder, run, header.type);
  first_token = run.first_token + run.num_tokens;
  TESSERA_RETURN_IF_ERROR(builder.Passed(idx.size_bytes() + pair.bin->size_bytes()));
  return header.type;
}

}  // namespace tessera::engine
