// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/bands.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <array>
#include <string_view>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

struct BandWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::PlotBand)
};

PlotBand bandOf(const engine::HistoryEntry& entry) {
  PlotBand band;
  band.txn = entry.id;
  band.start = entry.started;
  const ChangeTimes times = timesOf(entry);
  band.end = times.end;
  band.pauseStart = times.pauseStart;
  band.pauseEnd = times.pauseEnd;
  band.outcome =
      entry.result == "committed" ? PlotBand::Outcome::Committed : PlotBand::Outcome::Undone;
  band.label = format::seconds(entry.gap.value_or(entry.pause));
  band.tooltip = BandWords::tr("Change %1: %2, pause %3, %4")
                     .arg(entry.id)
                     .arg(changeText(entry), format::seconds(entry.pause), resultText(entry));
  if (entry.gap) {
    band.tooltip += QLatin1Char('\n') + BandWords::tr("gap between the steps around it: %1")
                                            .arg(format::seconds(*entry.gap));
  }
  return band;
}

}  // namespace

std::vector<PlotBand> bandsOf(const std::vector<engine::HistoryEntry>& entries,
                              const std::string& job, const std::optional<RunningBand>& running,
                              std::int64_t origin) {
  std::vector<PlotBand> bands;
  for (const engine::HistoryEntry& entry : entries) {
    if (entry.job != job || entry.origin != origin || entry.result.empty()) continue;
    if (running && running->txn.id == entry.id) continue;
    bands.push_back(bandOf(entry));
  }
  if (running && running->txn.job == job) {
    const engine::TxnStatus& txn = running->txn;
    PlotBand band;
    band.txn = txn.id;
    band.start = std::min(running->since, running->now);
    band.end = running->now;
    band.pauseEnd = running->now;
    band.pauseStart = running->now - txn.paused;
    band.outcome = PlotBand::Outcome::Running;
    band.label = BandWords::tr("now");
    band.tooltip =
        BandWords::tr("%1 → %2, %3")
            .arg(format::shape(txn.from_mesh), format::shape(txn.to_mesh), format::text(txn.phase));
    bands.push_back(std::move(band));
  }
  std::sort(bands.begin(), bands.end(),
            [](const PlotBand& a, const PlotBand& b) { return a.start < b.start; });
  return bands;
}

std::optional<PlotMark> markOf(const engine::Event& event) {
  PlotMark mark;
  mark.time = event.time;
  mark.text = QString(QString::fromStdString(event.source) + u' ' + localizedText(event)).trimmed();
  switch (event.severity) {
    case engine::Severity::kDebug:
      return std::nullopt;
    case engine::Severity::kInfo: {
      const bool ofTransaction = event.source.starts_with("txn");
      if (ofTransaction) return std::nullopt;
      mark.shape = event.text.starts_with("joined") ? PlotMark::Shape::Plus : PlotMark::Shape::Dot;
      break;
    }
    case engine::Severity::kWarning:
      mark.shape = PlotMark::Shape::Triangle;
      break;
    case engine::Severity::kError:
      mark.shape = PlotMark::Shape::Cross;
      break;
  }
  return mark;
}

}  // namespace tessera::ui
