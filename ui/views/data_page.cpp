// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/data_page.h"

#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QScrollArea>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/views/selection_model.h"
#include "ui/widgets/batch_strip.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/pass_strip.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kMargin = 24;
constexpr int kShareRow = 26;
constexpr int kMostShareRows = 8;

QString partText(const engine::DataStatus::Dataset& part, const engine::DataStatus& data) {
  QString text = DataPage::tr("%1 samples of %2 tokens, %3")
                     .arg(format::count(part.num_samples), format::count(data.sequence),
                          QString::fromStdString(part.format));
  if (part.weight > 0) text += DataPage::tr(", weight %1").arg(QLocale().toString(part.weight));
  return text;
}

}  // namespace

DataPage::DataPage(const ViewContext& context, QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_history(context.history),
      m_selection(context.selection),
      m_stack(new QStackedLayout(this)),
      m_words(wrappingLabel(QStringLiteral("hint"), this)),
      m_title(wrappingLabel(QStringLiteral("heading"), this)),
      m_summary(wrappingLabel(QStringLiteral("hint"), this)),
      m_batchTitle(wrappingLabel(QStringLiteral("group"), this)),
      m_change(wrappingLabel(QStringLiteral("hint"), this)),
      m_pass(new PassStrip(this)),
      m_batches(new BatchStrip(this)),
      m_table(new QTableView(this)),
      m_parts(new KeyValues(this)) {
  m_words->setAlignment(Qt::AlignCenter);
  m_stack->addWidget(m_words);
  m_stack->addWidget(buildContent());
  connect(&m_history, &QAbstractItemModel::modelReset, this, &DataPage::refresh);
  connect(m_pass, &PassStrip::changeChosen, this,
          [this](qint64 txn) { m_selection.setChange(txn); });
  connect(&m_selection, &SelectionModel::changeChanged, this, [this] {
    if (m_view) showBatches();
  });
}

QWidget* DataPage::buildContent() {
  m_table->setModel(&m_shares);
  makeQuiet(*m_table, kShareRow);
  m_table->setAccessibleName(tr("Ranks and samples of the next batch"));
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  for (const auto& [column, width] :
       {std::pair(ShareTableModel::RankColumn, 60), std::pair(ShareTableModel::DevicesColumn, 170),
        std::pair(ShareTableModel::CountColumn, 70),
        std::pair(ShareTableModel::PositionsColumn, 160)}) {
    setColumnRoom(*m_table, column, width);
  }
  auto* sets = wrappingLabel(QStringLiteral("group"), this);
  sets->setText(tr("DATA SETS"));

  auto* content = new Surface(Tone::Canvas, this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(kMargin, 18, kMargin, 18);
  column->setSpacing(6);
  column->addWidget(m_title);
  column->addWidget(m_summary);
  column->addSpacing(10);
  column->addWidget(m_pass);
  column->addSpacing(14);
  column->addWidget(m_batchTitle);
  column->addWidget(m_batches);
  column->addWidget(m_change);
  column->addSpacing(8);
  column->addWidget(m_table);
  column->addSpacing(12);
  column->addWidget(sets);
  column->addWidget(m_parts);
  column->addStretch();
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(content);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  return scroll;
}

QString DataPage::words() const { return m_view ? QString() : m_words->text(); }

QWidget* DataPage::focusTarget() { return m_table; }

void DataPage::showLayout(const ShownLayout& layout) {
  m_layout = layout;
  refresh();
}

void DataPage::setStale(double, const QString& asOf) {
  m_asOf = asOf;
  refresh();
}

void DataPage::showEvent(QShowEvent* event) {
  Surface::showEvent(event);
  refresh();
}

void DataPage::refresh() {
  if (!isVisible() || !m_layout.cluster) return;
  const engine::JobStatus* job = m_layout.jobStatus();
  m_view = job == nullptr ? std::nullopt : makeDataView(*job, m_history.entries());
  m_stack->setCurrentIndex(m_view ? 1 : 0);
  if (!m_view) {
    m_words->setText(
        job == nullptr ? tr("No job is running.")
        : !job->at_change.empty()
            ? tr("%1 is wrong on purpose: it %2. Its position in the data cannot be derived from "
                 "its step.")
                  .arg(QString::fromStdString(job->name), QString::fromStdString(job->at_change))
        : job->command.empty() ? tr("The cluster does not report the data of %1.")
                                     .arg(QString::fromStdString(job->name))
                               : tr("%1 is an external program. It reads its data itself; its "
                                    "position in the data is part of its state.")
                                     .arg(QString::fromStdString(job->name)));
    return;
  }
  m_title->setText(tr("%1, pass %2").arg(QString::fromStdString(job->name)).arg(m_view->pass + 1));
  QString summary = tr("%1 of %2 samples done (%3) · global batch %4")
                        .arg(format::count(m_view->next), format::count(m_view->numSamples),
                             format::percent(m_view->done()), format::count(m_view->globalBatch));
  if (m_view->secondsLeft && job->state == engine::JobState::kRunning) {
    summary += tr(" · pass ends in ≈ %1").arg(format::seconds(*m_view->secondsLeft));
  }
  if (!m_asOf.isEmpty()) summary += QStringLiteral(" · ") + m_asOf;
  m_summary->setText(summary);
  m_pass->setView(*m_view);
  m_shares.setShares(m_view->shares);
  const int rows = std::min(m_shares.rowCount(), kMostShareRows);
  m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() + rows * kShareRow + 2);
  std::vector<KeyValues::Row> parts;
  for (const engine::DataStatus::Dataset& part : job->data.parts) {
    const QString name = QString::fromStdString(part.name);
    parts.push_back({name, partText(part, job->data), {}, name});
  }
  m_parts->setRows(parts);
  showBatches();
}

void DataPage::showBatches() {
  const DataView& view = *m_view;
  const auto change =
      std::find_if(view.changes.begin(), view.changes.end(),
                   [this](const DataView::Change& c) { return c.txn == m_selection.change(); });
  m_pass->setSelected(change == view.changes.end() ? std::nullopt : m_selection.change());
  const auto batch = [&](std::int64_t step, std::int64_t degree) {
    const std::int64_t begin = view.next + (step - view.step - 1) * view.globalBatch;
    BatchStrip::Batch out{tr("step %1").arg(format::count(step)), step <= view.step,
                          sharesOf(begin, view.globalBatch, degree)};
    return out;
  };
  std::vector<BatchStrip::Batch> batches;
  if (change != view.changes.end()) {
    m_batchTitle->setText(tr("AROUND CHANGE %1").arg(change->txn));
    for (std::int64_t step = std::max<std::int64_t>(1, change->step - 1); step <= change->step;
         ++step) {
      batches.push_back(batch(step, change->fromDp));
    }
    for (int i = 1; i <= 2; ++i) batches.push_back(batch(change->step + i, change->toDp));
    m_change->setText(tr("dp was %2 up to position %1 and is %3 from there. No sample is read "
                         "twice, none is skipped, and a step still uses %4.")
                          .arg(format::count(change->position))
                          .arg(change->fromDp)
                          .arg(change->toDp)
                          .arg(format::count(view.globalBatch)));
  } else {
    m_batchTitle->setText(tr("NEXT BATCHES"));
    const auto degree = static_cast<std::int64_t>(view.shares.size());
    for (int i = 1; i <= 3; ++i) batches.push_back(batch(view.step + i, degree));
    batches.front().shares = view.shares;
    m_change->setText(view.changes.empty()
                          ? tr("Changes of the mesh in this pass are marked on the strip above.")
                      : view.changes.size() == 1 ? tr("1 change of the mesh in this pass. Click "
                                                      "its mark on the strip to see its batches.")
                                                 : tr("%1 changes of the mesh in this pass. Click "
                                                      "a mark on the strip to see its batches.")
                                                       .arg(view.changes.size()));
  }
  m_batches->setBatches(std::move(batches));
}

}  // namespace tessera::ui
