// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_folder.h"

#include <QFile>

namespace tessera::test {

bool FaultFolder::KillAt(int node, const QString& point, int times) const {
  return Order(node, point, "kill " + QByteArray::number(times));
}

bool FaultFolder::StopAt(int node, const QString& point) const {
  return Order(node, point, "stop");
}

bool FaultFolder::IsPending(int node, const QString& point) const {
  return QFile::exists(PathOf(node, point));
}

bool FaultFolder::Withdraw(int node, const QString& point) const {
  return QFile::remove(PathOf(node, point));
}

QString FaultFolder::PathOf(int node, const QString& point) const {
  return folder_.filePath(QStringLiteral("n%1.%2").arg(node).arg(point));
}

// The agent must not see the file before its text is there.
bool FaultFolder::Order(int node, const QString& point, const QByteArray& act) const {
  QFile file(folder_.filePath(QStringLiteral("order")));
  if (!file.open(QIODevice::WriteOnly) || file.write(act) < 0) return false;
  file.close();
  return file.rename(PathOf(node, point));
}

}  // namespace tessera::test
