// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The registry of commands: one QAction per command. Menus, context menus and the sheet of
/// shortcuts are generated from it.

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
    QString id;            // "plan.apply"
    QString menu;          // title of its menu, "&Plan"
    QString text;          // "Apply"
    QString statusTip;     // one sentence
    QString submenu = {};  // title of a menu in `menu`; empty: directly in it
    QString icon = {};     // of resources/icons, may be empty
    QList<QKeySequence> shortcuts = {};
    /// The canvas handles the key itself: the shortcut is shown, not installed.
    bool canvasKey = false;
    bool checkable = false;
    bool separatorBefore = false;
    /// Returns why the command cannot run now, as one sentence; empty if it can. May be null.
    std::function<QString()> blocked = {};
    /// Returns whether a checkable command is on. Null: a click alone changes its mark.
    std::function<bool()> checked = {};
  };

  explicit ActionRegistry(QWidget* window);

  /// Adds a command.
  /// \pre no action has `spec.id` yet
  QAction* add(const Spec& spec, std::function<void(bool checked)> run);
  QAction* add(const Spec& spec, std::function<void()> run) {
    return add(spec, [run = std::move(run)](bool) { run(); });
  }
  /// Returns null for an unknown id.
  QAction* find(const QString& id) const;
  /// In the order in which they were added.
  QList<QAction*> all() const;
  QString menuOf(const QAction* action) const;
  /// Evaluates every rule again. A blocked action is disabled and its tool tip is the reason. Marks
  /// follow `checked`, also after a click that was refused.
  void refresh();
  /// Redraws the icons in the colours of the theme.
  void refreshIcons();

  // Shortcuts. Keys set by the user replace the defaults.
  bool isCanvasKey(const QString& id) const;
  QList<QKeySequence> defaultShortcuts(const QString& id) const;
  /// \pre the action exists and its key is not a canvas key
  void setShortcuts(const QString& id, const QList<QKeySequence>& keys);
  void resetShortcuts();
  /// Returns the action that has this key, or null.
  QAction* holder(const QKeySequence& key) const;
  /// Loads what storeShortcuts() stored. A key that another action already has is skipped.
  void loadShortcuts(const Settings& settings);
  void storeShortcuts(Settings& settings) const;

  /// Fills an empty bar. Menus are in the order in which their first actions were added.
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
