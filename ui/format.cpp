// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/format.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/sentences.h"

namespace tessera::ui::format {
namespace {

struct FormatWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::format)
};

// The C locale prints no group separators; use English instead.
QLocale locale() {
  const QLocale chosen;
  return chosen.language() == QLocale::C ? QLocale(QLocale::English) : chosen;
}

QString number(double value, int decimals) { return locale().toString(value, 'f', decimals); }

// One decimal below 100, unless it is zero.
QString scaled(double value) {
  const double tenths = std::round(value * 10) / 10;
  return number(value, tenths < 100 && value != std::round(value) ? 1 : 0);
}

struct Unit {
  double size;
  const char* name;
};
constexpr std::array<Unit, 6> kBinary{{{1, "B"},
                                       {0x1p10, "KiB"},
                                       {0x1p20, "MiB"},
                                       {0x1p30, "GiB"},
                                       {0x1p40, "TiB"},
                                       {0x1p50, "PiB"}}};
constexpr std::array<Unit, 5> kRates{
    {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}}};

// Chooses the largest unit in which the rounded value is at least 1.
template <std::size_t N>
const Unit& unitFor(double value, const std::array<Unit, N>& units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.size * 0.9995) best = &unit;
  }
  return *best;
}

QString joined(const QString& value, const QString& unit) {
  return value + QLatin1Char(' ') + unit;
}

}  // namespace

QString bytes(std::int64_t count) {
  const auto value = static_cast<double>(count);
  const Unit& unit = unitFor(value, kBinary);
  return joined(scaled(value / unit.size), QLatin1String(unit.name));
}

QString bytesAs(std::int64_t count, std::int64_t like) {
  const double value =
      static_cast<double>(count) / unitFor(static_cast<double>(like), kBinary).size;
  return value > 0 && value < 0.05 ? QLatin1Char('<') + number(0.1, 1) : scaled(value);
}

QString bytesOf(std::int64_t part, std::int64_t whole) {
  const Unit& unit = unitFor(static_cast<double>(whole), kBinary);
  const double share = static_cast<double>(part) / unit.size;
  const QString left = part != 0 && std::abs(share) < 1 ? bytes(part) : scaled(share);
  return FormatWords::tr("%1 of %2", "118 of 512 MiB").arg(left, bytes(whole));
}

QString rate(double bytesPerSecond) {
  const Unit& unit = unitFor(bytesPerSecond, kRates);
  const double value = bytesPerSecond / unit.size;
  const bool whole = unit.size < 1e9 && value >= 9.95;
  return joined(whole || value == 0 ? number(value, 0) : scaled(value), QLatin1String(unit.name));
}

QString seconds(double value) {
  if (value < 0) return QString(QChar(0x2212)) + seconds(-value);
  if (value == 0) return joined(number(0, 0), FormatWords::tr("s"));
  if (value < 0.0009995) return joined(number(value * 1e6, 0), FormatWords::tr("µs"));
  if (value < 0.00995) return joined(number(value * 1e3, 1), FormatWords::tr("ms"));
  if (value < 0.0995) return joined(number(value * 1e3, 0), FormatWords::tr("ms"));
  if (value < 0.995) return joined(number(value, 2), FormatWords::tr("s"));
  if (value < 9.95) return joined(number(value, 1), FormatWords::tr("s"));
  const auto whole = static_cast<std::int64_t>(std::llround(value));
  if (whole < 60) return joined(number(static_cast<double>(whole), 0), FormatWords::tr("s"));
  const QLocale in = locale();
  if (whole < 3600) {
    return FormatWords::tr("%1 min %2 s").arg(in.toString(whole / 60), in.toString(whole % 60));
  }
  return FormatWords::tr("%1 h %2 min")
      .arg(in.toString(whole / 3600), in.toString(whole / 60 % 60));
}

QString timeOfDay(double time) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000))
      .toString(QStringLiteral("HH:mm:ss"));
}

QString minuteClock(double time) {
  return clock(time).chopped(3);  // ":12"
}

QString clock(double time) {
  const QDate day = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)).date();
  if (day == QDate::currentDate()) return timeOfDay(time);
  return day.toString(Qt::ISODate) + QLatin1Char(' ') + timeOfDay(time);
}

bool isToday(double time) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)).date() ==
         QDate::currentDate();
}

QString shortClock(double time) {
  if (isToday(time)) return timeOfDay(time);
  const QDate day = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)).date();
  return day.toString(QStringLiteral("MM-dd")) + QLatin1Char(' ') + timeOfDay(time);
}

QString age(double value) {
  if (value < 1) return FormatWords::tr("just now");
  const auto whole = static_cast<std::int64_t>(value);
  const QLocale in = locale();
  if (whole < 60) return FormatWords::tr("%1 s ago").arg(in.toString(whole));
  if (whole < 3600) return FormatWords::tr("%1 min ago").arg(in.toString(whole / 60));
  if (whole < 86400) return FormatWords::tr("%1 h ago").arg(in.toString(whole / 3600));
  return FormatWords::tr("%1 d ago").arg(in.toString(whole / 86400));
}

QString count(std::int64_t value) { return locale().toString(static_cast<qlonglong>(value)); }

QString shortCount(double value) {
  if (std::abs(value) < 999.5) return number(value, 0);
  const bool millions = std::abs(value) >= 999.5e3;
  const bool billions = std::abs(value) >= 999.5e6;
  const double shown = value / (billions ? 1e9 : millions ? 1e6 : 1e3);
  const double size = std::abs(shown);
  const int decimals = millions ? (size < 9.995 ? 2 : size < 99.95 ? 1 : 0) : (size < 9.95 ? 1 : 0);
  return joined(number(shown, decimals), unitOf(billions ? 1e9 : millions ? 1e6 : 1e3));
}

QString unitOf(double size) {
  return size >= 1e9   ? FormatWords::tr("G", "thousand millions")
         : size >= 1e6 ? FormatWords::tr("M", "millions")
                       : FormatWords::tr("k", "thousands");
}

QString quantity(double value) {
  if (std::isnan(value)) return unknown();
  if (std::isinf(value))
    return QString(value < 0 ? QChar(0x2212) : QChar(0x221e)) +
           (value < 0 ? QString(QChar(0x221e)) : QString());
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-3 || size >= 1e13)) return locale().toString(value, 'e', 2);
  if (size >= 99'999.5) return shortCount(value);
  return locale().toString(value, 'g', 5);
}

QString gpus(std::int64_t number) {
  return number == 1 ? FormatWords::tr("1 GPU") : FormatWords::tr("%1 GPUs").arg(count(number));
}

QString survival(const engine::Survival& survival) {
  return survival.of_any_node() ? FormatWords::tr("survived")
                                : FormatWords::tr("%1 would lose %2", "n1 would lose 18 MiB")
                                      .arg(node(survival.node), bytes(survival.bytes));
}

QString nodes(std::int64_t number) {
  return number == 1 ? FormatWords::tr("1 node") : FormatWords::tr("%1 nodes").arg(count(number));
}

QString steps(std::int64_t number) {
  return number == 1 ? FormatWords::tr("1 step") : FormatWords::tr("%1 steps").arg(count(number));
}

int wholePercent(double fraction) {
  if (fraction >= 1) return 100;
  return static_cast<int>(std::clamp(std::round(fraction * 100), 0.0, 99.0));
}

QString percent(double fraction) {
  return joined(number(wholePercent(fraction), 0), QStringLiteral("%"));
}

QString wait(double value) {
  return value < 10 ? joined(number(std::floor(value), 0), FormatWords::tr("s")) : seconds(value);
}

QString shape(const ptc::MeshShape& shape) {
  const QLocale in = locale();
  const auto size = [&](ptc::Axis axis) {
    return in.toString(static_cast<qlonglong>(shape[axis]));
  };
  QString text = size(ptc::Axis::kDp) + QStringLiteral(" × ") + size(ptc::Axis::kTp) +
                 QStringLiteral(" × ") + size(ptc::Axis::kPp);
  if (shape[ptc::Axis::kEp] > 1) text += QStringLiteral(" · ep ") + size(ptc::Axis::kEp);
  if (shape[ptc::Axis::kCp] > 1) text += QStringLiteral(" · cp ") + size(ptc::Axis::kCp);
  return text;
}

QString change(const ptc::MeshShape& from, const ptc::MeshShape& to) {
  return from == to ? shape(to) : shape(from) + QStringLiteral(" → ") + shape(to);
}

QString requester(const std::string& who) {
  if (who.empty()) return unknown();
  const QString text = QString::fromStdString(who);
  const auto colon = text.indexOf(QStringLiteral(": "));
  if (colon <= 0) return text;
  return FormatWords::tr("%1 (key %2)").arg(text.mid(colon + 2), text.left(colon));
}

QString device(ptc::DeviceId device) { return QString::fromStdString(ptc::ToString(device)); }

QString node(std::int32_t node) { return QStringLiteral("n") + QString::number(node); }

QString port(std::string_view text) {
  const QString name = word(text);
  static const QRegularExpression form(QStringLiteral("^(\\S+) (in|out)$"));
  const auto match = form.match(name);
  if (!match.hasMatch()) return name;
  return match.captured(2) == QLatin1String("in")
             ? FormatWords::tr("%1 in", "a port").arg(match.captured(1))
             : FormatWords::tr("%1 out", "a port").arg(match.captured(1));
}

QString unknown() { return QStringLiteral("—"); }

QString orUnknown(const std::optional<QString>& text) { return text.value_or(unknown()); }

QString text(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return FormatWords::tr("Not a valid value");
    case ErrorCode::kNotFound:
      return FormatWords::tr("Not found");
    case ErrorCode::kAlreadyExists:
      return FormatWords::tr("Already exists");
    case ErrorCode::kFailedPrecondition:
      return FormatWords::tr("Not possible now");
    case ErrorCode::kUnavailable:
      return FormatWords::tr("Not reachable");
    case ErrorCode::kTimeout:
      return FormatWords::tr("No answer in time");
    case ErrorCode::kCancelled:
      return FormatWords::tr("Cancelled");
    case ErrorCode::kDataLoss:
      return FormatWords::tr("Data damaged or lost");
    case ErrorCode::kResourceExhausted:
      return FormatWords::tr("Out of space");
    case ErrorCode::kUnimplemented:
      return FormatWords::tr("Not supported");
    case ErrorCode::kInternal:
      return FormatWords::tr("Internal error");
    case ErrorCode::kPermissionDenied:
      return FormatWords::tr("Not allowed");
    case ErrorCode::kOutcomeUnknown:
      return FormatWords::tr("Outcome unknown");
  }
  Q_UNREACHABLE();
}

QString word(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString error(const Error& error) {
  // A message may contain text from a peer; reduce it to one line.
  const QString words = localized(QString::fromStdString(error.ToString()).simplified());
  return words.isEmpty()
             ? text(error.code)
             : FormatWords::tr("%1: %2", "kind of error: its words").arg(text(error.code), words);
}

QString text(engine::NodeState state) {
  switch (state) {
    case engine::NodeState::kJoining:
      return FormatWords::tr("joining");
    case engine::NodeState::kAlive:
      return FormatWords::tr("alive");
    case engine::NodeState::kSuspect:
      return FormatWords::tr("suspect");
    case engine::NodeState::kUnmanaged:
      return FormatWords::tr("unreachable");
    case engine::NodeState::kDead:
      return FormatWords::tr("lost");
    case engine::NodeState::kLeft:
      return FormatWords::tr("left");
  }
  Q_UNREACHABLE();
}

QString text(engine::JobState state) {
  switch (state) {
    case engine::JobState::kStarting:
      return FormatWords::tr("starting");
    case engine::JobState::kRunning:
      return FormatWords::tr("training");
    case engine::JobState::kPausing:
      return FormatWords::tr("pausing");
    case engine::JobState::kPaused:
      return FormatWords::tr("paused");
    case engine::JobState::kReconfiguring:
      return FormatWords::tr("reconfiguring");
    case engine::JobState::kWaitingDecision:
      return FormatWords::tr("needs a decision");
    case engine::JobState::kSuspended:
      return FormatWords::tr("suspended");
    case engine::JobState::kStopped:
      return FormatWords::tr("stopped");
    case engine::JobState::kFailed:
      return FormatWords::tr("failed");
    case engine::JobState::kUnknown:
      return FormatWords::tr("unknown");
  }
  Q_UNREACHABLE();
}

QString text(engine::TxnPhase phase) {
  switch (phase) {
    case engine::TxnPhase::kPlanned:
      return FormatWords::tr("planned");
    case engine::TxnPhase::kPreparing:
      return FormatWords::tr("preparing");
    case engine::TxnPhase::kPrecopying:
      return FormatWords::tr("copying while training");
    case engine::TxnPhase::kPausing:
      return FormatWords::tr("pausing");
    case engine::TxnPhase::kTransferring:
      return FormatWords::tr("transferring");
    case engine::TxnPhase::kVerifying:
      return FormatWords::tr("verifying");
    case engine::TxnPhase::kCommitting:
      return FormatWords::tr("committing");
    case engine::TxnPhase::kResuming:
      return FormatWords::tr("resuming");
    case engine::TxnPhase::kDone:
      return FormatWords::tr("done");
    case engine::TxnPhase::kRollingBack:
      return FormatWords::tr("rolling back");
    case engine::TxnPhase::kRolledBack:
      return FormatWords::tr("rolled back");
    case engine::TxnPhase::kFailed:
      return FormatWords::tr("failed");
    case engine::TxnPhase::kNeedsDecision:
      return FormatWords::tr("needs a decision");
    case engine::TxnPhase::kInDoubt:
      return FormatWords::tr("outcome unknown");
  }
  Q_UNREACHABLE();
}

QString text(engine::Severity severity) {
  switch (severity) {
    case engine::Severity::kDebug:
      return FormatWords::tr("debug");
    case engine::Severity::kInfo:
      return FormatWords::tr("info");
    case engine::Severity::kWarning:
      return FormatWords::tr("warning");
    case engine::Severity::kError:
      return FormatWords::tr("error");
  }
  Q_UNREACHABLE();
}

}  // namespace tessera::ui::format
