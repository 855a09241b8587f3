// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A test program as its own child, with settings of the emulated driver of its own, and what the
/// emulation reports of it.

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>
#include <cstdio>

#include "ptc/base/result.h"

namespace tessera::test {

inline constexpr char kChild[] = "TESSERA_CUDA_CHILD";

/// Runs `test` of this program in a process with these settings.
/// \param folder of libraries, before those of the system; empty: only these
/// \return what it printed, or that it crashed or did not end
inline QString InChild(const char* test, const QString& settings,
                       const QString& folder = qEnvironmentVariable("LD_LIBRARY_PATH")) {
  QProcess child;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("TESSERA_CUDA_EMULATION"), settings);
  environment.insert(QString::fromLatin1(kChild), QStringLiteral("1"));
  environment.insert(QStringLiteral("LD_LIBRARY_PATH"), folder);
  child.setProcessEnvironment(environment);
  child.start(QCoreApplication::applicationFilePath(), {QString::fromLatin1(test)});
  if (!child.waitForFinished(30000)) return QStringLiteral("does not end");
  if (child.exitStatus() != QProcess::NormalExit) return QStringLiteral("crashed");
  return QString::fromUtf8(child.readAllStandardOutput()).trimmed();
}

/// What the child prints. The emulation reports at the end of the process.
inline int PrintAsChild(const Status& status) {
  std::printf("%s\n", status ? "OK" : status.error().ToString().c_str());
  return 0;
}

/// The file that the emulation writes when a process ends.
class EmulationReport {
 public:
  QString setting() const { return QStringLiteral("report=") + path(); }
  /// The last line that begins with `key`; empty if there is none.
  QString Last(const QString& key) const {
    QFile file(path());
    QString last;
    if (!file.open(QIODevice::ReadOnly)) return last;
    for (const QByteArray& line : file.readAll().split('\n')) {
      if (line.startsWith(key.toLatin1())) last = QString::fromLatin1(line);
    }
    return last;
  }

 private:
  QString path() const { return folder_.filePath(QStringLiteral("live")); }
  QTemporaryDir folder_;
};

/// The value of KEY=VALUE among the words of a line.
inline QString ValueOf(const QString& line, const QString& key) {
  return line.section(key + QLatin1Char('='), 1).section(QLatin1Char(' '), 0, 0);
}

}  // namespace tessera::test
