// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/notice_bar.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <iterator>

#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

/// What a text says, without its ages, counts and percentages.
QString withoutNumbers(const QString& text) {
  QString rest;
  std::ranges::copy_if(text, std::back_inserter(rest), [](QChar c) { return !c.isDigit(); });
  return rest;
}

}  // namespace

NoticeBar::NoticeBar(QWidget* parent)
    : AlertSurface(Tone::Accent, parent),
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
  for (QPushButton* button : {m_copy, m_action}) {
    button->setFlat(true);
    button->setFocusPolicy(Qt::TabFocus);  // a click leaves the focus where it is
  }
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

void NoticeBar::say(const NoticeWords& words) {
  const bool isNews = isHidden() || words.tone != tone() ||
                      withoutNumbers(words.text) != withoutNumbers(m_text->text());
  setTone(words.tone);
  m_text->setText(words.text);
  QString role = QStringLiteral("accent");
  if (words.tone == Tone::Past) role.clear();
  if (words.tone == Tone::Warning) role = QStringLiteral("warn");
  if (words.tone == Tone::Problem) role = QStringLiteral("bad");
  setRole(m_text, role);
  m_command->setText(words.command);
  m_command->setVisible(!words.command.isEmpty());
  showPart(m_copy, !words.command.isEmpty());
  m_copy->setAccessibleName(tr("Copy %1").arg(words.command));
  m_action->setText(words.action);
  m_action->setAccessibleName(words.action);
  showPart(m_action, !words.action.isEmpty());
  show();
  setAccessibleName(words.text);
  if (isNews) announce(this, words.text);
}

void NoticeBar::sayOrHide(const std::optional<NoticeWords>& words) {
  if (words) return say(*words);
  hide();
}

}  // namespace tessera::ui
