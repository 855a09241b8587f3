// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/paths.h"

#include <algorithm>

namespace tessera::app {

namespace fs = std::filesystem;

std::vector<fs::directory_entry> entriesOf(const fs::path& folder, std::error_code& failure) {
  std::vector<fs::directory_entry> entries;
  // Not a range-based for: its increment throws.
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure))
    entries.push_back(*it);
  std::ranges::sort(entries);
  return entries;
}

}  // namespace tessera::app
