// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A temporary folder for tests that sync files often.

#include <QString>
#include <QTemporaryDir>
#include <memory>

#include "tests/support/memory_folder.h"

namespace tessera::test {

/// A temporary folder in MemoryFolder(). It is removed with the object.
inline std::unique_ptr<QTemporaryDir> TemporaryFolder() {
  return std::make_unique<QTemporaryDir>(QString::fromStdString(MemoryFolder()) +
                                         QStringLiteral("/tessera.XXXXXX"));
}

}  // namespace tessera::test
