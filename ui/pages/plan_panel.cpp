// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan_panel.h"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QStyle>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/icons.h"
#include "ui/models/device_names.h"
#include "ui/plots/pareto_scatter.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"
#include "ui/widgets/scrolled.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {
namespace {

constexpr int kMaxDegree = 65536;  // the limit of ptc::ParseMeshShape

constexpr int kCandidateRowHeight = 24;
constexpr int kHeaderHeight = 24;
constexpr int kMaxRows = 8;      // in sight without scrolling
constexpr int kWidePanel = 430;  // from here on every column of the candidates is shown
constexpr int kMaxMicroBatch = 65536;

QString axisName(ptc::Axis axis) {
  return QString::fromStdString(std::string(ptc::ToString(axis)));
}

/// Whether `words` speak of this axis: " tp ", "tp=", "TP 3".
bool names(const QString& words, const QString& axis) {
  const QRegularExpression word(QStringLiteral("\\b%1\\b").arg(axis),
                                QRegularExpression::CaseInsensitiveOption);
  return words.contains(word);
}

/// "18.1 MiB (provably the least)", or by how much another plan might be below it.
QString boundText(const engine::PlanCertificate& certificate) {
  const QString bytes = format::bytes(certificate.port_bytes);
  const double gap = engine::GapAboveBound(certificate);
  return gap > 0 ? PlanPanel::tr("%1 (at most %2 % above the least)")
                       .arg(bytes, QLocale().toString(100 * gap, 'f', 1))
                 : PlanPanel::tr("%1 (provably the least)").arg(bytes);
}

/// A field with a red edge: its value is what the message below it speaks of.
void setWrong(QWidget* field, bool wrong) {
  if (field->property("wrong").toBool() == wrong) return;
  field->setProperty("wrong", wrong);
  field->style()->unpolish(field);
  field->style()->polish(field);
}

/// How a candidate fits, as a shape; the recommended one stands out, the one that runs now is
/// named.
class CandidateDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Theme& theme = Theme::current();
    if (index.data(CandidateTableModel::HoveredRole).toBool() &&
        !option.state.testFlag(QStyle::State_Selected))
      painter->fillRect(option.rect, theme.soft);
    QStyledItemDelegate::paint(painter, option, index);
    if (index.column() != CandidateTableModel::MarkColumn) return;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->translate(QRectF(option.rect).center());
    switch (static_cast<Fit>(index.data(CandidateTableModel::FitRole).toInt())) {
      case Fit::Fits:
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.ok);
        painter->drawEllipse(QPointF(0, 0), 3.8, 3.8);
        break;
      case Fit::Tight: {
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.warn);
        const QPointF corners[] = {{-4.6, 3.6}, {4.6, 3.6}, {0, -4.4}};
        painter->drawPolygon(corners, 3);
        break;
      }
      case Fit::TooLarge:
        painter->setPen(QPen(theme.bad, 1.8, Qt::SolidLine, Qt::RoundCap));
        painter->drawLine(QPointF(-3.2, -3.2), QPointF(3.2, 3.2));
        painter->drawLine(QPointF(-3.2, 3.2), QPointF(3.2, -3.2));
        break;
    }
    painter->restore();
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const Theme& theme = Theme::current();
    const bool isMesh = index.column() == CandidateTableModel::MeshColumn;
    const bool best = index.data(CandidateTableModel::RecommendedRole).toBool();
    option->font = uiFont(12, isMesh ? (best ? QFont::DemiBold : QFont::Medium) : QFont::Normal);
    QColor color = isMesh ? theme.text : theme.dim;
    if (isMesh && best) color = theme.accent;
    option->palette.setColor(QPalette::Text, color);
    option->palette.setColor(QPalette::HighlightedText, isMesh ? color : theme.text);
    if (index.column() == CandidateTableModel::OptionsColumn) {
      option->font = uiFont(11);
      if (index.data(CandidateTableModel::CurrentRole).toBool()) {
        option->text = QString(option->text + QLatin1Char(' ') + PlanPanel::tr("now")).trimmed();
      }
    }
  }
};

}  // namespace

PlanPanel::PlanPanel(ClusterModel& model, Draft& draft, DraftPlan& plan, DraftProposal& proposal,
                     MoveControl& control, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_model(model),
      m_draft(draft),
      m_plan(plan),
      m_proposal(proposal),
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
      m_recommendation(new QLabel(this)),
      m_zero(new QCheckBox(tr("ZeRO"), this)),
      m_microBatch(new QSpinBox(this)),
      m_candidateGroup(new QWidget(this)),
      m_candidateNote(new QLabel(this)),
      m_estimateNote(new QLabel(this)),
      m_table(new QTableView(this)),
      m_scatter(new ParetoScatter(this)),
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

  m_zero->setAccessibleName(tr("ZeRO: cut the optimizer state over the replicas"));
  m_zero->setStatusTip(tr(
      "Cut the optimizer state over the data-parallel replicas. Each GPU then needs less memory"));
  m_microBatch->setRange(0, kMaxMicroBatch);
  m_microBatch->setPrefix(tr("micro-batch  "));
  m_microBatch->setSpecialValueText(tr("micro-batch  auto"));
  m_microBatch->setButtonSymbols(QAbstractSpinBox::NoButtons);
  m_microBatch->setKeyboardTracking(false);
  m_microBatch->setAccessibleName(tr("Samples per forward and backward pass"));
  m_microBatch->setStatusTip(tr("Samples per forward and backward pass. 0: the trainer chooses"));
  auto* optionRow = new QHBoxLayout;
  optionRow->setSpacing(8);
  optionRow->addWidget(m_microBatch, 1);
  optionRow->addWidget(m_zero);
  optionRow->addStretch(1);

  setRole(m_problem, QStringLiteral("bad"));
  setRole(m_batch, QStringLiteral("hint"));
  setRole(m_planTitle, QStringLiteral("heading"));
  setRole(m_why, QStringLiteral("hint"));
  setRole(m_recommendation, QStringLiteral("hint"));
  for (QLabel* label : {m_problem, m_batch, m_why, m_recommendation}) label->setWordWrap(true);

  m_copy->setFlat(true);
  m_copy->setAccessibleName(tr("Copy the plan as a command"));
  m_copy->setStatusTip(tr("Copy the command line for the same plan"));
  m_discard->setAccessibleName(tr("Discard the draft"));
  m_discard->setStatusTip(tr("Return to the live layout. Undo restores the draft"));
  m_discard->setAutoDefault(true);
  m_apply->setProperty("primary", true);
  m_apply->setAutoDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(10);
  buttons->addWidget(m_discard);
  buttons->addWidget(m_apply, 1);

  // Only what explains scrolls: the fields and the buttons stay in sight in a low window.
  buildCandidates();
  auto* details = new QWidget(this);
  auto* detailColumn = new QVBoxLayout(details);
  detailColumn->setContentsMargins(0, 0, 0, 0);
  detailColumn->setSpacing(10);
  detailColumn->addWidget(m_planTitle);
  detailColumn->addWidget(m_bar);
  detailColumn->addWidget(m_facts);
  detailColumn->addWidget(m_why);
  detailColumn->addWidget(m_candidateGroup);
  detailColumn->addStretch();
  QScrollArea* scroll = scrolled(details, this);
  scroll->setFocusPolicy(Qt::NoFocus);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 13, 16, 14);
  column->setSpacing(10);
  column->addLayout(titleRow);
  column->addLayout(axes);
  column->addLayout(optionRow);
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
  connect(&m_proposal, &DraftProposal::changed, this, &PlanPanel::refreshProposal);
  connect(&m_control, &MoveControl::changed, this, &PlanPanel::refreshButtons);
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

void PlanPanel::buildCandidates() {
  auto* title = new QLabel(tr("Configurations"), m_candidateGroup);
  setRole(title, QStringLiteral("heading"));
  setRole(m_candidateNote, QStringLiteral("hint"));
  m_candidateNote->setWordWrap(true);
  m_table->setObjectName(QStringLiteral("candidates"));
  m_table->setStyleSheet(
      QStringLiteral("QTableView::item { padding: 3px 2px; } "
                     "QHeaderView::section { padding: 4px 6px; }"));
  m_table->setModel(&m_candidates);
  m_table->setItemDelegate(new CandidateDelegate(m_table));
  m_table->setAccessibleName(tr("Configurations that the job could use"));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_table->setMouseTracking(true);
  makeQuiet(*m_table, kCandidateRowHeight);
  QHeaderView* header = m_table->horizontalHeader();
  header->setFixedHeight(kHeaderHeight);
  header->setHighlightSections(false);
  header->setMinimumSectionSize(14);
  header->setSectionResizeMode(QHeaderView::Fixed);
  header->setSectionResizeMode(CandidateTableModel::OptionsColumn, QHeaderView::Stretch);
  header->setSectionsClickable(false);

  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(title);
  titleRow->addStretch();
  setRole(m_estimateNote, QStringLiteral("caption"));
  titleRow->addWidget(m_estimateNote);
  auto* column = new QVBoxLayout(m_candidateGroup);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addWidget(new Rule(m_candidateGroup));
  column->addSpacing(2);
  column->addLayout(titleRow);
  column->addWidget(m_candidateNote);
  column->addWidget(m_table);
  column->addWidget(m_recommendation);
  column->addWidget(m_scatter);

  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (!m_marking && !rows.isEmpty()) choose(rows.first().row());
  });
  connect(m_table, &QTableView::entered, this,
          [this](const QModelIndex& index) { hover(index.row()); });
  m_table->viewport()->installEventFilter(this);
  connect(m_scatter, &ParetoScatter::candidateHovered, this, &PlanPanel::hover);
  connect(m_scatter, &ParetoScatter::candidateChosen, this, &PlanPanel::choose);
}

void PlanPanel::hover(std::optional<int> index) {
  m_candidates.setHovered(index);
  m_scatter->setHovered(index);
}

bool PlanPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Leave && watched == m_table->viewport()) hover(std::nullopt);
  return Surface::eventFilter(watched, event);
}

void PlanPanel::choose(int index) {
  if (!m_control.editBlockedReason().isEmpty()) return markChosen();
  m_proposal.choose(index);
}

QString PlanPanel::recommendationText() const { return m_recommendation->text(); }

QString PlanPanel::proposalText() const {
  return m_candidateNote->isHidden() ? QString() : m_candidateNote->text();
}

void PlanPanel::refreshProposal() {
  const auto& proposal = m_proposal.proposal();
  QString note;
  switch (m_proposal.state()) {
    case DraftProposal::State::None:
      note = tr("Configurations appear once the job has GPUs.");
      break;
    case DraftProposal::State::Asking:
      if (!proposal) note = tr("Asking the cluster…");
      break;
    case DraftProposal::State::Failed:
      note = tr("There are no configurations: %1.").arg(m_proposal.problem());
      break;
    case DraftProposal::State::Ready:
      if (proposal->candidates.empty()) note = tr("No configuration of the job uses these GPUs.");
      break;
  }
  const bool guessed = proposal && !proposal->calibrated;
  m_estimateNote->setText(guessed ? tr("≈ estimates, not calibrated") : tr("≈ estimates"));
  m_estimateNote->setToolTip(
      guessed ? tr("Based on built-in constants. Run tesseractl probe to measure this cluster.")
              : QString());
  m_candidateNote->setText(note);
  m_candidateNote->setVisible(!note.isEmpty());
  {
    const QScopedValueRollback<bool> silent(m_marking, true);
    m_candidates.setCandidates(
        proposal ? proposal->candidates : std::vector<engine::Candidate>(),
        [this](double seconds) { return m_proposal.tokensPerSecond(seconds); });
  }
  const int rows = m_candidates.rowCount();
  m_table->setVisible(rows > 0);
  m_table->setFixedHeight(kHeaderHeight + kCandidateRowHeight * std::clamp(rows, 1, kMaxRows) + 2);
  m_scatter->setVisible(rows > 1);
  std::vector<QString> words;
  for (int row = 0; row < rows; ++row) words.push_back(m_candidates.describe(row));
  m_scatter->setWords(std::move(words));
  m_scatter->setCandidates(m_candidates.candidates());
  m_scatter->setOutdated(m_proposal.state() == DraftProposal::State::Asking);
  fitColumns();
  markChosen();
  refreshPlan();
}

void PlanPanel::markChosen() {
  const QScopedValueRollback<bool> silent(m_marking, true);
  const auto& summary = m_plan.summary();
  const auto index = m_proposal.indexOf(summary ? std::optional(summary->to_mesh) : std::nullopt);
  const bool shown = index && *index < m_candidates.rowCount();
  if (shown) {
    m_table->selectionModel()->setCurrentIndex(
        m_candidates.index(*index, CandidateTableModel::MeshColumn),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  } else {
    m_table->clearSelection();
  }
  m_scatter->setChosen(shown ? index : std::nullopt);
}

// In the usual width the table says what decides; the tool tip has the rest.
void PlanPanel::fitColumns() {
  const bool wide = width() >= kWidePanel;
  m_table->setColumnHidden(CandidateTableModel::TokensColumn, !wide);
  m_table->setColumnHidden(CandidateTableModel::PauseColumn, !wide);
  m_table->setColumnHidden(CandidateTableModel::PeakColumn, !wide);
  const std::pair<CandidateTableModel::Columns, int> widths[] = {
      {CandidateTableModel::MarkColumn, 18},  {CandidateTableModel::MeshColumn, 84},
      {CandidateTableModel::StepColumn, 62},  {CandidateTableModel::TokensColumn, 76},
      {CandidateTableModel::MovesColumn, 74}, {CandidateTableModel::PauseColumn, 64},
      {CandidateTableModel::PeakColumn, 116}};
  for (const auto& [column, size] : widths) m_table->setColumnWidth(column, size);
}

void PlanPanel::resizeEvent(QResizeEvent* event) {
  Surface::resizeEvent(event);
  fitColumns();
}

QWidget* PlanPanel::makeAxisField(AxisRow& row) {
  const QString name = axisName(row.axis);
  row.box = new QSpinBox(this);
  row.box->setRange(1, kMaxDegree);
  row.box->setPrefix(name + QStringLiteral("  "));
  row.box->setButtonSymbols(QAbstractSpinBox::NoButtons);
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
  if (request.options) {
    text += QStringLiteral(" --zero %1")
                .arg(request.options->zero ? QStringLiteral("on") : QStringLiteral("off"));
    if (request.options->micro_batch > 0) {
      text += QStringLiteral(" --micro-batch %1").arg(request.options->micro_batch);
    }
  }
  return text;
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
  if (!edits.in.empty()) change << QStringLiteral("+%1").arg(edits.in.size());
  if (!edits.out.empty()) change << QChar(0x2212) + QString::number(edits.out.size());
  m_change->setText(change.isEmpty() ? (m_draft.isEmpty() ? tr("no changes") : tr("new mesh"))
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

  {
    const engine::StepOptions options = m_draft.options();
    const QSignalBlocker silent(m_microBatch);
    m_zero->setChecked(options.zero);
    m_microBatch->setValue(static_cast<int>(options.micro_batch));
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
                         ? tr("global batch stays %1: 1 sample per replica").arg(job->global_batch)
                         : tr("global batch stays %1: %2 samples per replica")
                               .arg(job->global_batch)
                               .arg(samples));
  }
}

void PlanPanel::refreshPlan() {
  const auto& summary = m_plan.summary();
  const bool outdated =
      m_plan.state() == DraftPlan::State::Planning || m_plan.state() == DraftPlan::State::Stale;
  m_bar->setVisible(summary.has_value());
  m_facts->setVisible(summary.has_value());
  m_copy->setVisible(!m_draft.isEmpty());
  QString recommendation;
  if (const auto& proposal = m_proposal.proposal(); proposal && !proposal->why.empty()) {
    const auto& all = proposal->candidates;
    const auto best = std::find_if(all.begin(), all.end(),
                                   [](const engine::Candidate& each) { return each.recommended; });
    if (best != all.end()) {
      recommendation = tr("Recommended: %1, %2")
                           .arg(format::shape(best->mesh), QString::fromStdString(proposal->why));
    }
  }
  m_recommendation->setText(recommendation);
  m_recommendation->setVisible(!recommendation.isEmpty());
  m_why->setText(summary ? QString::fromStdString(summary->why) : QString());
  // Said once where both are the same sentence.
  m_why->setVisible(!m_why->text().isEmpty() && !recommendation.endsWith(m_why->text()));
  if (!summary) {
    switch (m_plan.state()) {
      case DraftPlan::State::None:
        m_planTitle->setText(tr("Drag a GPU, edit an axis, or choose below"));
        break;
      case DraftPlan::State::Planning:
        m_planTitle->setText(tr("Planning…"));
        break;
      default:
        m_planTitle->setText(tr("No plan"));
        break;
    }
    return;
  }
  m_planTitle->setText(outdated ? tr("What will happen: planning…") : tr("What will happen"));
  m_bar->setOutdated(outdated);
  std::vector<StackedBar::Segment> parts{
      {tr("stay"), summary->kept + summary->device, StackedBar::Tone::Stay},
      {tr("in node"), summary->host, StackedBar::Tone::Inside},
      {tr("network"), summary->network, StackedBar::Tone::Network}};
  if (summary->snapshot + summary->storage > 0) {
    parts.push_back(
        {tr("storage"), summary->snapshot + summary->storage, StackedBar::Tone::Storage});
  }
  m_bar->setSegments(std::move(parts));

  std::vector<KeyValues::Row> rows;
  rows.push_back(
      {tr("pause (estimate)"), tr("≈ %1").arg(format::seconds(summary->pause_estimate))});
  if (summary->to_step_seconds) {
    const QString now = summary->from_step_seconds
                            ? tr(", now ≈ %1").arg(format::seconds(*summary->from_step_seconds))
                            : QString();
    rows.push_back(
        {tr("step (estimate)"), tr("≈ %1").arg(format::seconds(*summary->to_step_seconds)) + now});
  }
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
  const engine::PlanCertificate& certificate = summary->certificate;
  rows.push_back({tr("busiest port"),
                  certificate.port.empty() ? tr("nothing moves") : boundText(certificate),
                  {},
                  certificate.port.empty()
                      ? QString()
                      : tr("%1. Least of any plan: %2 direct, %3 with relay. Bandwidths: %4")
                            .arg(QString::fromStdString(certificate.port),
                                 format::bytes(certificate.direct_bound),
                                 format::bytes(certificate.relayed_bound),
                                 QString::fromStdString(certificate.bandwidths_from))});
  if (summary->relayed) {
    rows.push_back({tr("relayed"), tr("%1 over the network instead of %2")
                                       .arg(format::bytes(summary->network),
                                            format::bytes(summary->network_direct))});
  }
  rows.push_back({tr("held only once"), tr("%1 in %2 shards")
                                            .arg(format::bytes(certificate.single_source_bytes),
                                                 format::count(summary->single_source))});
  rows.push_back({tr("can be rolled back"),
                  summary->rollback ? tr("yes, until the commit") : tr("no"),
                  summary->rollback ? QString() : QStringLiteral("warn")});
  if (!summary->idle.empty()) {
    rows.push_back({tr("unused"), deviceNames(summary->idle), QStringLiteral("warn")});
  }
  QStringList offenders;
  for (const auto& over : m_plan.overflows()) offenders << format::device(over.device);
  if (!offenders.isEmpty()) {
    rows.push_back(
        {tr("does not fit on"), offenders.join(QStringLiteral(", ")), QStringLiteral("bad")});
  }
  m_facts->setRows(rows);
}

void PlanPanel::refreshButtons() {
  const QString reason = m_control.applyBlockedReason();
  const auto& summary = m_plan.summary();
  QString text = tr("Apply");
  if (m_control.isReadOnly()) {
    text = tr("Apply: read-only panel");
  } else if (!m_control.isOperating()) {
    text = tr("Apply: switch to Operate first");
  } else if (m_control.isSending()) {
    text = tr("Applying…");
  } else if (summary && m_plan.state() == DraftPlan::State::Ready) {
    const bool atOnce = m_control.isLive() && m_control.unrecordedReason().isEmpty();
    text = atOnce ? tr("Apply: move %1").arg(format::bytes(summary->moved()))
                  : tr("Apply: move %1…").arg(format::bytes(summary->moved()));
  }
  m_apply->setText(text);
  m_apply->setEnabled(reason.isEmpty());
  // What cannot be recorded asks first, and says why already here.
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
    m_microBatch->setEnabled(editReason.isEmpty());
    row.lock->setEnabled(editReason.isEmpty());
  }
}

}  // namespace tessera::ui
