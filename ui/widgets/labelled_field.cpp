// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/labelled_field.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/widgets/key_values.h"

namespace tessera::ui {

LabelledField::LabelledField(const QString& label, QWidget* parent)
    : QWidget(parent),
      m_label(new QLabel(label, this)),
      m_edit(new QLineEdit(this)),
      m_note(wrappingLabel(QStringLiteral("caption"), this)) {
  setRole(m_label, QStringLiteral("hint"));
  m_label->setBuddy(m_edit);
  m_edit->setAccessibleName(label);
  m_note->setMinimumHeight(m_note->fontMetrics().height());
  auto* row = new QHBoxLayout;
  row->setSpacing(6);
  row->addWidget(m_edit, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(3);
  column->addWidget(m_label);
  column->addLayout(row);
  column->addWidget(m_note);
  column->addStretch();
  m_edit->setMinimumWidth(40);
  connect(m_edit, &QLineEdit::textEdited, this, [this](const QString& text) {
    m_isChanged = !text.isEmpty();
    emit edited();
  });
  connect(m_edit, &QLineEdit::editingFinished, this, [this] {
    if (!m_isChanged && m_edit->text() != m_fallback) m_edit->setText(m_fallback);
  });
}

void LabelledField::addChoice(const QString& value, const QString& text) {
  if (m_list == nullptr) {
    m_list = new QComboBox(this);
    m_list->setAccessibleName(m_label->text());
    m_list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_list->setMinimumContentsLength(4);
    m_label->setBuddy(m_list);
    auto* const row = static_cast<QHBoxLayout*>(layout()->itemAt(1)->layout());
    row->insertWidget(0, m_list, 1);
    m_edit->hide();
    connect(m_list, &QComboBox::activated, this, &LabelledField::edited);
  }
  m_list->addItem(text, value);
}

QPushButton* LabelledField::addButton(const QString& text, const QString& name) {
  auto* button = new QPushButton(text, this);
  button->setStyleSheet(QStringLiteral("QPushButton { padding: 0px 8px; }"));
  button->setAccessibleName(name);
  static_cast<QHBoxLayout*>(layout()->itemAt(1)->layout())->addWidget(button);
  return button;
}

QString LabelledField::value() const {
  if (m_list != nullptr) return m_list->currentData().toString();
  return m_isChanged ? m_edit->text() : QString();
}

void LabelledField::setValue(const QString& value) {
  if (m_list == nullptr) {
    m_isChanged = !value.isEmpty();
    m_edit->setText(m_isChanged ? value : m_fallback);
  } else {
    m_list->setCurrentIndex(std::max(0, m_list->findData(value)));
  }
}

void LabelledField::setFallback(const QString& text) {
  if (text == m_fallback) return;
  m_fallback = text;
  m_edit->setPlaceholderText(text);
  const bool isCleared = m_edit->hasFocus() && m_edit->text().isEmpty();
  if (!m_isChanged && !isCleared) m_edit->setText(text);
}

void LabelledField::setPlaceholder(const QString& text) { m_edit->setPlaceholderText(text); }

QString LabelledField::label() const { return m_label->text(); }

void LabelledField::setHelp(const QString& text) {
  setToolTip(text);
  QWidget* const editor = m_list == nullptr ? static_cast<QWidget*>(m_edit) : m_list;
  editor->setAccessibleDescription(text);
}

void LabelledField::setHint(const QString& text) {
  m_hint = text;
  refreshNote();
}

void LabelledField::setProblem(const QString& text) {
  if (text == m_problem) return;
  m_problem = text;
  m_edit->setProperty("wrong", !text.isEmpty());
  m_edit->style()->unpolish(m_edit);
  m_edit->style()->polish(m_edit);
  refreshNote();
}

QString LabelledField::noteText() const { return m_note->text(); }

void LabelledField::refreshNote() {
  m_note->setText(m_problem.isEmpty() ? m_hint : m_problem);
  setRole(m_note, m_problem.isEmpty() ? QStringLiteral("caption") : QStringLiteral("problem"));
}

}  // namespace tessera::ui
