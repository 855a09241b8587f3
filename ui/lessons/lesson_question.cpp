// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_question.h"

#include <QButtonGroup>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRadioButton>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

#include "ui/lessons/lesson_session.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

/// The unit in which a number is entered: that in which the answer is printed, so that the answer
/// has few digits.
std::pair<double, QString> entryUnit(const engine::LessonValue& truth) {
  switch (truth.unit) {
    case engine::LessonUnit::kBytes: {
      const QString names[] = {QStringLiteral("B"), QStringLiteral("KiB"), QStringLiteral("MiB"),
                               QStringLiteral("GiB"), QStringLiteral("TiB")};
      std::size_t at = 0;
      double unit = 1;
      while (at + 1 < std::size(names) && truth.number >= 1024 * unit) {
        unit *= 1024;
        ++at;
      }
      return {unit, names[at]};
    }
    case engine::LessonUnit::kSeconds:
      return truth.number < 1 ? std::pair(1e-3, QStringLiteral("ms"))
                              : std::pair(1.0, QStringLiteral("s"));
    case engine::LessonUnit::kFraction:
      return {0.01, QStringLiteral("%")};
    case engine::LessonUnit::kCount:
    case engine::LessonUnit::kText:
      break;
  }
  return {1, QString()};
}

QLabel* textLabel(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::MarkdownText);
  return label;
}

}  // namespace

LessonQuestionCard::LessonQuestionCard(LessonSession& session, QWidget* parent)
    : QFrame(parent),
      m_session(session),
      m_ask(textLabel(this)),
      m_verdict(new QLabel(this)),
      m_explain(textLabel(this)),
      m_grid(new QGridLayout),
      m_choices(new QButtonGroup(this)),
      m_entry(new QDoubleSpinBox(this)) {
  setObjectName(QStringLiteral("lessonCard"));
  m_entry->setDecimals(1);
  m_entry->setRange(-1e9, 1e9);
  m_entry->setAccessibleName(tr("Your answer"));
  m_verdict->setWordWrap(true);
  m_grid->setHorizontalSpacing(4);
  m_grid->setVerticalSpacing(5);
  m_grid->setColumnStretch(1, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 12, 14, 12);
  column->setSpacing(8);
  column->addWidget(m_ask);
  column->addLayout(m_grid);
  column->addWidget(m_entry);
  column->addWidget(m_verdict);
  column->addWidget(m_explain);
  connect(m_choices, &QButtonGroup::idClicked, this, &LessonQuestionCard::touched);
  const auto entered = [this] {
    m_isEntered = true;
    emit touched();
  };
  connect(m_entry, &QDoubleSpinBox::valueChanged, this, entered);
  // 0 may be the answer, and typing it changes no value.
  connect(m_entry->findChild<QLineEdit*>(), &QLineEdit::textEdited, this, entered);
  for (QLabel* label : {m_ask, m_explain}) {
    connect(label, &QLabel::linkHovered, this, &LessonQuestionCard::linkHovered);
  }
}

// The text of a radio button does not wrap, so that each has a label beside it.
void LessonQuestionCard::addChoice(int id, const QString& text) {
  auto* button = new QRadioButton(this);
  button->setAccessibleName(text);
  auto* label = new QLabel(text, this);
  label->setWordWrap(true);
  label->setBuddy(button);
  label->installEventFilter(this);
  m_choices->addButton(button, id);
  m_grid->addWidget(button, id, 0, Qt::AlignTop);
  m_grid->addWidget(label, id, 1);
  m_labels.push_back(label);
}

void LessonQuestionCard::clearChoices() {
  const auto old = m_choices->buttons();
  for (QAbstractButton* button : old) delete button;
  for (QLabel* label : m_labels) delete label;
  m_labels.clear();
}

bool LessonQuestionCard::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseButtonRelease) {
    if (const auto* label = qobject_cast<QLabel*>(watched); label != nullptr && label->buddy()) {
      static_cast<QAbstractButton*>(label->buddy())->click();
    }
  }
  return QFrame::eventFilter(watched, event);
}

void LessonQuestionCard::restart() {
  const engine::LessonQuestion& question = *m_session.script().predict;
  m_ask->setText(QStringLiteral("**%1**").arg(m_session.filled(question.ask)));
  clearChoices();
  const engine::LessonAnswer answer = m_session.answer();
  for (std::size_t i = 0; i < answer.choices.size(); ++i) {
    QString text = LessonSession::print(answer.choices[i]);
    if (!question.choices[i].text.empty()) {
      text += QStringLiteral(": ") + QString::fromStdString(question.choices[i].text);
    }
    addChoice(static_cast<int>(i), text);
  }
  const bool typed = answer.choices.empty();
  m_entry->setVisible(typed);
  if (typed) {
    const auto [unit, name] = entryUnit(answer.value);
    m_unit = unit;
    const QSignalBlocker quiet(m_entry);
    m_entry->setDecimals(name.isEmpty() ? 0 : 1);
    m_entry->setSuffix(name.isEmpty() ? QString() : QLatin1Char(' ') + name);
    m_entry->setValue(0);
    m_isEntered = false;
  }
  refresh();
}

void LessonQuestionCard::refresh() {
  const auto given = m_session.given();
  const engine::LessonAnswer answer = m_session.answer();
  for (QAbstractButton* button : m_choices->buttons()) {
    button->setEnabled(!given);
    const bool right = answer.right == static_cast<std::size_t>(m_choices->id(button));
    setRole(m_labels[static_cast<std::size_t>(m_choices->id(button))],
            given && right ? QStringLiteral("ok") : QString());
    if (given && given->choice == m_choices->id(button)) button->setChecked(true);
  }
  m_entry->setEnabled(!given);
  m_verdict->setVisible(given.has_value());
  m_explain->setVisible(given && !m_session.script().predict->explain.empty());
  if (!given) return;
  setRole(m_verdict, given->right ? QStringLiteral("ok") : QStringLiteral("warn"));
  m_verdict->setText(given->right
                         ? tr("✓ Right: %1").arg(LessonSession::print(answer.value))
                         : tr("The answer is %1.").arg(LessonSession::print(answer.value)));
  m_explain->setText(m_session.filled(m_session.script().predict->explain, true));
}

bool LessonQuestionCard::canCheck() const {
  if (m_session.given()) return false;
  return m_choices->buttons().isEmpty() ? m_isEntered : m_choices->checkedId() >= 0;
}

void LessonQuestionCard::check() {
  if (!canCheck()) return;
  if (m_choices->buttons().isEmpty()) {
    m_session.enter(m_entry->value() * m_unit);
  } else {
    m_session.choose(m_choices->checkedId());
  }
}

QString LessonQuestionCard::verdict() const {
  return m_verdict->isHidden() ? QString() : m_verdict->text();
}

}  // namespace tessera::ui
