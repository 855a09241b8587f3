// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iterator>

#include "engine/checkpoint/json_scanner.h"
#include "ptc/box.h"

namespace tessera::checkpoint {
namespace {

/// Prints a map as a JSON object. `print` returns the JSON of a value.
template <typename Map, typename Print>
std::string PrintObject(const Map& map, Print print) {
  std::string out = "{";
  for (const auto& [name, value] : map) {
    if (out.size() > 1) out.push_back(',');
    AppendJsonString(out, name);
    out.push_back(':');
    out += print(value);
  }
  out.push_back('}');
  return out;
}

Result<std::vector<std::int64_t>> SavedOffsets(JsonScanner& scan) {
  std::vector<std::int64_t> begin;
  bool found = false;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](const std::string& key, std::size_t at) -> Status {
    if (key != "saved_offsets") return scan.Skip();
    if (found) return scan.Wrong(at, "saved_offsets appear twice");
    found = true;
    return scan.Array([&]() -> Status {
      const std::size_t value_at = scan.Position();
      TESSERA_TRY(const std::int64_t offset, scan.Count());
      begin.push_back(offset);
      if (begin.size() <= static_cast<std::size_t>(ptc::kMaxRank)) return OkStatus();
      return scan.Wrong(value_at, fmt::format("more than {} saved_offsets", ptc::kMaxRank));
    });
  }));
  if (!found) return scan.Wrong(scan.Position(), "saved_offsets expected");
  return begin;
}

constexpr std::size_t kDigestDigits = 16;

std::optional<std::uint64_t> DigestFrom(std::string_view text) {
  std::uint64_t digest = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, digest, 16);
  if (text.size() != kDigestDigits || error != std::errc() || stop != end) return std::nullopt;
  return digest;
}

}  // namespace

std::string PrintOffsets(const Offsets& offsets) {
  return PrintObject(offsets, [](const std::vector<std::int64_t>& begin) {
    return fmt::format(R"({{"saved_offsets":[{}]}})", fmt::join(begin, ","));
  });
}

Result<Offsets> ParseOffsets(std::string_view json, const std::string& file) {
  JsonScanner scan(json, fmt::format("{}' in '{}", kShardingKey, file));
  Offsets offsets;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](std::string name, std::size_t at) -> Status {
    TESSERA_TRY(std::vector<std::int64_t> begin, SavedOffsets(scan));
    if (offsets.contains(name)) {
      return scan.Wrong(at, fmt::format("key '{}' appears twice", Printable(name)));
    }
    offsets.emplace(std::move(name), std::move(begin));
    return OkStatus();
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  return offsets;
}

std::string PrintDigests(const Digests& digests) {
  return PrintObject(digests,
                     [](std::uint64_t digest) { return fmt::format("\"{:016x}\"", digest); });
}

std::string PrintDigestList(const std::vector<std::uint64_t>& digests) {
  std::string out;
  out.reserve(kDigestDigits * digests.size());
  for (const std::uint64_t digest : digests) {
    fmt::format_to(std::back_inserter(out), "{:016x}", digest);
  }
  return out;
}

Result<Digests> ParseDigests(std::string_view json, const std::string& file) {
  JsonScanner scan(json, fmt::format("{}' in '{}", kDigestKey, file));
  Digests digests;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](std::string name, std::size_t at) -> Status {
    const std::size_t value_at = scan.Position();
    TESSERA_TRY(const std::string text, scan.String());
    const auto digest = DigestFrom(text);
    if (!digest) return scan.Wrong(value_at, "a digest of 16 hex digits expected");
    if (!digests.emplace(std::move(name), *digest).second) {
      return scan.Wrong(at, "a tensor appears twice");
    }
    return OkStatus();
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  return digests;
}

Result<std::optional<Digests>> DigestsIn(const Header& header, const std::string& file) {
  const auto by_name = header.metadata.find(std::string(kDigestKey));
  if (by_name != header.metadata.end()) {
    TESSERA_TRY(Digests digests, ParseDigests(by_name->second, file));
    return std::optional(std::move(digests));
  }
  const auto list = header.metadata.find(std::string(kDigestListKey));
  if (list == header.metadata.end()) return std::optional<Digests>();
  const std::string_view text = list->second;
  if (text.size() != kDigestDigits * header.tensors.size()) {
    return InvalidArgument(
        fmt::format("'{}' in '{}' has {} characters for {} tensors, expected {} for each",
                    kDigestListKey, file, text.size(), header.tensors.size(), kDigestDigits));
  }
  Digests digests;
  for (std::size_t t = 0; t < header.tensors.size(); ++t) {
    const auto digest = DigestFrom(text.substr(kDigestDigits * t, kDigestDigits));
    if (!digest) {
      return InvalidArgument(fmt::format("'{}' in '{}': tensor '{}' has no 16 hex digits",
                                         kDigestListKey, file, header.tensors[t].name));
    }
    digests.emplace(header.tensors[t].name, *digest);
  }
  return std::optional(std::move(digests));
}

}  // namespace tessera::checkpoint
