// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/shortcuts_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>

#include "ui/actions/action_registry.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

QString actionName(QString text) {
  text.remove(QLatin1Char('&'));
  if (text.endsWith(QChar(0x2026))) text.chop(1);
  return text;
}

QString shown(const QList<QKeySequence>& keys) {
  return QKeySequence::listToString(keys, QKeySequence::NativeText)
      .replace(QLatin1String("; "), QLatin1String(", "));
}

}  // namespace

ShortcutsPage::ShortcutsPage(Settings& settings, ActionRegistry& actions, QWidget* parent)
    : SettingsPage(settings, tr("Shortcuts"), parent),
      m_actions(actions),
      m_filter(new QLineEdit(this)),
      m_list(new QTreeWidget(this)),
      m_name(new QLabel(this)),
      m_note(new QLabel(this)),
      m_editor(new QKeySequenceEdit(this)),
      m_set(new QPushButton(tr("Set"), this)),
      m_clear(new QPushButton(tr("No key"), this)),
      m_default(new QPushButton(tr("Default"), this)) {
  m_filter->setPlaceholderText(tr("Find an action or a key"));
  m_filter->setAccessibleName(tr("Find an action or a key"));
  m_filter->setClearButtonEnabled(true);
  m_list->setAccessibleName(tr("Actions and their keys"));
  m_list->setHeaderLabels({tr("Action"), tr("Keys"), tr("Menu")});
  m_list->setRootIsDecorated(false);
  m_list->setUniformRowHeights(true);
  m_editor->setAccessibleName(tr("New keys"));
  m_set->setAccessibleName(tr("Set the keys"));
  m_clear->setAccessibleName(tr("Remove the keys"));
  m_default->setAccessibleName(tr("Restore the default keys"));
  setRole(m_note, QStringLiteral("hint"));
  m_name->setFixedWidth(170);
  m_editor->setMinimumWidth(150);

  auto* row = new QWidget(this);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(m_name);
  line->addWidget(m_editor, 1);
  line->addWidget(m_set);
  line->addWidget(m_clear);
  line->addWidget(m_default);
  addWidget(m_filter);
  addWidget(m_list, 1);
  addWidget(row);
  m_note->setFixedHeight(18);
  addWidget(m_note);

  connect(m_filter, &QLineEdit::textChanged, this, &ShortcutsPage::filter);
  connect(m_list, &QTreeWidget::currentItemChanged, this, &ShortcutsPage::showChosen);
  connect(m_editor, &QKeySequenceEdit::keySequenceChanged, this, &ShortcutsPage::refreshNote);
  connect(m_set, &QPushButton::clicked, this, [this] { store({m_editor->keySequence()}); });
  connect(m_clear, &QPushButton::clicked, this, [this] { store({}); });
  connect(m_default, &QPushButton::clicked, this, [this] {
    if (const QAction* action = chosen()) store(m_actions.defaultShortcuts(action->objectName()));
  });
  fill();
}

QAction* ShortcutsPage::chosen() const {
  const QTreeWidgetItem* item = m_list->currentItem();
  return item == nullptr ? nullptr : m_actions.find(item->data(0, Qt::UserRole).toString());
}

void ShortcutsPage::fill() {
  const QAction* before = chosen();
  const QString keep = before == nullptr ? QString() : before->objectName();
  m_list->clear();
  QTreeWidgetItem* current = nullptr;
  for (const QAction* action : m_actions.all()) {
    auto* item =
        new QTreeWidgetItem(m_list, {actionName(action->text()), shown(action->shortcuts()),
                                     actionName(m_actions.menuOf(action))});
    item->setData(0, Qt::UserRole, action->objectName());
    item->setToolTip(0, action->statusTip());
    if (action->shortcuts() != m_actions.defaultShortcuts(action->objectName())) {
      QFont font = item->font(1);
      font.setWeight(QFont::DemiBold);
      item->setFont(1, font);
      item->setToolTip(
          1, tr("Default: %1").arg(shown(m_actions.defaultShortcuts(action->objectName()))));
    }
    if (action->objectName() == keep) current = item;
  }
  m_list->resizeColumnToContents(0);
  m_list->setColumnWidth(0, std::min(m_list->columnWidth(0) + 16, 240));
  m_list->setColumnWidth(1, 150);
  filter(m_filter->text());
  m_list->setCurrentItem(current != nullptr ? current : m_list->topLevelItem(0));
  showChosen();
}

void ShortcutsPage::filter(const QString& text) {
  for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
    QTreeWidgetItem* item = m_list->topLevelItem(i);
    bool matches = false;
    for (int column = 0; column < m_list->columnCount(); ++column) {
      matches |= item->text(column).contains(text, Qt::CaseInsensitive);
    }
    item->setHidden(!matches);
  }
}

void ShortcutsPage::showChosen() {
  const QAction* action = chosen();
  const bool fixed = action == nullptr || m_actions.isCanvasKey(action->objectName());
  m_name->setText(action == nullptr ? QString() : actionName(action->text()));
  m_editor->setKeySequence(action == nullptr || action->shortcuts().isEmpty()
                               ? QKeySequence()
                               : action->shortcuts().first());
  for (QWidget* widget : {static_cast<QWidget*>(m_editor), static_cast<QWidget*>(m_set),
                          static_cast<QWidget*>(m_clear), static_cast<QWidget*>(m_default)}) {
    widget->setEnabled(!fixed);
  }
  refreshNote();
}

QString ShortcutsPage::problem() const {
  const QAction* action = chosen();
  if (action == nullptr || m_editor->keySequence().isEmpty()) return {};
  if (m_editor->keySequence().count() > 1) return tr("Enter a single key combination.");
  const QAction* other = m_actions.holder(m_editor->keySequence());
  if (other == nullptr || other == action) return {};
  return tr("%1 is already used by %2.")
      .arg(m_editor->keySequence().toString(QKeySequence::NativeText), actionName(other->text()));
}

void ShortcutsPage::refreshNote() {
  const QAction* action = chosen();
  if (action == nullptr) return;
  const QString wrong = problem();
  setRole(m_note, wrong.isEmpty() ? QStringLiteral("hint") : QStringLiteral("bad"));
  if (!wrong.isEmpty()) {
    m_note->setText(wrong);
  } else if (m_actions.isCanvasKey(action->objectName())) {
    m_note->setText(tr("The mesh handles this key. It cannot be changed."));
  } else {
    m_note->setText(action->statusTip());
  }
  const bool editable = !m_actions.isCanvasKey(action->objectName());
  const QList<QKeySequence> wanted{m_editor->keySequence()};
  m_set->setEnabled(editable && wrong.isEmpty() && !m_editor->keySequence().isEmpty() &&
                    wanted != action->shortcuts());
  m_clear->setEnabled(editable && !action->shortcuts().isEmpty());
  m_default->setEnabled(editable &&
                        action->shortcuts() != m_actions.defaultShortcuts(action->objectName()));
}

void ShortcutsPage::store(const QList<QKeySequence>& keys) {
  const QAction* action = chosen();
  if (action == nullptr) return;
  for (const QKeySequence& key : keys) {
    const QAction* other = m_actions.holder(key);
    if (other != nullptr && other != action) return refreshNote();
  }
  m_actions.setShortcuts(action->objectName(), keys);
  m_actions.storeShortcuts(m_settings);
  fill();
}

void ShortcutsPage::reset() {
  m_actions.resetShortcuts();
  m_actions.storeShortcuts(m_settings);
  fill();
}

}  // namespace tessera::ui
