// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/icons.h"
#include "ui/models/device_names.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {
namespace {

constexpr int kMaxDegree = 65536;  // the limit of ptc::ParseMeshShape

QString axisName(ptc::Axis axis) {
  return QString::fromStdString(std::string(ptc::ToString(axis)));
}

}  // namespace

PlanPanel::PlanPanel(ClusterModel& model, Draft& draft, DraftPlan& plan, MoveControl& control,
                     QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_model(model),
      m_draft(draft),
      m_plan(plan),
      m_control(control),
      m_axes{AxisRow{ptc::Axis::kDp}, AxisRow{ptc::Axis::kTp}, AxisRow{ptc::Axis::kPp}},
      m_change(new QLabel(this)),
      m_product(new QLabel(this)),
      m_problem(new QLabel(this)),
      m_batch(new QLabel(this)),
      m_planTitle(new QLabel(this)),
      m_bar(new StackedBar(this)),
      m_facts(new KeyValues(this)),
      m_why(new QLabel(this)),
      m_copy(new QPushButton(tr("Copy as command"), this)),
      m_discard(new QPushButton(tr("Discard"), this)),
      m_apply(new QPushButton(this)) {
  auto* title = new QLabel(tr("Plan"), this);
  setRole(title, QStringLiteral("heading"));
  setRole(m_change, QStringLiteral("hint"));
  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(title);
  titleRow->addStretch();
  titleRow->addWidget(m_change);

  auto* axes = new QHBoxLayout;
  axes->setSpacing(8);
  for (AxisRow& row : m_axes) axes->addWidget(makeAxisField(row), 1);

  setRole(m_problem, QStringLiteral("bad"));
  setRole(m_batch, QStringLiteral("hint"));
  setRole(m_planTitle, QStringLiteral("heading"));
  setRole(m_why, QStringLiteral("hint"));
  for (QLabel* label : {m_problem, m_batch, m_why}) label->setWordWrap(true);

  m_copy->setFlat(true);
  m_copy->setAccessibleName(tr("Copy the plan as a command"));
  m_copy->setStatusTip(tr("Copy the command line that makes the same plan"));
  m_discard->setAccessibleName(tr("Discard the draft"));
  m_discard->setStatusTip(tr("Back to the live layout; Undo brings the draft back"));
  m_discard->setAutoDefault(true);
  m_apply->setProperty("primary", true);
  m_apply->setAutoDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(10);
  buttons->addWidget(m_discard);
  buttons->addWidget(m_apply, 1);

  // Only what explains scrolls: the fields and the buttons stay in sight in a low window.
  auto* details = new QWidget(this);
  auto* detailColumn = new QVBoxLayout(details);
  detailColumn->setContentsMargins(0, 0, 0, 0);
  detailColumn->setSpacing(10);
  detailColumn->addWidget(m_planTitle);
  detailColumn->addWidget(m_bar);
  detailColumn->addWidget(m_facts);
  detailColumn->addWidget(m_why);
  detailColumn->addStretch();
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(details);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->viewport()->setAutoFillBackground(false);
  details->setAutoFillBackground(false);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 13, 16, 14);
  column->setSpacing(10);
  column->addLayout(titleRow);
  column->addLayout(axes);
  column->addWidget(m_product);
  column->addWidget(m_problem);
  column->addWidget(m_batch);
  column->addWidget(new Rule(this));
  column->addWidget(scroll, 1);
  column->addWidget(m_copy, 0, Qt::AlignLeft);
  column->addLayout(buttons);

  connect(m_apply, &QPushButton::clicked, this, &PlanPanel::applyRequested);
  connect(m_discard, &QPushButton::clicked, this, &PlanPanel::discardRequested);
  connect(m_copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(command()); });
  connect(&m_draft, &Draft::changed, this, &PlanPanel::refresh);
  connect(&m_plan, &DraftPlan::changed, this, &PlanPanel::refresh);
  connect(&m_control, &MoveControl::changed, this, &PlanPanel::refreshButtons);
  refresh();
}

QWidget* PlanPanel::makeAxisField(AxisRow& row) {
  const QString name = axisName(row.axis);
  row.box = new QSpinBox(this);
  row.box->setRange(1, kMaxDegree);
  row.box->setPrefix(name + QStringLiteral("  "));
  row.box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  row.box->setKeyboardTracking(false);
  row.box->setAccessibleName(tr("%1 degree").arg(name));
  row.box->setStatusTip(tr("Degree of %1: typing or the arrow keys fix it").arg(name));
  row.lock = new QToolButton(row.box);
  row.lock->setCheckable(true);
  row.lock->setFixedSize(22, 22);
  row.lock->setIconSize({12, 12});
  row.lock->setStyleSheet(QStringLiteral("QToolButton { padding: 0px; }"));
  row.lock->setCursor(Qt::ArrowCursor);
  row.lock->setAccessibleName(tr("Fix %1").arg(name));
  row.lock->setStatusTip(
      tr("Keep %1 as it is; the cluster chooses the degrees that are not fixed").arg(name));
  // The lock lies at the right end of the field.
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

QSpinBox* PlanPanel::axisBox(ptc::Axis axis) const { return rowOf(axis).box; }
QToolButton* PlanPanel::axisLock(ptc::Axis axis) const { return rowOf(axis).lock; }
QString PlanPanel::productText() const { return m_product->text(); }
QString PlanPanel::problemText() const { return m_problem->text(); }
QString PlanPanel::whyText() const { return m_why->isHidden() ? QString() : m_why->text(); }

ptc::MeshShape PlanPanel::shownMesh() const {
  if (const auto mesh = m_draft.mesh()) return *mesh;
  if (m_plan.summary() && !m_draft.isEmpty()) return m_plan.summary()->to_mesh;
  const engine::JobStatus* job = m_model.job();
  return job == nullptr ? ptc::MeshShape{} : job->mesh;
}

QString PlanPanel::command() const {
  const PlanRequest request = m_draft.request();
  QString text = QStringLiteral("tesseractl plan %1 --devices %2")
                     .arg(request.job, deviceArgument(request.devices));
  if (request.mesh) {
    text += QStringLiteral(" --mesh ") + QString::fromStdString(ptc::ToString(*request.mesh));
  }
  return text;
}

void PlanPanel::refresh() {
  refreshFields();
  refreshPlan();
  refreshButtons();
}

void PlanPanel::refreshFields() {
  const Draft::Edits& edits = m_draft.edits();
  QStringList change;
  if (!edits.in.empty()) change << QStringLiteral("+%1").arg(edits.in.size());
  if (!edits.out.empty()) change << QChar(0x2212) + QString::number(edits.out.size());
  m_change->setText(change.isEmpty() ? (m_draft.isEmpty() ? tr("nothing drafted") : tr("new mesh"))
                                     : tr("draft %1").arg(change.join(QLatin1Char(' '))));

  const ptc::MeshShape mesh = shownMesh();
  for (const AxisRow& row : m_axes) {
    const bool pinned = edits.pins[row.axis].has_value();
    {
      const QSignalBlocker silent(row.box);
      row.box->setValue(static_cast<int>(mesh[row.axis]));
    }
    row.lock->setChecked(pinned);
    const Theme& theme = Theme::current();
    row.lock->setIcon(pinned ? icon(QStringLiteral("locked"), theme.accent)
                             : icon(QStringLiteral("unlocked"), theme.faint));
  }

  const auto given = static_cast<std::int64_t>(m_draft.devices().size());
  const std::int64_t used = mesh.num_ranks();
  const bool planned = m_plan.summary() && m_plan.state() == DraftPlan::State::Ready;
  const auto idle = planned ? static_cast<std::int64_t>(m_plan.summary()->idle.size()) : 0;
  const bool fits = used + idle == given;
  const QString mark = fits ? QStringLiteral(" ✓") : QStringLiteral(" ✕");
  const bool unsettled = m_plan.state() == DraftPlan::State::Planning && !m_draft.mesh();
  m_product->setText(unsettled ? tr("planning…")
                               : tr("%1 = %2 of %3").arg(format::shape(mesh)).arg(used).arg(given) +
                                     mark);
  setRole(m_product, unsettled ? QStringLiteral("hint")
                     : fits    ? QStringLiteral("ok")
                               : QStringLiteral("bad"));

  const bool bad =
      m_plan.state() == DraftPlan::State::Invalid || m_plan.state() == DraftPlan::State::Failed;
  const bool stale = m_plan.state() == DraftPlan::State::Stale;
  m_problem->setText(m_plan.problem());
  m_problem->setVisible(bad || stale);
  setRole(m_problem, stale ? QStringLiteral("warn") : QStringLiteral("bad"));

  const engine::JobStatus* job = m_model.job();
  const std::int64_t replicas = mesh[ptc::Axis::kDp];
  const bool even = job != nullptr && job->global_batch > 0 && job->global_batch % replicas == 0;
  m_batch->setVisible(even && !bad);
  if (even) {
    const std::int64_t samples = job->global_batch / replicas;
    m_batch->setText(
        samples == 1
            ? tr("global batch %1 kept: 1 sample a replica").arg(job->global_batch)
            : tr("global batch %1 kept: %2 samples a replica").arg(job->global_batch).arg(samples));
  }
}

void PlanPanel::refreshPlan() {
  const auto& summary = m_plan.summary();
  const bool outdated =
      m_plan.state() == DraftPlan::State::Planning || m_plan.state() == DraftPlan::State::Stale;
  m_bar->setVisible(summary.has_value());
  m_facts->setVisible(summary.has_value());
  m_copy->setVisible(!m_draft.isEmpty());
  if (!summary) {
    m_why->hide();
    switch (m_plan.state()) {
      case DraftPlan::State::None:
        m_planTitle->setText(tr("Change something"));
        m_why->setText(tr("Drag a GPU, select it and press Space, or edit an axis."));
        m_why->show();
        break;
      case DraftPlan::State::Planning:
        m_planTitle->setText(tr("Planning…"));
        break;
      default:
        m_planTitle->setText(tr("There is no plan"));
        break;
    }
    return;
  }
  m_planTitle->setText(outdated ? tr("What will happen: planning…") : tr("What will happen"));
  m_bar->setOutdated(outdated);
  std::vector<StackedBar::Part> parts{
      {tr("stay"), summary->kept + summary->device, StackedBar::Tone::Stay},
      {tr("in node"), summary->host, StackedBar::Tone::Inside},
      {tr("network"), summary->network, StackedBar::Tone::Network}};
  if (summary->snapshot + summary->storage > 0) {
    parts.push_back(
        {tr("storage"), summary->snapshot + summary->storage, StackedBar::Tone::Storage});
  }
  m_bar->setParts(std::move(parts));

  std::vector<KeyValues::Row> rows;
  rows.push_back(
      {tr("pause (estimate)"), tr("≈ %1").arg(format::seconds(summary->pause_estimate))});
  const auto peak = std::max_element(summary->peak_memory.begin(), summary->peak_memory.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.bytes * std::max<std::int64_t>(1, b.capacity) <
                                              b.bytes * std::max<std::int64_t>(1, a.capacity);
                                     });
  if (peak != summary->peak_memory.end()) {
    const bool fits = peak->bytes <= peak->capacity;
    rows.push_back({tr("peak memory"),
                    format::bytesOf(peak->bytes, peak->capacity) +
                        (fits ? QStringLiteral(" ✓") : QStringLiteral(" ✕")),
                    fits ? QStringLiteral("ok") : QStringLiteral("bad"),
                    tr("highest on %1").arg(format::device(peak->device))});
  }
  QString port = format::bytes(summary->busiest_port_bytes);
  if (summary->busiest_port_bound) {
    port = summary->busiest_port_bytes == *summary->busiest_port_bound
               ? tr("%1 = the least possible").arg(port)
               : tr("%1, at least %2").arg(port, format::bytes(*summary->busiest_port_bound));
  }
  rows.push_back({tr("busiest port"), port});
  rows.push_back({tr("pieces with one source"), format::count(summary->single_source)});
  rows.push_back({tr("can be rolled back"),
                  summary->rollback ? tr("yes, until the commit") : tr("no"),
                  summary->rollback ? QString() : QStringLiteral("warn")});
  if (!summary->idle.empty()) {
    rows.push_back({tr("stay idle"), deviceNames(summary->idle), QStringLiteral("warn")});
  }
  QStringList offenders;
  for (const auto& over : m_plan.overflows()) offenders << format::device(over.device);
  if (!offenders.isEmpty()) {
    rows.push_back(
        {tr("does not fit on"), offenders.join(QStringLiteral(", ")), QStringLiteral("bad")});
  }
  m_facts->setRows(rows);
  m_why->setText(QString::fromStdString(summary->why));
  m_why->setVisible(!summary->why.empty());
}

void PlanPanel::refreshButtons() {
  const QString reason = m_control.applyBlockedReason();
  const auto& summary = m_plan.summary();
  QString text = tr("Apply");
  if (m_control.isReadOnly()) {
    text = tr("Apply: read-only panel");
  } else if (!m_control.isOperating()) {
    text = tr("Apply: arm Operate first");
  } else if (m_control.isSending()) {
    text = tr("Applying…");
  } else if (summary && m_plan.state() == DraftPlan::State::Ready) {
    text = m_control.isLive() ? tr("Apply: move %1").arg(format::bytes(summary->moved()))
                              : tr("Apply: move %1…").arg(format::bytes(summary->moved()));
  }
  m_apply->setText(text);
  m_apply->setEnabled(reason.isEmpty());
  m_apply->setToolTip(reason);
  m_apply->setStatusTip(reason.isEmpty() ? tr("Move the bytes; until the commit it can be undone")
                                         : reason);
  m_apply->setAccessibleName(text);
  m_apply->setAccessibleDescription(reason);
  const QString editReason = m_control.editBlockedReason();
  m_discard->setEnabled(!m_draft.isEmpty() && editReason.isEmpty());
  for (const AxisRow& row : m_axes) {
    row.box->setEnabled(editReason.isEmpty());
    row.lock->setEnabled(editReason.isEmpty());
  }
}

}  // namespace tessera::ui
