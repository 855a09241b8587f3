// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A page of the settings dialog: rows with a name, a hint and a control.

#include <QList>
#include <QWidget>

#include "ui/settings/settings.h"

class QVBoxLayout;

namespace tessera::ui {

class SettingsPage : public QWidget {
  Q_OBJECT

 public:
  SettingsPage(Settings& settings, const QString& title, QWidget* parent = nullptr);
  const QString& title() const { return m_title; }
  /// Resets every setting of the page to its default.
  virtual void reset();

 protected:
  /// Adds a row with `control` on the right. `name` becomes its accessible name if it has none.
  void addRow(const QString& name, const QString& hint, QWidget* control);
  void addNote(const QString& text);
  void addWidget(QWidget* widget, int stretch = 0);
  /// Controls that show a setting and change it at once.
  QWidget* makeSwitch(Setting setting);
  QWidget* makeNumber(Setting setting, const QString& unit);
  /// One segment per choice, in the order of the table or of `numbers`.
  QWidget* makeChoice(Setting setting, const QStringList& texts, const QList<int>& numbers = {});
  void end();

  Settings& m_settings;

 private:
  QString m_title;
  QList<Setting> m_own;
  QVBoxLayout* m_column;
};

}  // namespace tessera::ui
