// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan_panel.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QStyle>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/icons.h"
#include "ui/models/device_names.h"
#include "ui/models/shell_words.h"
#include "ui/plots/pareto_scatter.h"
#include "ui/theme.h"
#include "ui/widgets/button_row.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/pipeline_box.h"
#include "ui/widgets/scrolled.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {
namespace {

// Three beside each other in the narrowest pane, with a scroll bar.
constexpr int kAxisField = 72;

constexpr int kMaxDegree = 65536;  // the limit of ptc::ParseMeshShape
constexpr int kMaxMicroBatch = 65536;

QString axisName(ptc::Axis axis) {
  return QString::fromStdString(std::string(ptc::ToString(axis)));
}

/// Returns whether `words` contain this axis: " tp ", "tp=", "TP 3".
bool names(const QString& words, const QString& axis) {
  const QRegularExpression word(QStringLiteral("\\b%1\\b").arg(axis),
                                QRegularExpression::CaseInsensitiveOption);
  return words.contains(word);
}

/// The options of `plan` for a way to move the state.
QStringList wordsOf(MoveWay way) {
  switch (way) {
    case MoveWay::Auto:
      break;
    case MoveWay::WhileTraining:
      return {QStringLiteral("--overlap"), QStringLiteral("on")};
    case MoveWay::InPause:
      return {QStringLiteral("--overlap"), QStringLiteral("off")};
    case MoveWay::InRounds:
      return {QStringLiteral("--move-memory"), QStringLiteral("auto")};
  }
  return {};
}

/// Marks a field with a red border, because the message below refers to its value.
void setWrong(QWidget* field, bool wrong) {
  if (field->property("wrong").toBool() == wrong) return;
  field->setProperty("wrong", wrong);
  field->style()->unpolish(field);
  field->style()->polish(field);
}

}  // namespace

PlanPanel::PlanPanel(ClusterModel& model, Draft& draft, DraftPlan& plan, DraftProposal& proposal,
                     MoveControl& control, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_model(model),
      m_draft(draft),
      m_plan(plan),
      m_proposal(proposal),
      m_control(control),
      m_change(new QLabel(this)),
      m_product(new QLabel(this)),
      m_problem(new QLabel(this)),
      m_batch(new QLabel(this)),
      m_planTitle(new QLabel(this)),
      m_bar(new StackedBar(this)),
      m_mainFacts(new KeyValues(this)),
      m_facts(new KeyValues(this)),
      m_more(new QToolButton(this)),
      m_details(new QWidget(this)),
      m_pipeline(new PipelineBox(this)),
      m_why(new QLabel(this)),
      m_recommendation(new QLabel(this)),
      m_zero(new QCheckBox(tr("ZeRO"), this)),
      m_microBatch(new QSpinBox(this)),
      m_way(new QComboBox(this)),
      m_candidateGroup(new QWidget(this)),
      m_candidateNote(new QLabel(this)),
      m_estimateNote(new QLabel(this)),
      m_table(new QTableView(this)),
      m_scatter(new ParetoScatter(this)),
      m_copy(new QPushButton(tr("Copy command"), this)),
      m_discard(new QPushButton(tr("Discard"), this)),
      m_apply(new QPushButton(this)) {
  auto* title = new QLabel(tr("Plan"), this);
  setRole(title, QStringLiteral("heading"));
  setRole(m_change, QStringLiteral("hint"));
  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(title);
  titleRow->addStretch();
  titleRow->addWidget(m_change);

  // The rare axes have a row of their own, which takes no room while its fields are hidden.
  auto* axes = new QHBoxLayout;
  auto* rareAxes = new QHBoxLayout;
  for (QHBoxLayout* row : {axes, rareAxes}) row->setSpacing(8);
  for (std::size_t i = 0; i < m_axes.size(); ++i) {
    const ptc::Axis axis = ptc::kAxesInText[i];
    m_axes[i].axis = axis;
    (ptc::IsCommon(axis) ? axes : rareAxes)->addWidget(makeAxisField(m_axes[i]), 1);
  }

  m_zero->setAccessibleName(tr("ZeRO: cut the optimizer state over the replicas"));
  m_zero->setStatusTip(tr(
      "Cut the optimizer state over the data-parallel replicas. Each GPU then needs less memory"));
  m_microBatch->setRange(0, kMaxMicroBatch);
  m_microBatch->setPrefix(tr("micro-batch "));
  m_microBatch->setSpecialValueText(tr("micro-batch auto"));
  m_microBatch->setButtonSymbols(QAbstractSpinBox::NoButtons);
  m_microBatch->setKeyboardTracking(false);
  m_microBatch->setAccessibleName(tr("Samples per forward and backward pass"));
  m_microBatch->setStatusTip(tr("Samples per forward and backward pass. 0: the trainer chooses"));
  m_way->addItem(tr("Move: least pause"));
  m_way->addItem(tr("Move while training"));
  m_way->addItem(tr("Move in the pause"));
  m_way->addItem(tr("Move in rounds"));
  m_way->setAccessibleName(tr("How the state moves"));
  m_way->view()->setAccessibleName(m_way->accessibleName());
  m_way->setStatusTip(
      tr("In rounds, where memory is short: each frees what the one before has moved, and there is "
         "no rollback from the first on"));
  auto* optionRow = new ButtonRow(8, this);
  optionRow->add(m_microBatch, 1);
  optionRow->add(m_zero);

  setRole(m_problem, QStringLiteral("bad"));
  setRole(m_batch, QStringLiteral("hint"));
  setRole(m_planTitle, QStringLiteral("heading"));
  setRole(m_why, QStringLiteral("hint"));
  setRole(m_recommendation, QStringLiteral("hint"));
  for (QLabel* label : {m_problem, m_batch, m_planTitle, m_why, m_recommendation})
    label->setWordWrap(true);

  m_copy->setFlat(true);
  m_copy->setAccessibleName(tr("Copy the plan as a command"));
  m_copy->setStatusTip(tr("Copy the command line for the same plan"));
  m_discard->setAccessibleName(tr("Discard the draft"));
  m_discard->setStatusTip(tr("Return to the live layout. Undo restores the draft"));
  m_apply->setProperty("primary", true);
  // The button that names the effect has a row of its own, because its text is long.
  auto* buttons = new ButtonRow(8, this);
  buttons->add(m_copy);
  buttons->add(m_discard);

  buildCandidates();
  buildEffect();
  auto* content = new QWidget(this);
  auto* contentColumn = new QVBoxLayout(content);
  contentColumn->setContentsMargins(0, 0, 0, 0);
  contentColumn->setSpacing(10);
  contentColumn->addWidget(m_candidateGroup);
  contentColumn->addLayout(axes);
  contentColumn->addLayout(rareAxes);
  contentColumn->addWidget(optionRow);
  contentColumn->addWidget(m_way);
  contentColumn->addWidget(m_product);
  contentColumn->addWidget(m_problem);
  contentColumn->addWidget(m_batch);
  contentColumn->addWidget(new Rule(content));
  contentColumn->addWidget(m_planTitle);
  contentColumn->addWidget(m_bar);
  contentColumn->addWidget(m_mainFacts);
  contentColumn->addWidget(m_more, 0, Qt::AlignLeft);
  contentColumn->addWidget(m_details);
  contentColumn->addWidget(m_pipeline);
  contentColumn->addStretch();
  QScrollArea* scroll = scrolled(content, this);
  scroll->setFocusPolicy(Qt::NoFocus);
  connect(qApp, &QApplication::focusChanged, scroll, [scroll](QWidget*, QWidget* focused) {
    if (scroll->widget()->isAncestorOf(focused)) scroll->ensureWidgetVisible(focused);
  });

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 13, 16, 14);
  column->setSpacing(10);
  column->addLayout(titleRow);
  column->addWidget(scroll, 1);
  column->addWidget(buttons);
  column->addWidget(m_apply);

  connect(m_apply, &QPushButton::clicked, this, &PlanPanel::applyRequested);
  connect(m_discard, &QPushButton::clicked, this, &PlanPanel::discardRequested);
  connect(m_copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(command()); });
  connect(&m_draft, &Draft::changed, this, &PlanPanel::refresh);
  connect(&m_plan, &DraftPlan::changed, this, &PlanPanel::refresh);
  connect(&m_proposal, &DraftProposal::changed, this, &PlanPanel::refreshProposal);
  connect(&m_control, &MoveControl::changed, this, &PlanPanel::refreshButtons);
  connect(m_way, &QComboBox::activated, &m_plan,
          [this](int index) { m_plan.setWay(static_cast<MoveWay>(index)); });
  connect(m_zero, &QCheckBox::clicked, this, [this](bool on) {
    engine::StepOptions options = m_draft.options();
    options.zero = on;
    m_draft.setOptions(options);
  });
  connect(m_microBatch, &QSpinBox::valueChanged, this, [this](int value) {
    engine::StepOptions options = m_draft.options();
    options.micro_batch = value;
    m_draft.setOptions(options);
  });
  refresh();
}

QString PlanPanel::recommendationText() const { return m_recommendation->text(); }

QWidget* PlanPanel::makeAxisField(AxisRow& row) {
  const QString name = axisName(row.axis);
  row.box = new QSpinBox(this);
  row.box->setRange(1, kMaxDegree);
  row.box->setPrefix(name + QStringLiteral("  "));
  row.box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  row.box->setMinimumWidth(kAxisField);
  row.box->setKeyboardTracking(false);
  row.box->setAccessibleName(tr("%1 degree").arg(name));
  row.box->setStatusTip(tr("Degree of %1. Typing or the arrow keys fix it").arg(name));
  row.lock = new QToolButton(row.box);
  row.lock->setCheckable(true);
  row.lock->setFixedSize(22, 22);
  row.lock->setIconSize({12, 12});
  row.lock->setStyleSheet(QStringLiteral("QToolButton { padding: 0px; }"));
  row.lock->setCursor(Qt::ArrowCursor);
  row.lock->setAccessibleName(tr("Fix %1").arg(name));
  row.lock->setStatusTip(
      tr("Keep %1 at this value. The cluster chooses the degrees that are not fixed").arg(name));
  // The lock is at the right end of the field.
  auto* layout = new QHBoxLayout(row.box);
  layout->setContentsMargins(0, 0, 3, 0);
  layout->addStretch();
  layout->addWidget(row.lock);
  const ptc::Axis axis = row.axis;
  connect(row.box, &QSpinBox::valueChanged, this,
          [this, axis](int value) { m_draft.pin(axis, value); });
  connect(row.lock, &QToolButton::clicked, this, [this, axis](bool checked) {
    if (checked) {
      m_draft.pin(axis, rowOf(axis).box->value());
    } else {
      m_draft.pin(axis, std::nullopt);
    }
  });
  return row.box;
}

const PlanPanel::AxisRow& PlanPanel::rowOf(ptc::Axis axis) const {
  const auto found = std::find_if(m_axes.begin(), m_axes.end(),
                                  [&](const AxisRow& row) { return row.axis == axis; });
  return *found;
}

void PlanPanel::addDetail(QWidget* part) {
  auto* const column = static_cast<QVBoxLayout*>(m_details->layout());
  column->insertWidget(column->indexOf(m_facts) + 1, part);
}

QSpinBox* PlanPanel::axisBox(ptc::Axis axis) const { return rowOf(axis).box; }
QToolButton* PlanPanel::axisLock(ptc::Axis axis) const { return rowOf(axis).lock; }
QString PlanPanel::productText() const { return m_product->text(); }
QString PlanPanel::problemText() const { return m_problem->text(); }
QString PlanPanel::whyText() const { return m_why->isHidden() ? QString() : m_why->text(); }

bool PlanPanel::offers(ptc::Axis axis, const ptc::MeshShape& shown) const {
  if (ptc::IsCommon(axis) || shown[axis] > 1) return true;
  // Built-in models have no experts and no context parallelism; a program may have both.
  const engine::JobStatus* job = m_model.job();
  return job != nullptr && (job->mesh[axis] > 1 || !job->command.empty());
}

ptc::MeshShape PlanPanel::shownMesh() const {
  if (const auto mesh = m_draft.mesh()) return *mesh;
  if (m_plan.summary() && !m_draft.isEmpty()) return m_plan.summary()->to_mesh;
  const engine::JobStatus* job = m_model.job();
  return job == nullptr ? ptc::MeshShape{} : job->mesh;
}

QString PlanPanel::command() const {
  const PlanRequest request = m_draft.request();
  QStringList words{QStringLiteral("plan"), request.job, QStringLiteral("--devices"),
                    deviceArgument(request.devices)};
  if (request.mesh) {
    words << QStringLiteral("--mesh") << QString::fromStdString(ptc::ToString(*request.mesh));
  }
  if (request.pinned) words << QStringLiteral("--pin");
  words << wordsOf(m_plan.way());
  if (request.options) {
    words << QStringLiteral("--zero")
          << (request.options->zero ? QStringLiteral("on") : QStringLiteral("off"));
    if (request.options->micro_batch > 0) {
      words << QStringLiteral("--micro-batch") << QString::number(request.options->micro_batch);
    }
  }
  return commandLine(QString::fromStdString(m_model.snapshot().cluster), words);
}

void PlanPanel::refresh() {
  refreshFields();
  markChosen();
  refreshPlan();
  refreshButtons();
}

void PlanPanel::refreshFields() {
  const Draft::Edits& edits = m_draft.edits();
  QStringList change;
  if (!edits.in.empty()) change << QLatin1Char('+') + format::count(std::ssize(edits.in));
  if (!edits.out.empty()) change << QChar(0x2212) + format::count(std::ssize(edits.out));
  m_change->setText(change.isEmpty() ? (m_draft.isEmpty() ? tr("no changes") : tr("new mesh"))
                                     : tr("draft %1").arg(change.join(QLatin1Char(' '))));

  const ptc::MeshShape mesh = shownMesh();
  for (const AxisRow& row : m_axes) {
    const bool pinned = edits.pins[row.axis].has_value();
    row.box->setVisible(pinned || offers(row.axis, mesh));
    {
      const QSignalBlocker silent(row.box);
      row.box->setValue(static_cast<int>(mesh[row.axis]));
    }
    row.lock->setChecked(pinned);
    const Theme& theme = Theme::current();
    row.lock->setIcon(pinned ? icon(QStringLiteral("locked"), theme.accent)
                             : icon(QStringLiteral("unlocked"), theme.faint));
  }

  {
    const engine::StepOptions options = m_draft.options();
    const QSignalBlocker silent(m_microBatch);
    m_zero->setChecked(options.zero);
    m_way->setCurrentIndex(static_cast<int>(m_plan.way()));
    m_way->setVisible(!m_draft.isEmpty());
    m_microBatch->setValue(static_cast<int>(options.micro_batch));
  }

  const auto given = static_cast<std::int64_t>(m_draft.devices().size());
  const std::int64_t used = mesh.num_ranks();
  const bool planned = m_plan.summary() && m_plan.state() == DraftPlan::State::Ready;
  const auto idle = planned ? static_cast<std::int64_t>(m_plan.summary()->idle.size()) : 0;
  const bool fits = used + idle == given;
  const QString mark = fits ? QStringLiteral(" ✓") : QStringLiteral(" ✕");
  const bool unsettled = m_plan.state() == DraftPlan::State::Planning && !m_draft.mesh();
  m_product->setText(
      unsettled ? tr("planning…")
                : tr("%1 = %2 of %3")
                          .arg(format::shape(mesh), format::count(used), format::count(given)) +
                      mark);
  setRole(m_product, unsettled ? QStringLiteral("hint")
                     : fits    ? QStringLiteral("ok")
                               : QStringLiteral("bad"));

  const bool bad =
      m_plan.state() == DraftPlan::State::Invalid || m_plan.state() == DraftPlan::State::Failed;
  m_problem->setText(m_plan.problem());
  m_problem->setVisible(!m_plan.problem().isEmpty());
  setRole(m_problem, bad ? QStringLiteral("bad") : QStringLiteral("warn"));

  for (const AxisRow& row : m_axes) {
    setWrong(row.box, bad && names(m_plan.problem(), axisName(row.axis)));
  }
  setWrong(m_microBatch, bad && names(m_plan.problem(), QStringLiteral("micro.batch")));

  const engine::JobStatus* job = m_model.job();
  const std::int64_t replicas = mesh[ptc::Axis::kDp];
  const bool even = job != nullptr && job->global_batch > 0 && job->global_batch % replicas == 0;
  m_batch->setVisible(even && !bad);
  if (even) {
    const std::int64_t samples = job->global_batch / replicas;
    m_batch->setText(samples == 1
                         ? tr("global batch stays %1: 1 sample per replica")
                               .arg(format::count(job->global_batch))
                         : tr("global batch stays %1: %2 samples per replica")
                               .arg(format::count(job->global_batch), format::count(samples)));
  }
}

void PlanPanel::refreshButtons() {
  const QString reason = m_control.applyBlockedReason();
  const auto& summary = m_plan.summary();
  QString text = tr("Apply");
  if (m_control.isReadOnly()) {
    text = tr("Apply: read-only panel");
  } else if (!m_control.isOperating()) {
    text = tr("Apply: only in Operate");
  } else if (m_control.isSending()) {
    text = tr("Applying…");
  } else if (summary && m_plan.state() == DraftPlan::State::Ready) {
    const bool atOnce = m_control.isLive() && m_control.unrecordedReason().isEmpty();
    text = atOnce ? tr("Apply: move %1").arg(format::bytes(summary->moved()))
                  : tr("Apply: move %1…").arg(format::bytes(summary->moved()));
  }
  m_apply->setText(text);
  m_apply->setEnabled(reason.isEmpty());
  // A change that cannot be recorded needs a confirmation; show the reason here already.
  const QString words = reason.isEmpty() ? m_control.unrecordedReason() : reason;
  m_apply->setToolTip(words);
  m_apply->setStatusTip(
      words.isEmpty() ? tr("Carry out the change. Until the commit it can be rolled back") : words);
  m_apply->setAccessibleName(text);
  m_apply->setAccessibleDescription(words);
  const QString editReason = m_control.editBlockedReason();
  m_discard->setEnabled(!m_draft.isEmpty() && editReason.isEmpty());
  for (const AxisRow& row : m_axes) {
    row.box->setEnabled(editReason.isEmpty());
    m_zero->setEnabled(editReason.isEmpty());
    m_way->setEnabled(editReason.isEmpty());
    m_microBatch->setEnabled(editReason.isEmpty());
    row.lock->setEnabled(editReason.isEmpty());
  }
}

}  // namespace tessera::ui
