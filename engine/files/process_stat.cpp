// SPDX-License-Identifier: Apache-2.0
#include "engine/files/process_stat.h"

#include <fmt/format.h>

#include <sstream>

#include "engine/files/whole_file.h"

namespace tessera::engine {

Result<ProcessStat> ReadProcessStat(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  TESSERA_TRY(const std::string text, ReadWholeFile(path));
  const auto damaged = [&] {
    return DataLoss(fmt::format("{}: its fields are not those of proc(5)", path));
  };
  // Field 2, the name, may contain blanks and parentheses.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return damaged();
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStat stat;
  fields >> stat.state >> stat.parent;
  std::string skipped;
  for (int field = 5; field < 22; ++field) fields >> skipped;
  fields >> stat.start;
  if (!fields) return damaged();
  return stat;
}

}  // namespace tessera::engine
