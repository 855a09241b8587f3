// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The language of the panel: its texts, Qt's own texts, and how numbers and dates are written.

#include <QLocale>
#include <QString>
#include <QStringList>
#include <QTranslator>

namespace tessera::ui {

/// The locale of a value of Setting::Language. A language that the system speaks, too, keeps the
/// region of the system: "de" is Swiss German on a Swiss machine.
QLocale localeOf(const QString& language, const QLocale& system = QLocale::system());

/// "de" for the translation that a user of `languages` reads, the first one preferred; empty for
/// English, in which the texts are written.
QString translationFor(const QStringList& languages);

/// The same for the language in which the panel is shown.
QString panelLanguage();

/// While it lives, texts that are made are in the language of a locale; where there is no
/// translation, in English. Made before the first window, because texts that are shown stay.
class Language {
 public:
  explicit Language(const QLocale& locale);
  ~Language();
  Language(const Language&) = delete;
  Language& operator=(const Language&) = delete;

 private:
  const QLocale m_before;
  QTranslator m_panel, m_qt;
};

}  // namespace tessera::ui
