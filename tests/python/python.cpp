// SPDX-License-Identifier: Apache-2.0
#include "tests/python/python.h"

#include <QFileInfo>
#include <QProcess>

#include "tests/folders.h"

namespace tessera::test {
namespace {

constexpr int kImportMs = 60000;  // torch takes seconds, tens of them from a cold disk
constexpr int kScriptMs = 120000;

}  // namespace

Python FindPython(const QStringList& modules) {
  const QString own = QStringLiteral(TESSERA_VENV "/bin/python3");
  QStringList candidates = {qEnvironmentVariable("TESSERA_PYTHON"), own, QStringLiteral("python3")};
  for (const QString& candidate : candidates) {
    if (candidate.isEmpty() || (candidate == own && !QFileInfo::exists(own))) continue;
    QProcess process;
    process.start(candidate,
                  {QStringLiteral("-c"), QStringLiteral("import ") + modules.join(u',')});
    if (process.waitForFinished(kImportMs) && process.exitStatus() == QProcess::NormalExit &&
        process.exitCode() == 0) {
      return {candidate, {}};
    }
  }
  return {{},
          QStringLiteral("no python3 that has %1 (packaging/test puts them into %2)")
              .arg(modules.join(QStringLiteral(" and ")), QStringLiteral(TESSERA_VENV))};
}

QString RunScript(const Python& python, const QString& script, const QStringList& arguments) {
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start(
      python.program,
      QStringList{QStringLiteral(TESSERA_SOURCE_DIR "/tests/python/") + script} + arguments);
  if (!process.waitForFinished(kScriptMs)) return QStringLiteral("does not end");
  if (process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return {};
  return QString::fromUtf8(process.readAll());
}

}  // namespace tessera::test
