// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.h"

#include <nlohmann/json.hpp>

#include "tests/folders.h"

namespace tessera::test {

Json Outcome::LastJson() const {
  const QStringList lines = output.trimmed().split(u'\n');
  Json json = Json::parse(lines.last().toStdString(), nullptr, false);
  return json.is_discarded() ? Json() : json;
}

QByteArray Outcome::Text() const {
  return QStringLiteral("exit %1: %2 %3")
      .arg(code)
      .arg(errors.trimmed(), output.trimmed())
      .toUtf8();
}

bool Outcome::SaysInOneLine(const QString& program, const QString& part) const {
  return errors.startsWith(program + QStringLiteral(": ")) && errors.count(u'\n') == 1 &&
         errors.contains(part);
}

QStringList EnvironmentWithHome(const QString& home) {
  QStringList environment = QProcess::systemEnvironment();
  environment.removeIf([](const QString& entry) { return entry.startsWith(u"TESSERA_HOME="); });
  return environment << QStringLiteral("TESSERA_HOME=") + home;
}

std::unique_ptr<QProcess> StartProgram(const QString& program, const QStringList& words,
                                       const QStringList& environment) {
  auto process = std::make_unique<QProcess>();
  process->setEnvironment(environment);
  process->setStandardInputFile(QProcess::nullDevice());
  process->start(QStringLiteral(TESSERA_BIN_DIR) + u'/' + program, words);
  return process;
}

Outcome FinishProgram(QProcess& process, int seconds) {
  Outcome outcome;
  if (!process.waitForFinished(seconds * 1000)) {
    outcome.errors = QStringLiteral("no end after %1 s: %2")
                         .arg(seconds)
                         .arg(process.program() + u' ' + process.arguments().join(u' '));
    process.kill();
    process.waitForFinished(2000);
    return outcome;
  }
  if (process.exitStatus() == QProcess::NormalExit) outcome.code = process.exitCode();
  outcome.output = QString::fromUtf8(process.readAllStandardOutput());
  outcome.errors = QString::fromUtf8(process.readAllStandardError());
  return outcome;
}

Outcome RunProgram(const QString& program, const QStringList& words, const QStringList& environment,
                   int seconds) {
  return FinishProgram(*StartProgram(program, words, environment), seconds);
}

}  // namespace tessera::test
