// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/typed_name_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

TypedNameDialog::TypedNameDialog(const Question& question, QWidget* parent)
    : Dialog(parent),
      m_wanted(question.name),
      m_name(new QLineEdit(this)),
      m_act(new QPushButton(question.button, this)) {
  setWindowTitle(question.title);
  setMinimumWidth(540);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 18, 20, 16);
  column->setSpacing(10);
  for (qsizetype i = 0; i < question.says.size(); ++i) {
    auto* label = wrappingLabel(i == 0 ? QString() : QStringLiteral("hint"), this);
    label->setText(question.says[i]);
    column->addWidget(label);
  }
  auto* ask = new QLabel(tr("Type %1 to confirm:").arg(question.name), this);
  ask->setTextFormat(Qt::PlainText);
  ask->setBuddy(m_name);
  m_name->setAccessibleName(tr("Name to type: %1").arg(question.name));
  column->addSpacing(4);
  column->addWidget(ask);
  column->addWidget(m_name);
  if (!question.command.isEmpty()) {
    auto* line = new CopyLine(tr("command"), tr("Copy as command"), this);
    line->setText(question.command);
    column->addWidget(line);
  }
  auto* cancel = new QPushButton(question.keep, this);
  cancel->setDefault(true);
  m_act->setEnabled(false);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(10);
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(m_act);
  column->addSpacing(6);
  column->addLayout(buttons);
  connect(m_name, &QLineEdit::textChanged, this, [this, cancel] {
    const bool same = m_name->text() == m_wanted;
    m_act->setEnabled(same);
    (same ? m_act : cancel)->setDefault(true);
  });
  connect(m_act, &QPushButton::clicked, this, &QDialog::accept);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  m_name->setFocus();
}

}  // namespace tessera::ui
