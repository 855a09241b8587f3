// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_task.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/lesson/lesson_names.h"
#include "ui/format.h"
#include "ui/lessons/lesson_session.h"
#include "ui/sentences.h"
#include "ui/widgets/button_row.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

constexpr int kMostDegree = 4096;
constexpr int kBoxWidth = 44;

QString comparisonText(const std::string& comparison) {
  if (comparison == "<=") return LessonTaskCard::tr("at most");
  if (comparison == ">=") return LessonTaskCard::tr("at least");
  if (comparison == "<") return LessonTaskCard::tr("less than");
  if (comparison == ">") return LessonTaskCard::tr("more than");
  return LessonTaskCard::tr("exactly");
}

/// "✓ tensor-parallel degree: 4", "○ bytes that move: 3.1 GiB, at most 2 GiB".
QString lineOf(const engine::LessonCheck& check, bool drafted) {
  const QString what = localized(engine::LessonMeaning(check.left));
  const QString mark = check.holds ? QStringLiteral("✓ ") : QStringLiteral("○ ");
  if (check.comparison.empty()) return mark + what;
  if (!drafted || !check.known) {
    return mark +
           LessonTaskCard::tr("%1: %2 %3")
               .arg(what, comparisonText(check.comparison), LessonSession::print(check.limit));
  }
  const QString actual = LessonSession::print(check.actual);
  if (check.holds) return mark + LessonTaskCard::tr("%1: %2").arg(what, actual);
  return mark + LessonTaskCard::tr("%1: %2, must be %3 %4")
                    .arg(what, actual, comparisonText(check.comparison),
                         LessonSession::print(check.limit));
}

}  // namespace

LessonTaskCard::LessonTaskCard(LessonSession& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_title(new QLabel(tr("Your task"), this)),
      m_text(new QLabel(this)),
      m_hint(new QLabel(this)),
      m_problem(new QLabel(this)),
      m_plan(new QLabel(this)),
      m_microBatch(new QSpinBox(this)),
      m_zero(new QCheckBox(tr("ZeRO"), this)),
      m_rows(new QVBoxLayout) {
  setRole(m_title, QStringLiteral("heading"));
  for (QLabel* label : {m_text, m_hint}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::MarkdownText);
    connect(label, &QLabel::linkHovered, this, &LessonTaskCard::linkHovered);
  }
  setRole(m_hint, QStringLiteral("hint"));
  setRole(m_problem, QStringLiteral("bad"));
  setRole(m_plan, QStringLiteral("hint"));
  m_problem->setWordWrap(true);
  m_plan->setWordWrap(true);
  m_rows->setSpacing(3);

  auto* degrees = new QGridLayout;
  degrees->setHorizontalSpacing(8);
  degrees->setVerticalSpacing(2);
  // The rare axes have a row of their own: a narrow pane has no room for five fields.
  int common = 0, rare = 0;
  for (const ptc::Axis axis : ptc::kAxesInText) {
    const QString name = format::word(ptc::ToString(axis));
    auto* caption = new QLabel(name, this);
    setRole(caption, QStringLiteral("caption"));
    auto* box = new QSpinBox(this);
    box->setRange(1, kMostDegree);
    box->setKeyboardTracking(false);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    box->setMinimumWidth(kBoxWidth);
    box->setAccessibleName(name);
    caption->setBuddy(box);
    const int row = ptc::IsCommon(axis) ? 0 : 2;
    const int column = ptc::IsCommon(axis) ? common++ : rare++;
    degrees->addWidget(caption, row, column);
    degrees->addWidget(box, row + 1, column);
    m_boxes[static_cast<std::size_t>(axis)] = box;
    m_captions[static_cast<std::size_t>(axis)] = caption;
    connect(box, &QSpinBox::valueChanged, this,
            [this, axis](int value) { m_session.draft().pin(axis, value); });
  }
  auto* caption = new QLabel(tr("micro-batch"), this);
  setRole(caption, QStringLiteral("caption"));
  m_microBatch->setRange(0, kMostDegree);
  m_microBatch->setSpecialValueText(tr("auto"));
  m_microBatch->setKeyboardTracking(false);
  m_microBatch->setButtonSymbols(QAbstractSpinBox::NoButtons);
  m_microBatch->setMinimumWidth(std::max(kBoxWidth, m_microBatch->sizeHint().width()));
  m_microBatch->setAccessibleName(tr("Samples of a micro-batch"));
  caption->setBuddy(m_microBatch);
  degrees->setColumnStretch(common, 1);
  auto* batch = new QWidget(this);
  auto* batchRow = new QHBoxLayout(batch);
  batchRow->setContentsMargins(0, 0, 0, 0);
  batchRow->setSpacing(8);
  batchRow->addWidget(caption);
  batchRow->addWidget(m_microBatch);
  auto* options = new ButtonRow(8, this);
  options->add(m_zero);
  options->addStretch();
  options->add(batch);
  const auto setOptions = [this] {
    m_session.draft().setOptions({m_zero->isChecked(), m_microBatch->value()});
  };
  connect(m_microBatch, &QSpinBox::valueChanged, this, setOptions);
  connect(m_zero, &QCheckBox::toggled, this, setOptions);
  m_zero->setAccessibleName(m_zero->text());
  m_zero->setToolTip(tr("Cut the optimizer state over the replicas"));

  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(8);
  rows->addWidget(m_title);
  rows->addWidget(m_text);
  rows->addLayout(degrees);
  rows->addWidget(options);
  rows->addLayout(m_rows);
  rows->addWidget(m_problem);
  rows->addWidget(m_plan);
  rows->addWidget(m_hint);
}

void LessonTaskCard::refresh() {
  const auto& task = m_session.script().task;
  m_title->setText(task ? tr("Your task") : tr("Free play"));
  m_text->setText(task ? m_session.filled(task->text)
                       : tr("This draft is your own. **Start over** shows the step again."));
  m_hint->setText(task ? tr("Hint: %1").arg(m_session.filled(task->hint)) : QString());
  refreshControls();
  refreshConditions();
}

void LessonTaskCard::refreshControls() {
  const ptc::MeshShape mesh = m_session.drawnMesh();
  const ptc::MeshShape live = m_session.state().layout.mesh().shape();
  for (const ptc::Axis axis : ptc::kAxesInText) {
    const bool offered = ptc::IsCommon(axis) || mesh[axis] > 1 || live[axis] > 1;
    axisBox(axis)->setVisible(offered);
    m_captions[static_cast<std::size_t>(axis)]->setVisible(offered);
    const QSignalBlocker quiet(axisBox(axis));
    axisBox(axis)->setValue(static_cast<int>(mesh[axis]));
  }
  const engine::StepOptions options = m_session.drawnOptions();
  const QSignalBlocker quietZero(m_zero), quietBatch(m_microBatch);
  m_zero->setChecked(options.zero);
  m_microBatch->setValue(static_cast<int>(options.micro_batch));
}

void LessonTaskCard::refreshConditions() {
  const bool drafted = !m_session.draft().isEmpty();
  const auto checks =
      m_session.script().task ? m_session.checks() : std::vector<engine::LessonCheck>();
  while (m_conditions.size() < checks.size()) {
    auto* label = new QLabel(this);
    label->setWordWrap(true);
    m_rows->addWidget(label);
    m_conditions.push_back(label);
  }
  bool all = true;
  for (std::size_t i = 0; i < m_conditions.size(); ++i) {
    m_conditions[i]->setVisible(i < checks.size());
    if (i >= checks.size()) continue;
    setRole(m_conditions[i], checks[i].holds ? QStringLiteral("ok") : QString());
    m_conditions[i]->setText(lineOf(checks[i], drafted));
    all = all && checks[i].holds;
  }
  m_problem->setText(m_session.draftProblem());
  m_problem->setVisible(!m_session.draftProblem().isEmpty());
  const auto plan = m_session.planSummary();
  m_plan->setVisible(drafted && plan);
  if (plan) {
    m_plan->setText(tr("The plan moves %1, of which %2 over the network; pause ≈ %3.")
                        .arg(format::bytes(plan->moved()), format::bytes(plan->network),
                             format::seconds(plan->pause_estimate)));
  }
  const auto& task = m_session.script().task;
  m_hint->setVisible(task && !task->hint.empty() && !all);
}

QString LessonTaskCard::conditions() const {
  QStringList lines;
  for (const QLabel* label : m_conditions) {
    if (!label->isHidden()) lines << label->text();
  }
  return lines.join(u'\n');
}

}  // namespace tessera::ui
