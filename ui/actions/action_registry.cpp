// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/actions/action_registry.h"

#include <QMenu>
#include <QMenuBar>
#include <algorithm>
#include <utility>

#include "ptc/base/check.h"
#include "ui/icons.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"

namespace tessera::ui {

ActionRegistry::ActionRegistry(QWidget* window) : QObject(window), m_window(window) {}

QAction* ActionRegistry::add(const Spec& spec, std::function<void(bool)> run) {
  TESSERA_CHECK(find(spec.id) == nullptr);
  auto* action = new QAction(spec.text, this);
  action->setObjectName(spec.id);
  action->setStatusTip(spec.statusTip);
  action->setCheckable(spec.checkable);
  action->setShortcuts(spec.shortcuts);
  if (spec.canvasKey) action->setShortcutContext(Qt::WidgetShortcut);
  connect(action, &QAction::triggered, this,
          [run = std::move(run), checked = spec.checked, action](bool on) {
            run(on);
            if (checked) action->setChecked(checked());
          });
  if (!spec.canvasKey) m_window->addAction(action);
  m_entries.push_back({spec, action});
  return action;
}

const ActionRegistry::Entry* ActionRegistry::entryOf(const QString& id) const {
  const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                  [&](const Entry& entry) { return entry.spec.id == id; });
  return found == m_entries.end() ? nullptr : &*found;
}

QAction* ActionRegistry::find(const QString& id) const {
  const Entry* entry = entryOf(id);
  return entry == nullptr ? nullptr : entry->action;
}

QList<QAction*> ActionRegistry::all() const {
  QList<QAction*> actions;
  for (const Entry& entry : m_entries) actions << entry.action;
  return actions;
}

QString ActionRegistry::menuOf(const QAction* action) const {
  for (const Entry& entry : m_entries) {
    if (entry.action == action) return entry.spec.menu;
  }
  return {};
}

void ActionRegistry::refresh() {
  for (const Entry& entry : m_entries) {
    const QString reason = entry.spec.blocked ? entry.spec.blocked() : QString();
    entry.action->setEnabled(reason.isEmpty());
    entry.action->setToolTip(reason.isEmpty() ? entry.spec.statusTip : reason);
    if (entry.spec.checked) entry.action->setChecked(entry.spec.checked());
  }
}

void ActionRegistry::refreshIcons() {
  for (const Entry& entry : m_entries) {
    if (!entry.spec.icon.isEmpty()) {
      entry.action->setIcon(icon(entry.spec.icon, Theme::current().dim));
    }
  }
}

bool ActionRegistry::isCanvasKey(const QString& id) const {
  const Entry* entry = entryOf(id);
  return entry != nullptr && entry->spec.canvasKey;
}

QList<QKeySequence> ActionRegistry::defaultShortcuts(const QString& id) const {
  const Entry* entry = entryOf(id);
  return entry == nullptr ? QList<QKeySequence>() : entry->spec.shortcuts;
}

void ActionRegistry::setShortcuts(const QString& id, const QList<QKeySequence>& keys) {
  const Entry* entry = entryOf(id);
  TESSERA_CHECK(entry != nullptr && !entry->spec.canvasKey);
  entry->action->setShortcuts(keys);
}

void ActionRegistry::resetShortcuts() {
  for (const Entry& entry : m_entries) {
    if (!entry.spec.canvasKey) entry.action->setShortcuts(entry.spec.shortcuts);
  }
}

QAction* ActionRegistry::holder(const QKeySequence& key) const {
  for (const Entry& entry : m_entries) {
    if (entry.action->shortcuts().contains(key)) return entry.action;
  }
  return nullptr;
}

namespace {
const QString kSection = QStringLiteral("shortcuts");
}  // namespace

void ActionRegistry::loadShortcuts(const Settings& settings) {
  // All changed actions release their keys first, so that two of them can swap keys.
  std::vector<std::pair<QAction*, QList<QKeySequence>>> changed;
  for (const QString& key : settings.keysBelow(kSection)) {
    const Entry* entry = entryOf(key.mid(kSection.size() + 1));
    if (entry == nullptr || entry->spec.canvasKey) continue;
    changed.emplace_back(entry->action, QKeySequence::listFromString(settings.entry(key)));
    entry->action->setShortcuts(QList<QKeySequence>());
  }
  for (auto& [action, keys] : changed) {
    QList<QKeySequence> free;
    for (const QKeySequence& key : keys) {
      if (!key.isEmpty() && holder(key) == nullptr) free << key;
    }
    action->setShortcuts(free);
  }
}

void ActionRegistry::storeShortcuts(Settings& settings) const {
  for (const Entry& entry : m_entries) {
    const QString key = kSection + QLatin1Char('/') + entry.spec.id;
    if (entry.action->shortcuts() == entry.spec.shortcuts) {
      settings.removeEntry(key);
    } else {
      settings.setEntry(key, QKeySequence::listToString(entry.action->shortcuts()));
    }
  }
}

namespace {

/// Returns the menu with this title in a menu bar or a menu, which it adds if there is none.
template <typename Parent>
QMenu* menuIn(Parent* parent, const QString& title) {
  for (QAction* existing : parent->actions()) {
    if (existing->menu() != nullptr && existing->text() == title) return existing->menu();
  }
  QMenu* menu = parent->addMenu(title);
  menu->setToolTipsVisible(true);
  return menu;
}

}  // namespace

void ActionRegistry::fillMenuBar(QMenuBar* bar) const {
  for (const Entry& entry : m_entries) {
    QMenu* menu = menuIn(bar, entry.spec.menu);
    if (!entry.spec.submenu.isEmpty()) menu = menuIn(menu, entry.spec.submenu);
    if (entry.spec.separatorBefore) menu->addSeparator();
    menu->addAction(entry.action);
  }
}

}  // namespace tessera::ui
