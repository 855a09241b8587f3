// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the user can choose, in five pages. Every change holds at once.

#include <QDialog>

class QListWidget;
class QPushButton;
class QStackedWidget;

namespace tessera::ui {

class ActionRegistry;
class Settings;
class SettingsPage;

/// Folders that the Data page names; empty: not known.
struct DataPlaces {
  QString home;     // profiles, keys, local clusters
  QString mirrors;  // copies of clusters' histories
};

class SettingsDialog : public QDialog {
  Q_OBJECT

 public:
  enum Page { General, Colours, Safety, Data, Shortcuts, NUM_PAGES };

  /// All outlive the dialog.
  SettingsDialog(Settings& settings, ActionRegistry& actions, const DataPlaces& places,
                 QWidget* parent = nullptr);
  void showPage(Page page);
  SettingsPage* page(Page page) const;
  QPushButton* resetButton() const { return m_reset; }

 signals:
  /// The panel ends and starts anew, for a setting that needs it.
  void restartRequested();

 private:
  QListWidget* m_list;
  QStackedWidget* m_pages;
  QPushButton* m_reset;
};

}  // namespace tessera::ui
