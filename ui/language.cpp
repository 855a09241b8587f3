// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/language.h"

#include <QCoreApplication>
#include <QFile>
#include <QLibraryInfo>

// Q_INIT_RESOURCE must be outside of namespaces. Without it the linker drops the resources of a
// static library.
static void loadTranslations() { Q_INIT_RESOURCE(translations); }

namespace tessera::ui {

QLocale localeOf(const QString& language, const QLocale& system) {
  if (language == QLatin1String("system")) return system;
  const QLocale named(language);
  return named.language() == system.language() ? system : named;
}

QString translationFor(const QStringList& languages) {
  loadTranslations();
  for (const QString& each : languages) {
    const QString code = each.section(QLatin1Char('-'), 0, 0);
    // Who reads English first needs no translation, whatever else they read.
    if (code == QLatin1String("en") || code == QLatin1String("C")) return {};
    if (QFile::exists(QStringLiteral(":/tessera/translations/tessera_%1.qm").arg(code))) {
      return code;
    }
  }
  return {};
}

QString panelLanguage() { return translationFor(QLocale().uiLanguages()); }

Language::Language(const QLocale& locale) {
  QLocale::setDefault(locale);
  const QString code = translationFor(locale.uiLanguages());
  if (code.isEmpty()) return;
  // Texts of standard buttons and file dialogs, if Qt's own translations are installed.
  if (m_qt.load(QStringLiteral("qtbase_") + code,
                QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
    QCoreApplication::installTranslator(&m_qt);
  }
  if (m_panel.load(QStringLiteral("tessera_") + code, QStringLiteral(":/tessera/translations"))) {
    QCoreApplication::installTranslator(&m_panel);
  }
}

Language::~Language() {
  QCoreApplication::removeTranslator(&m_panel);
  QCoreApplication::removeTranslator(&m_qt);
  QLocale::setDefault(m_before);
}

}  // namespace tessera::ui
