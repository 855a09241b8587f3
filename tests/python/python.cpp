// SPDX-License-Identifier: Apache-2.0
#include "tests/python/python.h"

#include <QFileInfo>
#include <QProcess>

#include "tests/folders.h"

namespace tessera::test {
namespace {

constexpr int kImportMs = 60000;  // torch takes seconds, tens of them from a cold disk
constexpr int kScriptMs = 120000;
constexpr int kMissing = 3;  // the exit code
const QString kImport = QStringLiteral(R"(import importlib, importlib.util, sys
if not all(importlib.util.find_spec(name.partition(".")[0]) for name in sys.argv[1:]):
    sys.exit(3)
for name in sys.argv[1:]:
    importlib.import_module(name)
)");

}  // namespace

Python FindPython(const QStringList& modules) {
  const QString own = QStringLiteral(TESSERA_VENV "/bin/python3");
  QStringList candidates = {qEnvironmentVariable("TESSERA_PYTHON"), own, QStringLiteral("python3")};
  QString broken;
  for (const QString& candidate : candidates) {
    if (candidate.isEmpty() || (candidate == own && !QFileInfo::exists(own))) continue;
    QProcess process;
    process.start(candidate, QStringList{QStringLiteral("-c"), kImport} + modules);
    const bool started = process.waitForStarted();
    const bool ended = started && process.waitForFinished(kImportMs) &&
                       process.exitStatus() == QProcess::NormalExit;
    if (ended && process.exitCode() == 0) return {candidate, {}};
    // What is installed and does not work is not missing.
    if (started && !(ended && process.exitCode() == kMissing) && broken.isEmpty()) {
      const QList<QByteArray> said = process.readAllStandardError().trimmed().split('\n');
      broken = QStringLiteral("%1 has %2, but cannot import it: %3")
                   .arg(candidate, modules.join(QStringLiteral(" and ")),
                        ended ? QString::fromUtf8(said.last()) : QStringLiteral("it crashes or hangs"));
    }
  }
  if (!broken.isEmpty()) return {{}, broken};
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
