// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The page that lists every action and edits its keys. A key belongs to one action only.

#include "ui/dialogs/settings_page.h"

class QAction;
class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;

namespace tessera::ui {

class ActionRegistry;

class ShortcutsPage : public SettingsPage {
  Q_OBJECT

 public:
  /// `actions` must outlive the page.
  ShortcutsPage(Settings& settings, ActionRegistry& actions, QWidget* parent = nullptr);
  void reset() override;

  QTreeWidget* list() const { return m_list; }
  QKeySequenceEdit* editor() const { return m_editor; }
  QPushButton* setButton() const { return m_set; }
  QPushButton* defaultButton() const { return m_default; }
  QPushButton* clearButton() const { return m_clear; }
  /// Returns why the keys in the editor are invalid; empty if they are valid.
  QString problem() const;

 private:
  QAction* chosen() const;
  void fill();
  void filter(const QString& text);
  void showChosen();
  void refreshNote();
  void store(const QList<QKeySequence>& keys);

  ActionRegistry& m_actions;
  QLineEdit* m_filter;
  QTreeWidget* m_list;
  QLabel *m_name, *m_note;
  QKeySequenceEdit* m_editor;
  QPushButton *m_set, *m_clear, *m_default;
};

}  // namespace tessera::ui
