// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Small data sets of every format, made byte by byte without the code under test.

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/byte_source.h"

namespace tessera::test {

/// CRC-32C a bit at a time, straight from its polynomial.
std::uint32_t SlowCrc32c(std::string_view bytes);

std::string TfRecordFrame(std::string_view data);
/// A tf.train.Example with one bytes feature.
std::string Example(std::string_view feature, std::string_view value);

/// A ustar member with its padding.
/// \param type as in the header
std::string TarMemberBytes(std::string_view name, std::string_view data, char type = '0');
inline std::string TarEnd() { return std::string(1024, '\0'); }

/// An .idx of sequences that lie one after the other, one document each.
/// \param code dtype code, item its size in bytes
std::string MegatronIdx(const std::vector<std::int32_t>& lengths, int code, int item);
std::string MegatronIdx(const std::vector<std::int32_t>& lengths,
                        const std::vector<std::int64_t>& pointers,
                        const std::vector<std::int64_t>& documents, int code);

/// The dtypes of tokens, by their code in the file and the bytes of an item.
struct MegatronType {
  const char* name;
  int code, item;
};
inline constexpr MegatronType kMegatronTypes[] = {{"u8", 1, 1},  {"i8", 2, 1},  {"i16", 3, 2},
                                                  {"i32", 4, 4}, {"i64", 5, 8}, {"u16", 8, 2}};

template <typename Number>
std::string Raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// Letters a to z.
std::string SomeLetters(std::mt19937_64& rng, std::size_t size);

void WriteBytes(const std::filesystem::path& path, std::string_view bytes);

/// A source in memory.
class MemorySource final : public engine::ByteSource {
 public:
  MemorySource(std::string name, std::string bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  std::int64_t size_bytes() const override { return static_cast<std::int64_t>(bytes_.size()); }
  std::string version() const override { return "memory"; }
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override;

 private:
  const std::string name_, bytes_;
};
engine::ByteSourcePtr InMemory(std::string name, std::string bytes);

std::string AsText(const std::vector<std::byte>& bytes);
/// Tokens that are bytes, up to the first 0.
std::string AsText(const std::vector<std::int32_t>& tokens);

}  // namespace tessera::test
