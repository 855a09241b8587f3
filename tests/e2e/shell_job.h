// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A job of `--kind files` without any framework: a shell script whose state is one number, equal
/// to the step. It ends with an error if the state that it gets is another one.

#include <QString>

namespace tessera::test {

struct ShellJob {
  QString script, tensors, rules;  // files
};

/// Writes the three files into a folder.
/// \return their paths; empty ones if the folder cannot be written
ShellJob WriteShellJob(const QString& folder);

}  // namespace tessera::test
