// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/full_memory.h"

#include <algorithm>

namespace tessera::test {

QString FullMemory(const ExactJob& kind, std::initializer_list<std::string> meshes) {
  std::int64_t most = 0;
  for (const std::string& mesh : meshes) most = std::max(most, MemoryOfExactJob(kind, mesh));
  return QStringLiteral("%1K").arg((most * 100 / 95 + 4095) / 4096 * 4);
}

}  // namespace tessera::test
