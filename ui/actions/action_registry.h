// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One QAction a command. Menus, context menus and the sheet of shortcuts are made from it.

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>
#include <functional>
#include <utility>
#include <vector>

class QMenuBar;

namespace tessera::ui {

class Settings;

class ActionRegistry : public QObject {
  Q_OBJECT

 public:
  struct Spec {
    QString id;         // "plan.apply"
    QString menu;       // title of its menu, "&Plan"
    QString text;       // "Apply"
    QString statusTip;  // one sentence
    QString icon = {};  // of resources/icons, may be empty
    QList<QKeySequence> shortcuts = {};
    /// The canvas handles the key itself: the shortcut is shown, not installed.
    bool canvasKey = false;
    bool checkable = false;
    bool separatorBefore = false;
    /// Why it cannot run now, one sentence; empty or null: it can.
    std::function<QString()> blocked = {};
  };

  explicit ActionRegistry(QWidget* window);

  /// \pre `spec.id` is new
  QAction* add(const Spec& spec, std::function<void(bool checked)> run);
  QAction* add(const Spec& spec, std::function<void()> run) {
    return add(spec, [run = std::move(run)](bool) { run(); });
  }
  /// Null for an id that does not exist.
  QAction* find(const QString& id) const;
  /// In the order in which they were added.
  QList<QAction*> all() const;
  QString menuOf(const QAction* action) const;
  /// Asks every rule again; a blocked action is disabled and its tool tip says why.
  void refresh();
  /// Draws the icons anew in the colours of the theme.
  void refreshIcons();

  // Keys that the user chose take the place of the defaults.
  bool isCanvasKey(const QString& id) const;
  QList<QKeySequence> defaultShortcuts(const QString& id) const;
  /// \pre the action exists and is no canvas key
  void setShortcuts(const QString& id, const QList<QKeySequence>& keys);
  void resetShortcuts();
  /// The action that has this key, or null.
  QAction* holder(const QKeySequence& key) const;
  /// Takes over what storeShortcuts kept; a key that another action has is left out.
  void loadShortcuts(const Settings& settings);
  void storeShortcuts(Settings& settings) const;

  /// Fills an empty bar: menus in the order in which their first action was added.
  void fillMenuBar(QMenuBar* bar) const;

 private:
  struct Entry {
    Spec spec;
    QAction* action;
  };
  const Entry* entryOf(const QString& id) const;

  QWidget* m_window;
  std::vector<Entry> m_entries;
};

}  // namespace tessera::ui
