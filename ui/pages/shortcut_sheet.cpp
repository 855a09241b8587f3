// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/shortcut_sheet.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "ui/actions/action_registry.h"

namespace tessera::ui {

ShortcutSheet::ShortcutSheet(const ActionRegistry& actions, QWidget* parent)
    : Dialog(parent), m_list(new QTreeWidget(this)) {
  setWindowTitle(tr("Shortcuts"));
  m_list->setAccessibleName(tr("All actions and their shortcuts"));
  m_list->setHeaderLabels({tr("Action"), tr("Keys"), tr("Description")});
  m_list->setRootIsDecorated(false);
  m_list->setSelectionMode(QAbstractItemView::NoSelection);
  QTreeWidgetItem* group = nullptr;
  for (const QAction* action : actions.all()) {
    const QString menu = actions.menuOf(action).remove(QLatin1Char('&'));
    if (group == nullptr || group->text(0) != menu) {
      group = nullptr;
      for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        if (m_list->topLevelItem(i)->text(0) == menu) group = m_list->topLevelItem(i);
      }
      if (group == nullptr) {
        group = new QTreeWidgetItem(m_list, {menu});
        QFont bold = group->font(0);
        bold.setWeight(QFont::DemiBold);
        group->setFont(0, bold);
      }
    }
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts()) {
      keys << key.toString(QKeySequence::NativeText);
    }
    new QTreeWidgetItem(group, {action->text().remove(QLatin1Char('&')),
                                keys.join(QStringLiteral(", ")), action->statusTip()});
  }
  m_list->expandAll();
  m_list->resizeColumnToContents(0);
  m_list->resizeColumnToContents(1);
  m_list->header()->setStretchLastSection(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->addWidget(m_list, 1);
  column->addWidget(buttons);
  resize(820, 560);
}

}  // namespace tessera::ui
