// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Compares the built-in trainer with what PyTorch computed (tests/python/trainer_oracle.py).

#include <QString>
#include <QStringList>

namespace tessera::test {

/// The cases of trainer_oracle.py.
QStringList OracleCases();

/// Trains the job that a file of trainer_oracle.py describes, as one rank, and compares losses,
/// gradient norms, gradients and updated parameters with those in the file.
/// \return the first difference; empty if there is none
QString CompareWithOracle(const QString& file);

}  // namespace tessera::test
