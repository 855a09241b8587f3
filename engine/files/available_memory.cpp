// SPDX-License-Identifier: Apache-2.0
#include "engine/files/available_memory.h"

#include <charconv>
#include <string_view>

#include "engine/files/whole_file.h"

namespace tessera::engine {

std::optional<std::int64_t> AvailableMemory() {
  constexpr std::string_view kName = "MemAvailable:";
  const auto text = ReadWholeFile("/proc/meminfo");
  if (!text) return std::nullopt;
  const auto name = text->find(kName);
  if (name == std::string::npos) return std::nullopt;
  const auto digits = text->find_first_not_of(' ', name + kName.size());
  if (digits == std::string::npos) return std::nullopt;
  std::int64_t kib = 0;
  const auto [end, error] =
      std::from_chars(text->data() + digits, text->data() + text->size(), kib);
  if (error != std::errc() || kib < 0 || kib > (std::int64_t{1} << 50)) return std::nullopt;
  return kib * 1024;
}

}  // namespace tessera::engine
