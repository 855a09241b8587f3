// SPDX-License-Identifier: GPL-3.0-or-later
// The configurations of PlanPanel: table, scatter plot, and the link between them and the draft.
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QScopedValueRollback>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/pages/candidate_delegate.h"
#include "ui/pages/plan_panel.h"
#include "ui/plots/pareto_scatter.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kCandidateRowHeight = 36;
constexpr int kHeaderHeight = 24;
constexpr int kMarkWidth = 18, kLeastNumber = 46;
constexpr int kMaxRows = 3;      // visible without scrolling
constexpr int kWidePanel = 430;  // from this width on all columns of the candidates are shown

}  // namespace

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
  auto* looks = new CandidateDelegate(m_table);
  looks->setTwoLines(true);
  m_table->setItemDelegate(looks);
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
  header->setSectionResizeMode(CandidateTableModel::MeshColumn, QHeaderView::Stretch);
  header->setSectionsClickable(false);

  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(title);
  setRole(m_estimateNote, QStringLiteral("caption"));
  m_estimateNote->setWordWrap(true);
  m_estimateNote->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  titleRow->addWidget(m_estimateNote, 1);
  auto* column = new QVBoxLayout(m_candidateGroup);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addLayout(titleRow);
  column->addWidget(m_candidateNote);
  column->addWidget(m_table);
  column->addWidget(m_recommendation);

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

void PlanPanel::refreshProposal() {
  const auto& proposal = m_proposal.proposal();
  QString note;
  switch (m_proposal.state()) {
    case DraftProposal::State::None:
      note = tr("Configurations appear once the job has GPUs.");
      break;
    case DraftProposal::State::Asking:
      if (!proposal) note = tr("Requesting configurations…");
      break;
    case DraftProposal::State::Failed:
      note = tr("There are no configurations: %1.").arg(m_proposal.problem());
      break;
    case DraftProposal::State::Ready:
      if (proposal->candidates.empty()) note = tr("No configuration of the job uses these GPUs.");
      break;
  }
  const bool guessed = proposal && !proposal->calibrated;
  m_estimateNote->setText(guessed ? tr("≈ step · moves · ≈ pause, not calibrated")
                                  : tr("≈ step · moves · ≈ pause"));
  m_estimateNote->setToolTip(
      guessed ? tr("Based on built-in constants. Run tesseractl probe to measure this cluster.")
              : QString());
  m_estimateNote->setVisible(proposal && !proposal->candidates.empty());
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

// At the usual width the table shows the main columns; the tool tip has the others. Micro-batch and
// ZeRO are the second line of the mesh.
void PlanPanel::fitColumns() {
  const bool wide = width() >= kWidePanel;
  m_table->horizontalHeader()->setVisible(wide);  // else the caption names the columns
  m_table->setFixedHeight((wide ? kHeaderHeight : 0) +
                          kCandidateRowHeight * std::clamp(m_candidates.rowCount(), 1, kMaxRows) +
                          2);
  m_table->setColumnHidden(CandidateTableModel::OptionsColumn, true);
  m_table->setColumnHidden(CandidateTableModel::TokensColumn, !wide);
  m_table->setColumnHidden(CandidateTableModel::PeakColumn, !wide);
  m_table->setColumnWidth(CandidateTableModel::MarkColumn, kMarkWidth);
  for (const auto column : {CandidateTableModel::StepColumn, CandidateTableModel::TokensColumn,
                            CandidateTableModel::MovesColumn, CandidateTableModel::PauseColumn,
                            CandidateTableModel::PeakColumn})
    setNumberRoom(*m_table, column, kLeastNumber);
}

void PlanPanel::resizeEvent(QResizeEvent* event) {
  Surface::resizeEvent(event);
  fitColumns();
}

}  // namespace tessera::ui
