// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/folder_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/checkpoint/json_scanner.h"

namespace tessera::checkpoint {

Result<std::vector<std::string>> NamesEndingIn(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(suffix) && !name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error) {
    return Unavailable(fmt::format("'{}' cannot be listed: {}", folder, error.message()));
  }
  std::ranges::sort(names);
  return names;
}

Result<std::vector<std::string>> UnreadFiles(const std::string& folder, std::string_view suffix,
                                             std::vector<std::string> read, std::string_view why) {
  TESSERA_TRY(const auto names, NamesEndingIn(folder, suffix));
  std::ranges::sort(read);
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    if (std::ranges::binary_search(read, name)) continue;
    lines.push_back(fmt::format("'{}' is not read: {}", Printable(name), why));
  }
  return lines;
}

}  // namespace tessera::checkpoint
