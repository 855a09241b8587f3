// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/moment_diff.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <set>
#include <utility>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

struct MomentWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MomentDiff)
};

DiffPlace placeOfMoment(const MomentSide& side) {
  return {side.job.mesh, side.job.devices, side.job.options};
}

QString exactly(double number) { return QString::number(number, 'g', 17); }

}  // namespace

std::optional<MomentSide> momentSideOf(const engine::ClusterSnapshot& cluster,
                                       const std::string& job, double time, std::int64_t change) {
  const auto found = std::ranges::find(cluster.jobs, job, &engine::JobStatus::name);
  if (found == cluster.jobs.end()) return {};
  MomentSide side;
  side.time = time;
  side.job = *found;
  side.change = change;
  const auto& txn = cluster.transaction;
  if (txn && txn->job == job && !engine::IsFinal(txn->phase)) side.running = txn;
  side.nodes = std::ssize(cluster.nodes);
  const bool isKnown = std::ranges::all_of(cluster.nodes, &engine::NodeStatus::is_state_known);
  if (isKnown) {
    side.alive =
        std::ranges::count(cluster.nodes, engine::NodeState::kAlive, &engine::NodeStatus::state);
  }
  return side;
}

MomentDiff makeMomentDiff(const MomentSide& one, const MomentSide& other,
                          const std::vector<engine::HistoryEntry>& history) {
  const bool ordered = one.time <= other.time;
  const MomentSide& a = ordered ? one : other;
  const MomentSide& b = ordered ? other : one;
  MomentDiff diff{makePlaceDiff(placeOfMoment(a), placeOfMoment(b)), a, b};
  for (const engine::HistoryEntry& entry : history) {
    if (!engine::IsOf(entry, a.job) || entry.started <= a.time || entry.started > b.time) continue;
    ++diff.changes;
    diff.bytes += entry.bytes_moved;
    diff.paused += entry.pause;
  }
  return diff;
}

std::vector<DiffRow> rowsOf(const MomentDiff& diff) {
  using Side = MomentSide;
  std::vector<DiffRow> rows;
  const auto add = [&](const QString& key, const QString& name, auto text, auto raw) {
    rows.push_back({key, name, text(diff.a), text(diff.b), raw(diff.a), raw(diff.b)});
  };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  add(
      id("time"), MomentWords::tr("when"), [](const Side& s) { return format::clock(s.time); },
      [](const Side& s) { return exactly(s.time); });
  add(
      id("step"), MomentWords::tr("step"), [](const Side& s) { return format::count(s.job.step); },
      [](const Side& s) { return QString::number(s.job.step); });
  add(
      id("phase"), MomentWords::tr("phase"),
      [](const Side& s) {
        return s.running ? format::text(s.running->phase) : MomentWords::tr("no change");
      },
      [](const Side& s) {
        return s.running ? format::word(ToString(s.running->phase)) : QString();
      });
  add(
      id("change"), MomentWords::tr("last change"),
      [](const Side& s) { return s.change > 0 ? QString::number(s.change) : format::unknown(); },
      [](const Side& s) { return s.change > 0 ? QString::number(s.change) : QString(); });
  if (diff.a.running || diff.b.running) {
    add(
        id("bytes_done"), MomentWords::tr("moved by it"),
        [](const Side& s) {
          return s.running ? format::bytesOf(s.running->bytes_done, s.running->bytes_total)
                           : format::unknown();
        },
        [](const Side& s) {
          return s.running ? QString::number(s.running->bytes_done) : QString();
        });
  }
  add(
      id("epoch"), MomentWords::tr("epoch"),
      [](const Side& s) { return format::count(s.job.epoch); },
      [](const Side& s) { return QString::number(s.job.epoch); });
  add(
      id("gpus"), MomentWords::tr("GPUs"), [](const Side& s) { return deviceNames(s.job.devices); },
      [](const Side& s) { return deviceArgument(s.job.devices); });
  for (const ptc::Axis axis : ptc::kAxesInText) {
    if (!ptc::IsCommon(axis) && diff.a.job.mesh[axis] == 1 && diff.b.job.mesh[axis] == 1) continue;
    const QString name = format::word(ptc::ToString(axis));
    add(
        name, name, [axis](const Side& s) { return format::count(s.job.mesh[axis]); },
        [axis](const Side& s) { return QString::number(s.job.mesh[axis]); });
  }
  add(
      id("options"), MomentWords::tr("options"),
      [](const Side& s) { return optionsText(s.job.options); },
      [](const Side& s) { return QString::fromStdString(ToString(s.job.options)); });
  add(
      id("nodes_alive"), MomentWords::tr("nodes alive"),
      [](const Side& s) {
        return s.alive ? MomentWords::tr("%1 of %2", "nodes").arg(*s.alive).arg(s.nodes)
                       : format::unknown();
      },
      [](const Side& s) { return s.alive ? QString::number(*s.alive) : QString(); });
  const auto addNumber = [&](const QString& key, const QString& name, auto value, auto text) {
    add(
        key, name,
        [&](const Side& s) {
          const std::optional<double> number = value(s);
          return number ? text(*number) : format::unknown();
        },
        [&](const Side& s) {
          const std::optional<double> number = value(s);
          return number ? exactly(*number) : QString();
        });
  };
  addNumber(
      id("loss"), MomentWords::tr("loss"), [](const Side& s) { return s.job.loss; },
      [](double number) { return QLocale().toString(number, 'f', 4); });
  addNumber(
      id("tokens_per_second"), MomentWords::tr("tokens/s"),
      [](const Side& s) { return s.job.tokens_per_second; }, format::shortCount);
  std::set<std::string> names;
  for (const Side* side : {&diff.a, &diff.b}) {
    for (const auto& [name, value] : side->job.metrics) names.insert(name);
  }
  for (const std::string& name : names) {
    addNumber(
        id("metrics.") + QString::fromStdString(name), format::word(name),
        [&](const Side& s) -> std::optional<double> {
          const auto found = s.job.metrics.find(name);
          return found == s.job.metrics.end() ? std::nullopt : std::optional(found->second);
        },
        format::quantity);
  }
  return rows;
}

QString betweenText(const MomentDiff& diff) {
  if (diff.changes == 0) return MomentWords::tr("No change began in between.");
  if (diff.changes == 1) {
    return MomentWords::tr("1 change in between moved %1 and paused the job for %2.")
        .arg(format::bytes(diff.bytes), format::seconds(diff.paused));
  }
  return MomentWords::tr("%1 changes in between moved %2 and paused the job for %3.")
      .arg(format::count(diff.changes), format::bytes(diff.bytes), format::seconds(diff.paused));
}

}  // namespace tessera::ui
