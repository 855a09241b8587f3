// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Qt's tools for translators, and the texts of a translation file.

#include <QString>
#include <QStringList>
#include <vector>

namespace tessera::test {

/// The program of Qt's linguist tools, or an empty string. A launcher does not count if its Qt is
/// not installed.
QString linguistTool(const QString& name);
/// Runs a program and returns everything that it prints.
QString outputOf(const QString& program, const QStringList& arguments);
/// Brings `file` up to date with the texts of ui/ and app/. Returns what lupdate reports.
QString extractTexts(const QString& file, const QStringList& options = {});

/// A text of a translation file (.ts).
struct TranslatedText {
  QString context, source;
  QStringList translations;  // one, or one per plural form
  QString type;              // "unfinished", "vanished", "obsolete", or empty: finished
  bool hasForms = false;
};
/// The texts of a file; empty if it cannot be read to its end.
std::vector<TranslatedText> translatedTexts(const QString& file);

}  // namespace tessera::test
