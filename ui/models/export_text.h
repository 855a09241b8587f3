// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// History and events as files for other programs. CSV follows RFC 4180 with a line of names; JSON
/// is one array of objects with the names that the command line uses. Bytes and seconds are plain
/// numbers, times seconds since 1970, unknown values empty or null.

#include <QByteArray>
#include <QString>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

enum class ExportFormat { Csv, Json };

/// By the name's ending; CSV where it is no other.
ExportFormat exportFormatOf(const QString& fileName);
QByteArray exportText(const std::vector<engine::HistoryEntry>& entries, ExportFormat format);
QByteArray exportText(const std::vector<engine::Event>& events, ExportFormat format);
/// The samples of `job`: job, step, time, loss, tokens_per_s.
QByteArray exportText(const QString& job, const std::vector<SampleSeries::Point>& points,
                      ExportFormat format);

/// Writes the whole file or leaves what was there: to a new file, then by rename.
/// \error kUnavailable with the file's name and the system's words.
Status writeFile(const QString& fileName, const QByteArray& bytes);

}  // namespace tessera::ui
