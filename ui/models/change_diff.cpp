// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/change_diff.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

struct DiffWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ChangeDiff)
};

using ptc::Axis;

/// The mean of a value over samples; nothing if it is finite in none.
template <typename Value>
std::optional<double> meanOf(const SampleSeries::Point* begin, const SampleSeries::Point* end,
                             Value value) {
  double sum = 0;
  int count = 0;
  for (const auto* point = begin; point != end; ++point) {
    if (!std::isfinite(point->*value)) continue;
    sum += point->*value;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

ChangeSide sideOf(const engine::HistoryEntry& entry, const SampleSeries& samples) {
  ChangeSide side;
  side.entry = entry;
  const bool committed = entry.result == "committed";
  if (const auto mesh = ptc::ParseDeviceMesh(committed ? entry.to : entry.from)) {
    side.mesh = mesh->shape();
    side.devices = mesh->devices();
  }
  side.options = committed ? entry.to_options : entry.from_options;
  const auto& points = samples.points();
  const auto before =
      std::ranges::lower_bound(points, entry.started, {}, &SampleSeries::Point::time);
  const auto after =
      std::ranges::lower_bound(points, timesOf(entry).end, {}, &SampleSeries::Point::time);
  const auto* const data = points.data();
  const auto* const first = data + (before - points.begin());
  const auto* const next = data + (after - points.begin());
  const auto* const from = first - std::min<std::ptrdiff_t>(ChangeDiff::kMeanSamples, first - data);
  const auto* const to =
      next + std::min<std::ptrdiff_t>(ChangeDiff::kMeanSamples, points.end() - after);
  side.lossBefore = meanOf(from, first, &SampleSeries::Point::loss);
  side.lossAfter = meanOf(next, to, &SampleSeries::Point::loss);
  side.tokensBefore = meanOf(from, first, &SampleSeries::Point::tokensPerSecond);
  side.tokensAfter = meanOf(next, to, &SampleSeries::Point::tokensPerSecond);
  return side;
}

/// Where a rank is in the axes that cut the state of every job, with their degrees. Rules may cut
/// along dp and cp too; the history does not contain them.
std::vector<std::int64_t> shardOf(const DiffPlace& side, int rank) {
  std::vector<std::int64_t> shard;
  for (const Axis axis : {Axis::kPp, Axis::kEp, Axis::kTp}) {
    shard.push_back(side.mesh[axis]);
    shard.push_back(coordinate(side.mesh, rank, axis));
  }
  // ZeRO cuts the optimizer state along dp, too.
  shard.push_back(side.options.zero ? side.mesh[Axis::kDp] : 0);
  shard.push_back(side.options.zero ? coordinate(side.mesh, rank, Axis::kDp) : 0);
  return shard;
}

std::map<ptc::DeviceId, std::vector<std::int64_t>> diffShardsOf(const DiffPlace& side) {
  std::map<ptc::DeviceId, std::vector<std::int64_t>> shards;
  for (std::size_t rank = 0; rank < side.devices.size(); ++rank)
    shards[side.devices[rank]] = shardOf(side, static_cast<int>(rank));
  return shards;
}

QString diffNumberText(const std::optional<double>& value, int decimals) {
  return value ? QLocale().toString(*value, 'f', decimals) : format::unknown();
}

QString rawNumber(const std::optional<double>& value) {
  return value ? QString::number(*value, 'g', 17) : QString();
}

QString diffCsvCell(QString text) {
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"'))) return text;
  return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) +
         QLatin1Char('"');
}

QJsonArray diffJsonOf(const std::vector<ptc::DeviceId>& devices) {
  QJsonArray array;
  for (const ptc::DeviceId device : devices) array.append(format::device(device));
  return array;
}

}  // namespace

ChangeDiff makeChangeDiff(const engine::HistoryEntry& one, const engine::HistoryEntry& other,
                          const SampleSeries& samples) {
  const bool ordered = std::pair(one.started, one.id) <= std::pair(other.started, other.id);
  ChangeSide a = sideOf(ordered ? one : other, samples);
  ChangeSide b = sideOf(ordered ? other : one, samples);
  PlaceDiff places = makePlaceDiff({a.mesh, a.devices, a.options}, {b.mesh, b.devices, b.options});
  return {std::move(places), std::move(a), std::move(b)};
}

PlaceDiff makePlaceDiff(const DiffPlace& a, const DiffPlace& b) {
  PlaceDiff diff;
  const auto before = diffShardsOf(a), after = diffShardsOf(b);
  for (const auto& [device, shard] : after) {
    const auto old = before.find(device);
    if (old == before.end()) {
      diff.joined.push_back(device);
    } else if (old->second != shard) {
      diff.resharded.push_back(device);
    }
  }
  for (const auto& [device, shard] : before) {
    if (!after.contains(device)) diff.left.push_back(device);
  }
  for (const Axis axis : ptc::kAxes) {
    if (a.mesh[axis] != b.mesh[axis]) diff.axes.push_back(axis);
  }
  return diff;
}

std::vector<DiffRow> rowsOf(const ChangeDiff& diff) {
  std::vector<DiffRow> rows;
  const auto add = [&](const char* key, const QString& name, auto text, auto raw) {
    rows.push_back(
        {QString::fromLatin1(key), name, text(diff.a), text(diff.b), raw(diff.a), raw(diff.b)});
  };
  using Side = ChangeSide;
  const auto plain = [](const auto& number) { return QString::number(number); };
  const auto exact = [](double number) { return QString::number(number, 'g', 17); };
  add(
      "change", DiffWords::tr("change"), [&](const Side& s) { return plain(s.entry.id); },
      [&](const Side& s) { return plain(s.entry.id); });
  add(
      "job", DiffWords::tr("job"),
      [](const Side& s) { return QString::fromStdString(s.entry.job); },
      [](const Side& s) { return QString::fromStdString(s.entry.job); });
  const auto dayOf = [](const Side& s) {
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(s.entry.started * 1000)).date();
  };
  const auto day = [&](const Side& s) { return dayOf(s).toString(Qt::ISODate); };
  if (dayOf(diff.a) != dayOf(diff.b)) add("day", DiffWords::tr("day"), day, day);
  add(
      "started", DiffWords::tr("when"),
      [](const Side& s) { return format::timeOfDay(s.entry.started); },
      [&](const Side& s) { return exact(s.entry.started); });
  add(
      "result", DiffWords::tr("result"), [](const Side& s) { return resultText(s.entry); },
      [](const Side& s) { return QString::fromStdString(s.entry.result); });
  add(
      "step", DiffWords::tr("step"), [](const Side& s) { return format::count(s.entry.step); },
      [&](const Side& s) { return plain(s.entry.step); });
  add(
      "epoch", DiffWords::tr("epoch"), [](const Side& s) { return format::count(s.entry.epoch); },
      [&](const Side& s) { return plain(s.entry.epoch); });
  add(
      "gpus", DiffWords::tr("GPUs"), [](const Side& s) { return deviceNames(s.devices); },
      [](const Side& s) { return deviceArgument(s.devices); });
  for (const Axis axis : ptc::kAxesInText) {
    if (!ptc::IsCommon(axis) && diff.a.mesh[axis] == 1 && diff.b.mesh[axis] == 1) continue;
    const std::string name(ptc::ToString(axis));
    add(
        name.c_str(), QString::fromStdString(name),
        [axis](const Side& s) { return format::count(s.mesh[axis]); },
        [&, axis](const Side& s) { return plain(s.mesh[axis]); });
  }
  add(
      "options", DiffWords::tr("options"), [](const Side& s) { return optionsText(s.options); },
      [](const Side& s) { return QString::fromStdString(ToString(s.options)); });
  add(
      "moved_bytes", DiffWords::tr("moved"),
      [](const Side& s) { return format::bytes(s.entry.bytes_moved); },
      [&](const Side& s) { return plain(s.entry.bytes_moved); });
  add(
      "volume_bound_bytes", DiffWords::tr("least possible"),
      [](const Side& s) { return format::bytes(s.entry.volume_bound); },
      [&](const Side& s) { return plain(s.entry.volume_bound); });
  add(
      "pause_seconds", DiffWords::tr("pause"),
      [](const Side& s) { return format::seconds(s.entry.pause); },
      [&](const Side& s) { return exact(s.entry.pause); });
  add(
      "gap_seconds", DiffWords::tr("gap between steps"),
      [](const Side& s) { return s.entry.gap ? format::seconds(*s.entry.gap) : format::unknown(); },
      [&](const Side& s) { return s.entry.gap ? exact(*s.entry.gap) : QString(); });
  // Phases in their order; a phase that one side did not have is a dash there.
  std::vector<PhaseTime> phases = phasesOf(diff.a.entry);
  for (const PhaseTime& phase : phasesOf(diff.b.entry)) {
    if (std::ranges::find(phases, phase.phase, &PhaseTime::phase) == phases.end())
      phases.push_back(phase);
  }
  std::ranges::stable_sort(phases, {}, [](const PhaseTime& phase) {
    const auto known = engine::ParseTxnPhase(phase.phase);
    return known ? static_cast<int>(*known) : 1000;
  });
  for (const PhaseTime& phase : phases) {
    const auto secondsIn = [&](const Side& s) -> std::optional<double> {
      const auto found = s.entry.phases.find(phase.phase);
      return found == s.entry.phases.end() ? std::nullopt : std::optional(found->second);
    };
    add((phase.phase + "_seconds").c_str(), phase.name,
        [&](const Side& s) {
          const auto value = secondsIn(s);
          return value ? format::seconds(*value) : format::unknown();
        },
        [&](const Side& s) { return rawNumber(secondsIn(s)); });
  }
  const auto addSpeed = [&](const char* key, const QString& name,
                            std::optional<double> Side::*value) {
    add(
        key, name,
        [&](const Side& s) {
          return s.*value ? format::shortCount(*(s.*value)) : format::unknown();
        },
        [&](const Side& s) { return rawNumber(s.*value); });
  };
  const auto addLoss = [&](const char* key, const QString& name,
                           std::optional<double> Side::*value) {
    add(
        key, name, [&](const Side& s) { return diffNumberText(s.*value, 3); },
        [&](const Side& s) { return rawNumber(s.*value); });
  };
  addLoss("loss_before", DiffWords::tr("loss before"), &Side::lossBefore);
  addLoss("loss_after", DiffWords::tr("loss after"), &Side::lossAfter);
  addSpeed("tokens_per_second_before", DiffWords::tr("tokens/s before"), &Side::tokensBefore);
  addSpeed("tokens_per_second_after", DiffWords::tr("tokens/s after"), &Side::tokensAfter);
  return rows;
}

QString deviceText(const PlaceDiff& diff) {
  QStringList lines;
  const auto count = [](const auto& devices) {
    return format::gpus(static_cast<std::int64_t>(devices.size()));
  };
  if (!diff.joined.empty()) {
    lines << DiffWords::tr("+%1: %2", "devices that joined")
                 .arg(count(diff.joined), deviceNames(diff.joined));
  }
  if (!diff.left.empty()) {
    lines << DiffWords::tr("−%1: %2", "devices that left")
                 .arg(count(diff.left), deviceNames(diff.left));
  }
  if (!diff.resharded.empty()) {
    lines << DiffWords::tr("another shard on %1: %2")
                 .arg(count(diff.resharded), deviceNames(diff.resharded));
  }
  if (lines.isEmpty())
    lines << DiffWords::tr("The same GPUs, at the same places in pp, ep and tp.");
  return lines.join(QLatin1Char('\n'));
}

QByteArray exportText(const ChangeDiff& diff, ExportFormat format) {
  return exportText(rowsOf(diff), diff, format);
}

QByteArray exportText(const std::vector<DiffRow>& rows, const PlaceDiff& diff,
                      ExportFormat format) {
  const std::pair<QString, const std::vector<ptc::DeviceId>*> sets[] = {
      {QStringLiteral("joined"), &diff.joined},
      {QStringLiteral("left"), &diff.left},
      {QStringLiteral("resharded"), &diff.resharded}};
  if (format == ExportFormat::Json) {
    QJsonObject a, b;
    for (const DiffRow& row : rows) {
      for (const auto& [side, raw] : {std::pair(&a, &row.rawA), std::pair(&b, &row.rawB)}) {
        bool isNumber = false;
        const double number = raw->toDouble(&isNumber);
        side->insert(row.key, raw->isEmpty() ? QJsonValue()
                              : isNumber     ? QJsonValue(number)
                                             : QJsonValue(*raw));
      }
    }
    QJsonObject whole{{QStringLiteral("a"), a}, {QStringLiteral("b"), b}};
    for (const auto& [name, devices] : sets) whole[name] = diffJsonOf(*devices);
    return QJsonDocument(whole).toJson();
  }
  QString out = QStringLiteral("fact,a,b\n");
  for (const DiffRow& row : rows) {
    out += row.key + QLatin1Char(',') + diffCsvCell(row.rawA) + QLatin1Char(',') +
           diffCsvCell(row.rawB) + QLatin1Char('\n');
  }
  for (const auto& [name, devices] : sets) {
    out += name + QStringLiteral(",,") + diffCsvCell(deviceArgument(*devices)) + QLatin1Char('\n');
  }
  return out.toUtf8();
}

}  // namespace tessera::ui
