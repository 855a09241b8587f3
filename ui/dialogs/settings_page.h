// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A page of the settings dialog: rows of what is set, why it matters, and its control.

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
  /// Every setting of the page back to its default.
  virtual void reset();

 protected:
  /// A row with `control` on the right. The control's accessible name is `name` unless it has one.
  void addRow(const QString& name, const QString& hint, QWidget* control);
  void addNote(const QString& text);
  void addWidget(QWidget* widget, int stretch = 0);
  /// Controls of settings: they show and set them at once.
  QWidget* makeSwitch(Setting setting);
  QWidget* makeNumber(Setting setting, const QString& unit);
  /// A segment a choice, in the order of the table, or of `numbers`.
  QWidget* makeChoice(Setting setting, const QStringList& texts, const QList<int>& numbers = {});
  void end();

  Settings& m_settings;

 private:
  QString m_title;
  QList<Setting> m_own;
  QVBoxLayout* m_column;
};

}  // namespace tessera::ui
