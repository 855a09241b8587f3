// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/export_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStringList>
#include <cmath>
#include <utility>

#include "ui/models/change_view.h"

namespace tessera::ui {
namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }

// One row as named values, in the order of the columns. "bytes.kept" is a member of the object
// "bytes" in JSON.
using Row = std::vector<std::pair<QString, QJsonValue>>;

QString name(const char* value) { return QString::fromLatin1(value); }

Row rowOf(const engine::HistoryEntry& entry) {
  const bool planned = plannedBytes(entry) > 0;
  const auto plannedOnly = [&](std::int64_t value) {
    return planned ? QJsonValue(static_cast<qint64>(value)) : QJsonValue();
  };
  QJsonObject phases;
  for (const PhaseTime& phase : phasesOf(entry)) phases.insert(text(phase.phase), phase.seconds);
  QJsonArray flows;
  for (const engine::FlowStatus& flow : entry.flows) {
    flows.append(QJsonObject{{name("source"), text(ptc::ToString(flow.source))},
                             {name("destination"), text(ptc::ToString(flow.destination))},
                             {name("bytes"), static_cast<qint64>(flow.bytes_total)}});
  }
  return {{name("id"), static_cast<qint64>(entry.id)},
          {name("job"), text(entry.job)},
          {name("from"), text(entry.from)},
          {name("to"), text(entry.to)},
          {name("from_options.zero"), entry.from_options.zero},
          {name("from_options.micro_batch"), static_cast<qint64>(entry.from_options.micro_batch)},
          {name("to_options.zero"), entry.to_options.zero},
          {name("to_options.micro_batch"), static_cast<qint64>(entry.to_options.micro_batch)},
          {name("who"), text(entry.who)},
          {name("started"), entry.started},
          {name("result"), text(entry.result)},
          {name("reason"), text(entry.reason)},
          {name("step"), static_cast<qint64>(entry.step)},
          {name("epoch"), static_cast<qint64>(entry.epoch)},
          {name("pause"), entry.pause},
          {name("pause_estimate"),
           entry.pause_estimate > 0 ? QJsonValue(entry.pause_estimate) : QJsonValue()},
          {name("bytes_moved"), static_cast<qint64>(entry.bytes_moved)},
          {name("volume_bound"), static_cast<qint64>(entry.volume_bound)},
          {name("bytes.kept"), plannedOnly(entry.kept)},
          {name("bytes.device"), plannedOnly(entry.device)},
          {name("bytes.host"), plannedOnly(entry.host)},
          {name("bytes.network"), plannedOnly(entry.network)},
          {name("digest_before"), text(entry.digest_before)},
          {name("digest_after"), text(entry.digest_after)},
          {name("phases"), phases},
          {name("flows"), flows}};
}

Row rowOf(const engine::Event& event) {
  const std::string_view severity = engine::ToString(event.severity);
  return {{name("sequence"), static_cast<qint64>(event.sequence)},
          {name("time"), event.time},
          {name("severity"),
           QString::fromUtf8(severity.data(), static_cast<qsizetype>(severity.size()))},
          {name("source"), text(event.source)},
          {name("text"), text(event.text)}};
}

Row rowOf(const engine::Sample& sample) {
  const auto known = [](double value) {
    return std::isfinite(value) ? QJsonValue(value) : QJsonValue();
  };
  return {{name("job"), text(sample.job)},
          {name("step"), static_cast<qint64>(sample.step)},
          {name("time"), sample.time},
          {name("loss"), known(sample.loss)},
          {name("tokens_per_s"), known(sample.tokens_per_second)}};
}

QString field(const QJsonValue& value) {
  switch (value.type()) {
    case QJsonValue::Double: {
      const double number = value.toDouble();
      const auto whole = static_cast<double>(value.toInteger());
      return number == whole ? QString::number(value.toInteger())
                             : QString::number(number, 'g', 15);
    }
    case QJsonValue::Bool:
      return value.toBool() ? name("true") : name("false");
    case QJsonValue::Object: {  // "preparing=1.2;pausing=0.04"
      QStringList parts;
      const QJsonObject object = value.toObject();
      for (auto it = object.begin(); it != object.end(); ++it) {
        parts << it.key() + QLatin1Char('=') + field(it.value());
      }
      return parts.join(QLatin1Char(';'));
    }
    case QJsonValue::Array: {  // "n0g0>n1g0=512"
      QStringList parts;
      for (const QJsonValue& each : value.toArray()) {
        parts << each[name("source")].toString() + QLatin1Char('>') +
                     each[name("destination")].toString() + QLatin1Char('=') +
                     field(each[name("bytes")]);
      }
      return parts.join(QLatin1Char(';'));
    }
    default:
      return value.toString();
  }
}

QByteArray quoted(QString value) {
  if (value.contains(QLatin1Char('"')) || value.contains(QLatin1Char(',')) ||
      value.contains(QLatin1Char('\n')) || value.contains(QLatin1Char('\r'))) {
    value = QLatin1Char('"') + value.replace(QLatin1Char('"'), QStringLiteral("\"\"")) +
            QLatin1Char('"');
  }
  return value.toUtf8();
}

template <typename T>
QByteArray exported(const std::vector<T>& values, ExportFormat format) {
  if (format == ExportFormat::Json) {
    QJsonArray array;
    for (const T& value : values) {
      QJsonObject object;
      for (const auto& [key, cell] : rowOf(value)) {
        const qsizetype dot = key.indexOf(QLatin1Char('.'));
        if (dot < 0) {
          object.insert(key, cell);
        } else {
          QJsonObject inner = object[key.left(dot)].toObject();
          inner.insert(key.mid(dot + 1), cell);
          object.insert(key.left(dot), inner);
        }
      }
      array.append(object);
    }
    return QJsonDocument(array).toJson(QJsonDocument::Indented);
  }
  QByteArray csv;
  const auto line = [&](const Row& row, bool names) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) csv += ',';
      csv += quoted(names ? row[i].first : field(row[i].second));
    }
    csv += "\r\n";
  };
  line(rowOf(T{}), true);
  for (const T& value : values) line(rowOf(value), false);
  return csv;
}

}  // namespace

ExportFormat exportFormatOf(const QString& fileName) {
  return fileName.endsWith(QLatin1String(".json"), Qt::CaseInsensitive) ? ExportFormat::Json
                                                                        : ExportFormat::Csv;
}

QByteArray exportText(const std::vector<engine::HistoryEntry>& entries, ExportFormat format) {
  return exported(entries, format);
}

QByteArray exportText(const std::vector<engine::Event>& events, ExportFormat format) {
  return exported(events, format);
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
    sample.tokens_per_second = point.tokensPerSecond;
  }
  return exported(samples, format);
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
