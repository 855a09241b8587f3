// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/flows_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

using engine::FlowState;

constexpr int kFlowRow = 24;

class FlowDelegate : public QuietDelegate {
 public:
  using QuietDelegate::QuietDelegate;

 protected:
  QColor colorOf(const QModelIndex& index) const override {
    const Theme& theme = Theme::current();
    if (index.column() != LinkTableModel::StateColumn) {
      return index.column() < LinkTableModel::BytesColumn ? theme.text : theme.dim;
    }
    const auto* model = qobject_cast<const LinkTableModel*>(index.model());
    switch (model->row(index.row()).state) {
      case FlowState::kStalled:
        return theme.warn;
      case FlowState::kDone:
        return theme.ok;
      case FlowState::kMoving:
        return theme.accent;
      case FlowState::kWaiting:
        break;
    }
    return theme.dim;
  }
};

}  // namespace

FlowsPage::FlowsPage(QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_table(new QTableView(this)),
      m_corner(new QWidget(this)),
      m_words(new QLabel(this)),
      m_empty(wrappingLabel(QStringLiteral("hint"), this)),
      m_movingOnly(new QCheckBox(tr("Moving only"), m_corner)) {
  m_flows.sort(LinkTableModel::LeftColumn, Qt::DescendingOrder);
  setRole(m_words, QStringLiteral("hint"));
  m_movingOnly->setAccessibleName(tr("Only flows that move"));
  m_movingOnly->setAccessibleName(tr("Show moving flows only"));
  m_movingOnly->setToolTip(tr("Hide the flows that wait or are done"));
  m_table->setModel(&m_flows);
  m_table->setItemDelegate(new FlowDelegate(m_table));
  m_table->setAccessibleName(tr("Flows of the change"));
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  makeQuiet(*m_table, kFlowRow);
  QHeaderView* header = m_table->horizontalHeader();
  header->setHighlightSections(false);
  header->setStretchLastSection(true);
  header->setSectionsClickable(true);
  connect(header, &QHeaderView::sectionClicked, this, [this](int column) {
    const bool flip = column == m_flows.sortColumn();
    const bool largestFirst =
        flip ? m_flows.sortOrder() == Qt::AscendingOrder : column >= LinkTableModel::BytesColumn;
    m_flows.sort(column, largestFirst ? Qt::DescendingOrder : Qt::AscendingOrder);
  });
  m_table->setColumnHidden(LinkTableModel::TensorColumn, true);
  m_table->setColumnHidden(LinkTableModel::RangeColumn, true);
  for (const auto& [column, width] :
       {std::pair(LinkTableModel::FromColumn, 80), std::pair(LinkTableModel::ToColumn, 80),
        std::pair(LinkTableModel::BytesColumn, 100), std::pair(LinkTableModel::DoneColumn, 80),
        std::pair(LinkTableModel::RateColumn, 110), std::pair(LinkTableModel::LeftColumn, 110),
        std::pair(LinkTableModel::StateColumn, 90)}) {
    m_table->setColumnWidth(column, width);
  }
  auto* row = new QHBoxLayout(m_corner);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(12);
  row->addWidget(m_movingOnly);
  m_empty->setContentsMargins(16, 12, 16, 12);
  m_empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 2, 8, 0);
  column->setSpacing(2);
  m_words->setContentsMargins(8, 0, 0, 0);
  column->addWidget(m_words);
  column->addWidget(m_table, 1);
  column->addWidget(m_empty, 1);
  connect(m_movingOnly, &QCheckBox::toggled, this, &FlowsPage::showFlows);
  showFlows();
}

QString FlowsPage::words() const { return m_all.empty() ? m_empty->text() : m_words->text(); }

void FlowsPage::refresh(const ClusterModel& model) {
  const auto& txn = model.snapshot().transaction;
  const bool isRunning = txn && !engine::IsFinal(txn->phase);
  // An outcome keeps the flows as they were last seen, if this panel has seen them.
  const bool takes = txn && (isRunning || txn->id == m_txn);
  if (!takes && !m_isRunning) return;
  m_isRunning = isRunning;
  if (takes) {
    m_txn = txn->id;
    m_all = txn->flows;
  }
  showFlows();
}

void FlowsPage::clear() {
  m_all.clear();
  m_txn = 0;
  m_isRunning = false;
  showFlows();
}

void FlowsPage::showFlows() {
  std::vector<engine::FlowStatus> flows = m_all;
  if (m_movingOnly->isChecked()) {
    std::erase_if(flows, [](const engine::FlowStatus& flow) {
      return flow.state != FlowState::kMoving && flow.state != FlowState::kStalled;
    });
  }
  m_flows.setFlows(flows);
  if (!m_sorted.isValid() || m_sorted.elapsed() >= kSortMs) {
    m_flows.sortAgain();
    m_sorted.start();
  }
  m_table->setVisible(!flows.empty());
  m_empty->setVisible(flows.empty());
  m_empty->setText(m_all.empty() ? tr("No change is in progress. While one is, each flow between "
                                      "two GPUs has a row here.")
                                 : tr("No flow is moving now."));
  m_words->setText(wordsOf());
  m_words->setVisible(!m_all.empty());
  if (std::exchange(m_hasFlows, !m_all.empty()) != m_hasFlows) emit hasFlowsChanged(m_hasFlows);
}

QString FlowsPage::wordsOf() const {
  if (m_all.empty()) return {};
  std::int64_t moving = 0, stalled = 0, done = 0;
  double rate = 0;
  for (const engine::FlowStatus& flow : m_all) {
    moving += flow.state == FlowState::kMoving;
    stalled += flow.state == FlowState::kStalled;
    done += flow.state == FlowState::kDone;
    rate += flow.bytes_per_second;
  }
  const QString all = format::count(static_cast<std::int64_t>(m_all.size()));
  if (!m_isRunning) return tr("%1 of %2 flows are done").arg(format::count(done), all);
  QString text = tr("%1 of %2 flows move").arg(format::count(moving), all);
  if (stalled > 0) text += tr(", %1 stalled").arg(format::count(stalled));
  if (rate > 0) text += QStringLiteral(" · ") + format::rate(rate);
  return text;
}

}  // namespace tessera::ui
