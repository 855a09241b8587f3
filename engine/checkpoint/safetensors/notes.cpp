// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

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

Result<Digests> ParseDigests(std::string_view json, const std::string& file) {
  JsonScanner scan(json, fmt::format("{}' in '{}", kDigestKey, file));
  Digests digests;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](std::string name, std::size_t at) -> Status {
    const std::size_t value_at = scan.Position();
    TESSERA_TRY(const std::string text, scan.String());
    std::uint64_t digest = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digest, 16);
    if (text.size() != 16 || error != std::errc() || end != text.data() + text.size()) {
      return scan.Wrong(value_at, "a digest of 16 hex digits expected");
    }
    if (!digests.emplace(std::move(name), digest).second) {
      return scan.Wrong(at, "a tensor appears twice");
    }
    return OkStatus();
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  return digests;
}

}  // namespace tessera::checkpoint
