// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/megatron.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/data/data_error.h"
#include "engine/data/formats/megatron_index.h"
#include "engine/data/formats/record_limits.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

/// Reads token ids from bytes.
/// \return the first number that is not a token id, or nullopt
template <typename Token>
std::optional<std::size_t> Convert(std::span<const std::byte> bytes, std::span<std::int32_t> out) {
  bool all_good = true;  // no branch in the loop
  const auto is_good = [](Token token) {
    if constexpr (sizeof(Token) == 8) {
      return token >= 0 && token <= std::numeric_limits<std::int32_t>::max();
    } else {
      return std::is_unsigned_v<Token> || token >= 0;
    }
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto token = Load<Token>(bytes, i * sizeof(Token));
    all_good &= is_good(token);
    out[i] = static_cast<std::int32_t>(token);
  }
  if (all_good) return std::nullopt;
  std::size_t i = 0;
  while (is_good(Load<Token>(bytes, i * sizeof(Token)))) ++i;
  return i;
}

std::optional<std::size_t> ConvertAs(TokenType type, std::span<const std::byte> bytes,
                                     std::span<std::int32_t> out) {
  switch (type) {
    case TokenType::kU8:
      return Convert<std::uint8_t>(bytes, out);
    case TokenType::kI8:
      return Convert<std::int8_t>(bytes, out);
    case TokenType::kI16:
      return Convert<std::int16_t>(bytes, out);
    case TokenType::kU16:
      return Convert<std::uint16_t>(bytes, out);
    case TokenType::kI32:
      return Convert<std::int32_t>(bytes, out);
    case TokenType::kI64:
      return Convert<std::int64_t>(bytes, out);
  }
  CheckFailed(__FILE__, __LINE__, "a known token type");
}

class MegatronDataset final : public Dataset {
 public:
  MegatronDataset(std::vector<MegatronPair> pairs, std::int64_t sequence, RecordIndexPtr index,
                  TokenType type)
      : pairs_(std::move(pairs)), sequence_(sequence), index_(std::move(index)), type_(type) {
    const TokenRun last = Run(index_->num_entries() - 1);
    num_tokens_ = last.first_token + last.num_tokens;
  }

  DataFormat format() const override { return DataFormat::kMegatron; }
  std::int64_t num_tokens() const { return num_tokens_; }
  std::int64_t sequence() const override { return sequence_; }
  std::int64_t num_samples() const override { return (num_tokens_ - 1) / sequence_; }
  std::uint64_t fingerprint() const override {
    return RecordsFingerprint(format(), sequence_, *index_);
  }

  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override {
    TESSERA_CHECK(static_cast<std::int64_t>(out.size()) == sequence_ + 1);
    TESSERA_TRY(const std::vector<std::byte> window, ReadRecord(sample));
    const auto bad = ConvertAs(type_, window, out);
    if (!bad) return OkStatus();
    const TokenLocation place = LocationOf(sample * sequence_ + static_cast<std::int64_t>(*bad));
    return BadData(*pairs_[place.pair].bin, place.offset,
                   "a token id is negative or above 2^31 - 1");
  }

  Result<std::vector<std::byte>> ReadRecord(std::int64_t sample) const override {
    TESSERA_CHECK(0 <= sample && sample < num_samples());
    const std::int64_t item = SizeOf(type_);
    std::vector<std::byte> window(static_cast<std::size_t>((sequence_ + 1) * item));
    std::int64_t token = sample * sequence_;
    for (std::span<std::byte> rest = window; !rest.empty();) {
      const TokenLocation place = LocationOf(token);
      const std::int64_t count =
          std::min(place.tokens_left, static_cast<std::int64_t>(rest.size()) / item);
      const ByteSource& bin = *pairs_[place.pair].bin;
      if (count < 1)
        return BadData(bin, place.offset, fmt::format("token {} lies in no run", token));
      const auto part = rest.first(static_cast<std::size_t>(count * item));
      TESSERA_RETURN_IF_ERROR(ReadChecked(bin, place.offset, part));
      rest = rest.subspan(part.size());
      token += count;
    }
    return window;
  }

  std::int64_t RecordBytes(std::int64_t /*sample*/) const override {
    return (sequence_ + 1) * SizeOf(type_);
  }
  std::optional<TokenType> token_type() const override { return type_; }

  std::string Describe(std::int64_t sample) const override {
    const TokenLocation place = LocationOf(sample * sequence_);
    return fmt::format("{} token {} at byte {}", pairs_[place.pair].bin->name(), sample * sequence_,
                       place.offset);
  }

 private:
  struct TokenLocation {
    std::size_t pair = 0;
    std::int64_t offset = 0;
    std::int64_t tokens_left = 0;  // of the run
  };
  TokenRun Run(std::int64_t i) const {
    const auto entry = index_->entry(i);
    return {static_cast<std::int64_t>(entry[0]), static_cast<std::int64_t>(entry[1]),
            static_cast<std::int64_t>(entry[2])};
  }
  TokenLocation LocationOf(std::int64_t token) const {
    // The last run that begins at or before the token.
    std::int64_t at = 0, after = index_->num_entries();
    while (after - at > 1) {
      const std::int64_t middle = at + (after - at) / 2;
      (Run(middle).first_token <= token ? at : after) = middle;
    }
    const TokenRun run = Run(at);
    const std::int64_t skipped = token - run.first_token;
    return {index_->file_of(at), run.begin_bytes + skipped * SizeOf(type_),
            run.num_tokens - skipped};
  }

  const std::vector<MegatronPair> pairs_;
  const std::int64_t sequence_;
  const RecordIndexPtr index_;
  const TokenType type_;
  std::int64_t num_tokens_ = 0;
};

Status ScanPairs(const std::vector<MegatronPair>& pairs, IndexBuilder& builder) {
  std::int64_t first_token = 0;
  std::optional<TokenType> type;
  for (const MegatronPair& pair : pairs) {
    TESSERA_TRY(const TokenType found, ScanMegatronIndex(pair, builder, first_token));
    if (type && *type != found) {
      return InvalidArgument(
          fmt::format("'{}' has dtype code {} and '{}' {}: give such files weights of their own",
                      pairs.front().idx->name(), static_cast<int>(*type), pair.idx->name(),
                      static_cast<int>(found)));
    }
    type = found;
  }
  return OkStatus();
}

}  // namespace

Result<DatasetPtr> OpenMegatron(std::vector<MegatronPair> pairs, std::int64_t sequence,
                                const IndexOptions& options) {
  std::vector<ByteSourcePtr> sources;
  for (const MegatronPair& pair : pairs) sources.insert(sources.end(), {pair.bin, pair.idx});
  TESSERA_TRY(RecordIndexPtr index,
              OpenIndex(DataFormat::kMegatron, kTokenRunWords, pairs.size(), sources, options,
                        [&pairs](IndexBuilder& builder) { return ScanPairs(pairs, builder); }));
  TESSERA_RETURN_IF_ERROR(CheckRecords(*index, sources, sequence));
  const auto code = index->entry(0)[3];
  if (code < 1 || code > 8 || code == 6 || code == 7) {
    return DataLoss(
        fmt::format("the index of '{}' has dtype code {}", sources.front()->name(), code));
  }
  const auto data = std::make_shared<const MegatronDataset>(
      std::move(pairs), sequence, std::move(index), TokenType{static_cast<std::uint8_t>(code)});
  if (data->num_tokens() <= sequence) {
    return InvalidArgument(
        fmt::format("data set has {} tokens, a sample needs {}", data->num_tokens(), sequence + 1));
  }
  return data;
}

}  // namespace tessera::engine
