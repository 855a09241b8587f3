// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/notice_bar.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "ui/widgets/key_values.h"

namespace tessera::ui {

NoticeBar::NoticeBar(QWidget* parent)
    : Surface(Tone::Accent, parent),
      m_text(new QLabel(this)),
      m_command(new QLabel(this)),
      m_copy(new QPushButton(tr("Copy"), this)),
      m_action(new QPushButton(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 2, 12, 2);
  row->setSpacing(10);
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_command->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  m_command->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_copy->setFlat(true);
  m_action->setFlat(true);
  row->addWidget(m_text, 1);
  row->addWidget(m_command);
  row->addWidget(m_copy);
  row->addWidget(m_action);
  m_copy->setAccessibleName(tr("Copy the command"));
  m_action->setAccessibleName(tr("Action of the notice"));
  setMinimumHeight(30);
  hide();
  connect(m_action, &QPushButton::clicked, this, &NoticeBar::actionTriggered);
  connect(m_copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(m_command->text()); });
}

QString NoticeBar::text() const { return m_text->text(); }

void NoticeBar::say(Tone tone, const QString& text, const QString& action, const QString& command) {
  setTone(tone);
  m_text->setText(text);
  QString role = QStringLiteral("accent");
  if (tone == Tone::Past) role.clear();
  if (tone == Tone::Warning) role = QStringLiteral("warn");
  if (tone == Tone::Problem) role = QStringLiteral("bad");
  setRole(m_text, role);
  m_command->setText(command);
  m_command->setVisible(!command.isEmpty());
  m_copy->setVisible(!command.isEmpty());
  m_copy->setAccessibleName(tr("Copy %1").arg(command));
  m_action->setText(action);
  m_action->setAccessibleName(action);
  m_action->setVisible(!action.isEmpty());
  show();
}

}  // namespace tessera::ui
