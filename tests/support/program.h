// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Programs of this project as a shell runs them, and what they leave.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace tessera::test {

using Json = nlohmann::json;  // defined in nlohmann/json.hpp

/// What a call of a program left.
struct Outcome {
  int code = -1;  // -1: it did not end in time, or crashed
  QString output;
  QString errors;
  /// The last line of the output; null where it is not JSON.
  Json LastJson() const;
  /// Code and errors in one line, for the message of a failed check.
  QByteArray Text() const;
  /// Whether `errors` is one line that begins with "PROGRAM: " and contains `part`.
  bool SaysInOneLine(const QString& program, const QString& part) const;
};

/// This process's environment with another TESSERA_HOME.
QStringList EnvironmentWithHome(const QString& home);

/// Starts bin/PROGRAM; nothing is on its stdin.
std::unique_ptr<QProcess> StartProgram(const QString& program, const QStringList& words,
                                       const QStringList& environment);
/// Waits for it, and kills it where it has not ended after `seconds`.
/// \return its outcome
Outcome FinishProgram(QProcess& process, int seconds);
/// Both in one.
Outcome RunProgram(const QString& program, const QStringList& words, const QStringList& environment,
                   int seconds = 20);

}  // namespace tessera::test
