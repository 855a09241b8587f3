// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// History, events and samples as files for other programs, with the columns of
/// engine/history/records.h: CSV, or one JSON array.

#include <QByteArray>
#include <QString>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

enum class ExportFormat { Csv, Json };

/// By the ending of the name; CSV unless it is `.json`.
ExportFormat exportFormatOf(const QString& fileName);
QByteArray exportText(const std::vector<engine::HistoryEntry>& entries, ExportFormat format);
QByteArray exportText(const std::vector<engine::Event>& events, ExportFormat format);
/// The samples of `job`, with a column for each metric.
QByteArray exportText(const QString& job, const SampleSeries& series, ExportFormat format);

/// Writes the whole file or leaves the existing one: to a new file, then by rename.
/// \error kUnavailable naming the file and the reason of the system
Status writeFile(const QString& fileName, const QByteArray& bytes);

}  // namespace tessera::ui
