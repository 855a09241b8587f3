// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/tar_separator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/data/formats/tar.h"
#include "engine/data/formats/tar_header.h"

namespace tessera::engine {
namespace {

/// A record in memory.
class RecordSource final : public ByteSource {
 public:
  explicit RecordSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  const std::string& name() const override { return name_; }
  std::int64_t size_bytes() const override { return std::ssize(bytes_); }
  std::string version() const override { return {}; }
  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    const auto from = bytes_.subspan(static_cast<std::size_t>(offset), out.size());
    std::ranges::copy(from, out.begin());
    return OkStatus();
  }

 private:
  const std::string name_ = "sample of an archive";
  const std::span<const std::byte> bytes_;
};

/// The members of the sample.
Result<std::vector<TarMember>> MembersOf(std::span<const std::byte> record) {
  const RecordSource source(record);
  ScanReader reader(source);
  std::vector<TarMember> members;
  for (std::int64_t offset = 0;;) {
    TESSERA_TRY(auto member, ReadTarMember(source, reader, offset));
    if (!member) return members;
    offset = member->end;
    const bool is_of_sample = member->is_file && !SplitTarName(member->name).sample.empty();
    if (is_of_sample) members.push_back(std::move(*member));
  }
}

/// Returns which character of a sample's name is changed: the last single-byte one that is no
/// slash.
/// \pre the name is not empty
std::size_t PlaceToChange(std::string_view name) {
  for (std::size_t i = name.size(); i-- > 0 && name[i] != '/';) {
    if (static_cast<unsigned char>(name[i]) < 0x80) return i;
  }
  return name.size() - 1;
}

char Another(char c) { return c == '~' ? '_' : '~'; }

/// Updates the checksum of a header whose name has changed.
void WriteChecksum(std::span<std::byte> header) {
  const std::span<std::byte> field = header.subspan(148, 8);
  std::ranges::fill(field, std::byte{' '});
  unsigned sum = 0;
  for (const std::byte byte : header) sum += std::to_integer<unsigned>(byte);
  const std::string digits = fmt::format("{:06o}", sum);
  std::memcpy(field.data(), digits.data(), digits.size());
  field[6] = std::byte{0};
}

}  // namespace

Status TarSeparator::Next(std::span<std::byte> record) {
  TESSERA_TRY(const std::vector<TarMember> members, MembersOf(record));
  if (members.empty()) return DataLoss("a sample of an archive holds no members");
  std::string name(SplitTarName(members.front().name).sample);
  if (name != last_) {
    last_ = std::move(name);
    return OkStatus();
  }
  const std::size_t at = PlaceToChange(name);
  for (const TarMember& member : members) {
    const auto from_end = static_cast<std::int64_t>(member.name.size() - at);
    auto& character = record[static_cast<std::size_t>(member.name_end - from_end)];
    character = static_cast<std::byte>(Another(name[at]));
    const auto header = record.subspan(static_cast<std::size_t>(member.data_begin - kTarBlock),
                                       static_cast<std::size_t>(kTarBlock));
    if (member.name_end <= member.data_begin - kTarBlock) continue;  // in an extended header
    WriteChecksum(header);
  }
  name[at] = Another(name[at]);
  last_ = std::move(name);
  return OkStatus();
}

}  // namespace tessera::engine
