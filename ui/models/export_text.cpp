// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/export_text.h"

#include <QSaveFile>
#include <algorithm>
#include <set>

#include "engine/history/records.h"

namespace tessera::ui {
namespace {

template <typename Record>
QByteArray exported(const std::vector<Record>& records, const std::string& csvHead,
                    ExportFormat format) {
  std::string out = format == ExportFormat::Csv ? csvHead : "[";
  for (const Record& record : records) {
    if (format == ExportFormat::Csv) {
      out += engine::ToCsv(record);
    } else {
      out += (out.size() > 1 ? ",\n" : "\n") + engine::ToJson(record);
    }
  }
  if (format == ExportFormat::Json) out += "\n]\n";
  return QByteArray::fromStdString(out);
}

}  // namespace

ExportFormat exportFormatOf(const QString& fileName) {
  return fileName.endsWith(QLatin1String(".json"), Qt::CaseInsensitive) ? ExportFormat::Json
                                                                        : ExportFormat::Csv;
}

QByteArray exportText(const std::vector<engine::HistoryEntry>& entries, ExportFormat format) {
  return exported(entries, engine::CsvHeadOfTransactions(), format);
}

QByteArray exportText(const std::vector<engine::Event>& events, ExportFormat format) {
  return exported(events, engine::CsvHeadOfEvents(), format);
}

QByteArray exportText(const QString& job, const SampleSeries& series, ExportFormat format) {
  std::set<std::string> names;
  for (const SampleSeries::Metric& metric : series.metrics()) {
    if (std::ranges::find(metric.logged, true) != metric.logged.end()) names.insert(metric.name);
  }
  const bool isCsv = format == ExportFormat::Csv;
  std::string out = isCsv ? engine::CsvHeadOfSamples(names) : "[";
  for (std::size_t i = 0; i < series.points().size(); ++i) {
    const engine::Sample sample = series.sampleOf(job.toStdString(), i);
    out += isCsv ? engine::ToCsv(sample, names) : (i > 0 ? ",\n" : "\n") + engine::ToJson(sample);
  }
  if (!isCsv) out += "\n]\n";
  return QByteArray::fromStdString(out);
}

Status writeFile(const QString& fileName, const QByteArray& bytes) {
  QSaveFile file(fileName);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) {
    return OkStatus();
  }
  return Unavailable("cannot write " + fileName.toStdString() + ": " +
                     file.errorString().toStdString());
}

}  // namespace tessera::ui
