// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs programs of this project as a shell does.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace tessera::test {

using Json = nlohmann::json;  // defined in nlohmann/json.hpp

/// The outcome of a program.
struct Outcome {
  int code = -1;  // exit code; -1: it did not end in time, or crashed
  QString output;
  QString errors;
  /// The last line of the output; null if it is not JSON.
  Json LastJson() const;
  /// Code and errors in one line, for the message of a failed check.
  QByteArray Text() const;
  /// Whether `errors` is one line that begins with "PROGRAM: " and contains `part`.
  bool SaysInOneLine(const QString& program, const QString& part) const;
};

/// This process's environment with another TESSERA_HOME.
QStringList EnvironmentWithHome(const QString& home);

/// Starts bin/PROGRAM with an empty stdin.
std::unique_ptr<QProcess> StartProgram(const QString& program, const QStringList& words,
                                       const QStringList& environment);
/// Waits for the program, and kills it after `seconds`.
/// \return its outcome
Outcome FinishProgram(QProcess& process, int seconds);
/// StartProgram and FinishProgram.
Outcome RunProgram(const QString& program, const QStringList& words, const QStringList& environment,
                   int seconds = 20);

}  // namespace tessera::test
