// SPDX-License-Identifier: GPL-3.0-or-later
// What the drafted change would do, in PlanPanel: bytes, times, memory and bounds of the plan.
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/pages/overlap_row.h"
#include "ui/pages/plan_panel.h"
#include "ui/plots/pareto_scatter.h"
#include "ui/sentences.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/pipeline_box.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {
namespace {

/// "18.1 MiB (provably the least)", or by how much another plan might be below it.
QString boundText(const engine::PlanCertificate& certificate) {
  const QString bytes = format::bytes(certificate.port_bytes);
  const double gap = engine::GapAboveBound(certificate);
  return gap > 0 ? PlanPanel::tr("%1 (at most %2 % above the least)")
                       .arg(bytes, QLocale().toString(100 * gap, 'f', 1))
                 : PlanPanel::tr("%1 (provably the least)").arg(bytes);
}

/// Whether a fact is shown while the others are folded: what the change costs and what it risks.
bool isMain(const KeyValues::Row& row) {
  const bool decides = row.key == PlanPanel::tr("pause (estimate)") ||
                       row.key == PlanPanel::tr("peak memory") ||
                       row.key == PlanPanel::tr("loss of any node");
  return decides || row.role == QLatin1String("warn") || row.role == QLatin1String("bad");
}

}  // namespace

void PlanPanel::buildEffect() {
  m_more->setText(tr("Details"));
  m_more->setAccessibleName(tr("Details of the plan"));
  m_more->setStatusTip(tr("Show all facts of the plan, and the configurations as a plot"));
  m_more->setCheckable(true);
  m_more->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_more->setStyleSheet(
      QStringLiteral("QToolButton { padding: 3px 6px 3px 0px; } "
                     "QToolButton:checked { background: transparent; "
                     "border-color: transparent; font-weight: 400; }"));
  auto* column = new QVBoxLayout(m_details);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  column->addWidget(m_facts);
  column->addWidget(m_why);
  column->addWidget(m_scatter);
  connect(m_more, &QToolButton::toggled, this, &PlanPanel::showDetails);
  showDetails(false);
}

void PlanPanel::showDetails(bool shown) {
  m_more->setArrowType(shown ? Qt::DownArrow : Qt::RightArrow);
  m_details->setVisible(shown);
  m_mainFacts->setVisible(!shown && m_plan.summary() != nullptr);
}

void PlanPanel::refreshPlan() {
  const auto& summary = m_plan.summary();
  const bool outdated =
      m_plan.state() == DraftPlan::State::Planning || m_plan.state() == DraftPlan::State::Stale;
  m_bar->setVisible(summary != nullptr);
  m_facts->setVisible(summary != nullptr);
  m_mainFacts->setVisible(summary != nullptr && !m_more->isChecked());
  m_more->setVisible(summary != nullptr || m_candidates.rowCount() > 1);
  m_copy->setVisible(!m_draft.isEmpty());
  const engine::JobStatus* job = m_model.job();
  const bool hasPipeline =
      summary && job != nullptr &&
      std::max(summary->from_mesh[ptc::Axis::kPp], summary->to_mesh[ptc::Axis::kPp]) > 1;
  m_pipeline->setVisible(hasPipeline);
  if (hasPipeline) m_pipeline->setInput(pipelineOf(m_model.snapshot(), *job, *summary));
  QString recommendation;
  if (const auto& proposal = m_proposal.proposal(); proposal && !proposal->why.empty()) {
    const auto& all = proposal->candidates;
    const auto best = std::find_if(all.begin(), all.end(),
                                   [](const engine::Candidate& each) { return each.recommended; });
    if (best != all.end()) {
      recommendation =
          tr("Recommended: %1, %2").arg(format::shape(best->mesh), localized(proposal->why));
    }
  }
  m_recommendation->setText(recommendation);
  m_recommendation->setVisible(!recommendation.isEmpty());
  m_why->setText(summary ? localized(summary->why) : QString());
  // Show the sentence once if both are equal.
  m_why->setVisible(!m_why->text().isEmpty() && !recommendation.endsWith(m_why->text()));
  if (!summary) {
    switch (m_plan.state()) {
      case DraftPlan::State::None:
        m_planTitle->setText(tr("Drag a GPU, choose above, or edit an axis"));
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
  rows.push_back(overlapRow(summary->overlap));
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
  rows.push_back(
      {tr("busiest port"),
       certificate.port.empty() ? tr("nothing moves") : boundText(certificate),
       {},
       certificate.port.empty()
           ? QString()
           : tr("%1. Least of any plan: %2 direct, %3 with relay. Bandwidths: %4")
                 .arg(format::port(certificate.port), format::bytes(certificate.direct_bound),
                      format::bytes(certificate.relayed_bound),
                      localized(certificate.bandwidths_from))});
  if (summary->relayed) {
    rows.push_back({tr("relayed"), tr("%1 over the network instead of %2")
                                       .arg(format::bytes(summary->network),
                                            format::bytes(summary->network_direct))});
  }
  rows.push_back({tr("held only once"), tr("%1 in %2 shards")
                                            .arg(format::bytes(certificate.single_source_bytes),
                                                 format::count(summary->single_source))});
  if (const auto& survival = summary->survival) {
    rows.push_back({tr("loss of any node"), format::survival(*survival),
                    survival->of_any_node() ? QString() : QStringLiteral("warn"),
                    tr("State of which no other node holds a copy")});
  }
  if (summary->in_rounds.rounds > 0) rows.push_back(roundsRow(*summary));
  rows.push_back(rollbackRow(*summary, QStringLiteral("warn")));
  if (!summary->idle.empty()) {
    rows.push_back({tr("unused"), deviceNames(summary->idle), QStringLiteral("warn")});
  }
  std::vector<ptc::DeviceId> full;
  for (const auto& over : m_plan.overflows()) full.push_back(over.device);
  if (!full.empty()) {
    rows.push_back({tr("does not fit on"), deviceNames(std::move(full)), QStringLiteral("bad")});
  }
  m_facts->setRows(rows);
  std::erase_if(rows, [](const KeyValues::Row& row) { return !isMain(row); });
  m_mainFacts->setRows(rows);
}

}  // namespace tessera::ui
