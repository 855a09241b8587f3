// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Two changes of a job beside each other: what they left behind, and how they went.

#include <QByteArray>
#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/export_text.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

/// What a change left behind: its `to` if it was committed, else its `from`.
struct ChangeSide {
  engine::HistoryEntry entry;
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;  // rank order; empty if the history contains no valid mesh
  engine::StepOptions options;
  /// Means of up to kMeanSamples samples before the change and after it; nothing without samples.
  std::optional<double> lossBefore, lossAfter, tokensBefore, tokensAfter;
};

/// Where a job is. The devices are in rank order.
struct DiffPlace {
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;
  engine::StepOptions options;
};

/// How two places A and B of a job differ.
struct PlaceDiff {
  std::vector<ptc::DeviceId> joined;     // in B only, ascending
  std::vector<ptc::DeviceId> left;       // in A only, ascending
  std::vector<ptc::DeviceId> resharded;  // in both, with another shard; ascending
  std::vector<ptc::Axis> axes;           // with another degree
};
PlaceDiff makePlaceDiff(const DiffPlace& a, const DiffPlace& b);

/// From the older change A to the newer change B.
struct ChangeDiff : PlaceDiff {
  static constexpr int kMeanSamples = 10;

  ChangeSide a, b;
};

/// Compares two changes, in any order.
/// \param samples of the job of both; empty for changes of different jobs
ChangeDiff makeChangeDiff(const engine::HistoryEntry& one, const engine::HistoryEntry& other,
                          const SampleSeries& samples);

/// A row of the comparison: the same fact of both sides.
struct DiffRow {
  QString key;         // of the exported file: "pause_seconds"
  QString name;        // for users
  QString a, b;        // for users
  QString rawA, rawB;  // for the exported file; empty if unknown
  bool differs() const { return a != b; }
  friend bool operator==(const DiffRow&, const DiffRow&) = default;
};
std::vector<DiffRow> rowsOf(const ChangeDiff& diff);

/// "+2 GPUs: n0g2–n0g3", "−4 GPUs: …", "2 GPUs hold another shard: …"; one line each, or one that
/// says that the GPUs hold the same.
QString deviceText(const PlaceDiff& diff);

/// CSV with the columns `fact,a,b`, or a JSON object with these facts and the sets of devices.
QByteArray exportText(const std::vector<DiffRow>& rows, const PlaceDiff& places,
                      ExportFormat format);
QByteArray exportText(const ChangeDiff& diff, ExportFormat format);

}  // namespace tessera::ui
