// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/shell_words.h"

#include <QRegularExpression>

namespace tessera::ui {

QString shellWord(const QString& word) {
  static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
  if (plain.match(word).hasMatch()) return word;
  return QLatin1Char('\'') + QString(word).replace(u'\'', QStringLiteral("'\\''")) +
         QLatin1Char('\'');
}

QString commandLine(const QString& cluster, const QStringList& words) {
  QStringList line{QStringLiteral("tesseractl")};
  if (!cluster.isEmpty()) line << QStringLiteral("--cluster") << shellWord(cluster);
  for (const QString& word : words) line << shellWord(word);
  return line.join(QLatin1Char(' '));
}

}  // namespace tessera::ui
