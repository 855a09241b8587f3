// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The settings, in five pages. Every change takes effect at once, except language and size.

#include "ui/dialogs/dialog.h"

class QListWidget;
class QPushButton;
class QStackedWidget;

namespace tessera::ui {

class ActionRegistry;
class Settings;
class SettingsPage;

/// Folders shown on the Data page; empty if unknown.
struct DataPlaces {
  QString home;     // profiles, keys, local clusters
  QString mirrors;  // copies of clusters' histories
};

class SettingsDialog : public Dialog {
  Q_OBJECT

 public:
  enum Page { General, Colours, Safety, Data, Shortcuts, NUM_PAGES };

  /// All arguments must outlive the dialog.
  SettingsDialog(Settings& settings, ActionRegistry& actions, const DataPlaces& places,
                 QWidget* parent = nullptr);
  void showPage(Page page);
  SettingsPage* page(Page page) const;
  QPushButton* resetButton() const { return m_reset; }

 signals:
  /// The user requested a restart, which a setting needs.
  void restartRequested();

 private:
  QListWidget* m_list;
  QStackedWidget* m_pages;
  QPushButton* m_reset;
};

}  // namespace tessera::ui
