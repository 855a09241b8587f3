// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The Python that judges what we read and write: that of TESSERA_PYTHON, of the virtual
/// environment in the build folder (packaging/test makes it), or the system's.

#include <QString>
#include <QStringList>

namespace tessera::test {

struct Python {
  QString program;  // empty: none has the modules
  QString why;      // then, for a skipped test
};

/// Looks for a Python that imports all modules. Where they are missing, `why` begins with "no python3
/// that has", which packaging/skips.txt lists. It does not where one is installed but fails.
/// \param modules as in "import": "numpy", "torch.distributed.checkpoint"
Python FindPython(const QStringList& modules);

/// Runs a script of tests/python. \returns what went wrong, empty if it exited with 0
QString RunScript(const Python& python, const QString& script, const QStringList& arguments);

}  // namespace tessera::test
