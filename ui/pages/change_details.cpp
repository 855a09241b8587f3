// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/change_details.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/device_names.h"
#include "ui/sentences.h"
#include "ui/widgets/button_row.h"
#include "ui/widgets/flow_bars.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/phase_times_bar.h"
#include "ui/widgets/scrolled.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {
namespace {

QString devicesOf(const std::string& text) {
  const auto mesh = ptc::ParseDeviceMesh(text);
  return mesh ? deviceNames(mesh->devices()) : format::unknown();
}

QString arrow(const QString& from, const QString& to) {
  return from == to ? from : from + QStringLiteral(" → ") + to;
}

// The first 16 digits are enough to compare by eye.
QString shortDigest(const std::string& digest) {
  return digest.empty() ? format::unknown() : QString::fromStdString(digest.substr(0, 16));
}

std::vector<KeyValues::Row> factsOf(const engine::HistoryEntry& entry) {
  std::vector<KeyValues::Row> rows;
  rows.push_back({ChangeDetails::tr("when"),
                  QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(entry.started * 1000))
                      .toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))});
  rows.push_back({ChangeDetails::tr("requested by"), format::requester(entry.requester)});
  rows.push_back({ChangeDetails::tr("job"), QString::fromStdString(entry.job)});
  rows.push_back({QStringLiteral("dp × tp × pp"), changeText(entry)});
  rows.push_back({ChangeDetails::tr("GPUs"), arrow(devicesOf(entry.from), devicesOf(entry.to))});
  rows.push_back({ChangeDetails::tr("options"),
                  arrow(optionsText(entry.from_options), optionsText(entry.to_options))});
  rows.push_back({ChangeDetails::tr("after step"), format::count(entry.step)});
  const QString digests = digestsText(entry);
  const bool known = !entry.digest_before.empty() && !entry.digest_after.empty();
  const bool equal = known && entry.digest_before == entry.digest_after;
  rows.push_back({ChangeDetails::tr("digests"),
                  equal   ? ChangeDetails::tr("equal, %1").arg(shortDigest(entry.digest_before))
                  : known ? arrow(shortDigest(entry.digest_before), shortDigest(entry.digest_after))
                          : digests,
                  equal   ? QStringLiteral("ok")
                  : known ? QStringLiteral("bad")
                          : QString(),
                  ChangeDetails::tr("digests of the whole state before and after")});
  return rows;
}

std::vector<KeyValues::Row> comparisonOf(const engine::HistoryEntry& entry) {
  std::vector<KeyValues::Row> rows;
  const bool planned = plannedBytes(entry) > 0;
  const std::int64_t plannedMoved = entry.host + entry.network;
  rows.push_back(
      {ChangeDetails::tr("moved"),
       format::bytes(entry.bytes_moved),
       {},
       planned ? ChangeDetails::tr("planned %1").arg(format::bytes(plannedMoved)) : QString()});
  if (planned) {
    rows.push_back({ChangeDetails::tr("planned to move"), format::bytes(plannedMoved)});
  }
  rows.push_back({ChangeDetails::tr("least possible"), format::bytes(entry.volume_bound)});
  if (entry.gradients_planned > 0) {
    rows.push_back(
        {ChangeDetails::tr("gradients"),
         format::bytes(entry.gradients_moved),
         {},
         ChangeDetails::tr("moved because the state was copied while the job trained; planned %1")
             .arg(format::bytes(entry.gradients_planned))});
  }
  rows.push_back({ChangeDetails::tr("pause"),
                  entry.result.empty() ? format::unknown() : format::seconds(entry.pause)});
  rows.push_back({ChangeDetails::tr("gap between steps"),
                  entry.gap ? format::seconds(*entry.gap) : format::unknown(),
                  {},
                  ChangeDetails::tr("by how much the step after the change came later than a step "
                                    "takes: the pause, and the time in which ranks build their "
                                    "program again")});
  rows.push_back({ChangeDetails::tr("pause (estimate)"),
                  entry.pause_estimate > 0
                      ? QStringLiteral("≈ ") + format::seconds(entry.pause_estimate)
                      : format::unknown()});
  return rows;
}

}  // namespace

ChangeDetails::ChangeDetails(QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_title(new QLabel(this)),
      m_result(new QLabel(this)),
      m_reason(new QLabel(this)),
      m_facts(new KeyValues(this)),
      m_phaseTitle(new QLabel(tr("Phases"), this)),
      m_phases(new PhaseTimesBar(this)),
      m_bytesTitle(new QLabel(tr("Planned and actual"), this)),
      m_bytes(new StackedBar(this)),
      m_comparison(new KeyValues(this)),
      m_flowTitle(new QLabel(tr("Flows, largest first"), this)),
      m_flows(new FlowBars(this)),
      m_reverse(new QPushButton(tr("Draft an undo…"), this)),
      m_close(new QPushButton(tr("Close"), this)),
      m_moment(new QPushButton(tr("Show this moment"), this)),
      m_report(new QPushButton(tr("Save report…"), this)) {
  for (QLabel* heading : {m_title, m_phaseTitle, m_bytesTitle, m_flowTitle}) {
    setRole(heading, QStringLiteral("heading"));
    heading->setWordWrap(true);
  }
  m_moment->setAccessibleName(m_moment->text());
  m_report->setAccessibleName(tr("Save a report of this change"));
  m_report->setStatusTip(tr("Save this change as a page with pictures, a table or JSON"));
  setRole(m_reason, QStringLiteral("hint"));
  m_reason->setWordWrap(true);
  m_reason->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_reverse->setAccessibleName(tr("Draft an undo of this change"));
  m_reverse->setStatusTip(
      tr("Draft the layout from before this change. Nothing moves until you apply it"));
  m_close->setAccessibleName(tr("Close the details"));
  m_close->setStatusTip(tr("Return to the selection in the mesh"));

  m_moment->setStatusTip(tr("Show the GPUs and the job as they were when this change began"));

  auto* titleRow = new QHBoxLayout;
  titleRow->addWidget(m_title);
  titleRow->addStretch();
  titleRow->addWidget(m_result);

  auto* body = new QWidget(this);
  auto* rows = new QVBoxLayout(body);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(9);
  rows->addWidget(m_reason);
  rows->addWidget(m_facts);
  rows->addWidget(new Rule(this));
  rows->addWidget(m_phaseTitle);
  rows->addWidget(m_phases);
  rows->addWidget(new Rule(this));
  rows->addWidget(m_bytesTitle);
  rows->addWidget(m_bytes);
  rows->addWidget(m_comparison);
  rows->addWidget(m_flowTitle);
  rows->addWidget(m_flows);
  rows->addStretch();
  QScrollArea* scroll = scrolled(body, this);
  scroll->setAccessibleName(tr("Details of the change"));

  auto* buttons = new ButtonRow(7, this);
  buttons->add(m_close);
  buttons->add(m_reverse, 1);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 13, 16, 14);
  column->setSpacing(10);
  column->addLayout(titleRow);
  column->addWidget(scroll, 1);
  column->addWidget(m_report);
  column->addWidget(m_moment);
  column->addWidget(buttons);
  connect(m_close, &QPushButton::clicked, this, &ChangeDetails::closeRequested);
  connect(m_report, &QPushButton::clicked, this, [this] {
    if (m_entry) emit reportRequested(*m_entry);
  });
  connect(m_moment, &QPushButton::clicked, this, [this] {
    if (m_entry) emit momentRequested(*m_entry);
  });
  connect(m_reverse, &QPushButton::clicked, this, [this] {
    if (m_entry) emit reverseRequested(*m_entry);
  });
}

void ChangeDetails::setReverseBlocked(const QString& reason) {
  const QString never = m_entry ? undoBlockedReason(*m_entry) : QString();
  const QString why = never.isEmpty() ? reason : never;
  m_reverse->setEnabled(why.isEmpty());
  m_reverse->setToolTip(why);
}

void ChangeDetails::setEntry(const engine::HistoryEntry& entry) {
  if (m_entry == entry) return;
  m_entry = entry;
  m_title->setText(tr("Change %1").arg(entry.id));
  m_result->setText(resultText(entry));
  setRole(m_result, entry.result == "committed"     ? QStringLiteral("ok")
                    : entry.result == "failed"      ? QStringLiteral("bad")
                    : entry.result == "rolled_back" ? QStringLiteral("warn")
                    : entry.result == "unknown"     ? QStringLiteral("warn")
                                                    : QStringLiteral("hint"));
  m_reason->setText(localized(entry.reason));
  m_reason->setVisible(!entry.reason.empty());
  m_facts->setRows(factsOf(entry));
  const auto phases = phasesOf(entry);
  double whole = 0;
  for (const PhaseTime& phase : phases) whole += phase.seconds;
  m_phaseTitle->setText(phases.empty() ? tr("Phases: not recorded")
                                       : tr("Phases: %1 in all").arg(format::seconds(whole)));
  m_phases->setVisible(!phases.empty());
  m_phases->setPhases(phases);
  m_bytes->setVisible(plannedBytes(entry) > 0);
  m_bytes->setSegments({{tr("stay"), entry.kept + entry.device, StackedBar::Tone::Stay},
                        {tr("in node"), entry.host, StackedBar::Tone::Inside},
                        {tr("network"), entry.network, StackedBar::Tone::Network}});
  m_comparison->setRows(comparisonOf(entry));
  auto flows = entry.flows;
  std::stable_sort(flows.begin(), flows.end(),
                   [](const auto& a, const auto& b) { return a.bytes_total > b.bytes_total; });
  m_flowTitle->setVisible(!flows.empty());
  m_flows->setVisible(!flows.empty());
  m_flows->setBytes(std::move(flows));
  m_report->setVisible(!entry.result.empty());
  setReverseBlocked({});
}

}  // namespace tessera::ui
