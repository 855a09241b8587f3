// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/export_text.h"

#include <QSaveFile>
#include <limits>

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

QByteArray exportText(const QString& job, const std::vector<SampleSeries::Point>& points,
                      ExportFormat format) {
  std::vector<engine::Sample> samples;
  samples.reserve(points.size());
  for (const SampleSeries::Point& point : points) {
    engine::Sample& sample = samples.emplace_back();
    sample.job = job.toStdString();
    sample.step = point.step;
    sample.time = point.time;
    sample.loss = point.loss;
    sample.grad_norm = std::numeric_limits<double>::quiet_NaN();
    sample.tokens_per_second = point.tokensPerSecond;
  }
  return exported(samples, engine::CsvHeadOfSamples(), format);
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
