// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Numbers, names and errors as text for the user. All follow the default QLocale and can be
/// translated. Sizes use binary units, rates decimal units; times are in seconds.

#include <QString>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::ui::format {

/// "512 B", "37.4 MiB", "118 MiB": one decimal below 100, none for whole numbers.
QString bytes(std::int64_t count);
/// "18.4": the number without a unit, in that of bytes(`like`); "<0.1" for what would round to 0.
QString bytesAs(std::int64_t count, std::int64_t like);
/// "118 of 512 MiB": one unit for both numbers unless the first is below 1 of that unit.
QString bytesOf(std::int64_t part, std::int64_t whole);
/// "98 MB/s", "12.1 GB/s".
QString rate(double bytesPerSecond);
/// "350 µs", "3.5 ms", "35 ms", "0.31 s", "4.1 s", "42 s", "3 min 5 s", "2 h 4 min".
QString seconds(double seconds);
/// "just now", "12 s ago", "3 min ago".
QString age(double seconds);
/// "14:02:31" of a wall clock in seconds since 1970.
QString timeOfDay(double time);
/// "09:35", with the day before it unless that is today.
QString minuteClock(double time);
/// The same, with the date if that is not today.
QString clock(double time);
/// "14:02:31" of today, else "06-15 14:02:31": for lists.
QString shortClock(double time);
/// Whether this time is on the present day.
bool isToday(double time);
/// "1,284".
QString count(std::int64_t number);
/// "1 GPU", "4 GPUs".
QString gpus(std::int64_t number);
/// "1 node", "3 nodes"; "1 step", "20 steps".
QString nodes(std::int64_t number);
QString steps(std::int64_t number);
/// "950", "5.8 k", "1.21 M".
QString shortCount(double number);
/// "k", "M" or "G".
/// \pre size is 1e3, 1e6 or 1e9
QString unitOf(double size);
/// A number of unknown size, at five digits: "0.9125", "12,345", "1.21 M", "3.00E-05"; a dash for
/// what is not a number.
QString quantity(double number);
/// Rounds a fraction to whole percent, 0 to 100. Returns 100 only for fractions of at least 1.
int wholePercent(double fraction);
/// "62 %", rounded as above.
QString percent(double fraction);
/// "5 s", "59 s", then as seconds(): for waiting times, where fractions do not matter.
QString wait(double seconds);
/// "2 × 2 × 1": dp × tp × pp, with ep and cp appended as "· ep 2" where above 1.
QString shape(const ptc::MeshShape& shape);
/// "n0 out", a port as plans and lessons name it; other texts as they are.
QString port(std::string_view text);
/// "2 × 2 × 1 → 4 × 2 × 1"; "2 × 2 × 1" if both are equal.
QString change(const ptc::MeshShape& from, const ptc::MeshShape& to);
/// Who has requested something, from the record "laptop: tesseractl, lena@lab3": "tesseractl,
/// lena@lab3 (key laptop)". A dash for an empty record.
QString requester(const std::string& who);
/// "n1g3".
QString device(ptc::DeviceId device);
/// "n1".
QString node(std::int32_t node);
/// "survived", "n1 would lose 18 MiB".
QString survival(const engine::Survival& survival);
/// An em dash: the text of an unknown value, which is never shown as 0.
QString unknown();
/// Returns the text, or unknown().
QString orUnknown(const std::optional<QString>& text);

/// A word of the engine as it is, such as "param" or "bf16"; not translated.
QString word(std::string_view text);

/// Returns one line: the meaning of the code, then the message of the error.
QString error(const Error& error);
QString text(ErrorCode code);
QString text(engine::NodeState state);
QString text(engine::JobState state);
/// The name of a phase: "transferring", "verifying", …
QString text(engine::TxnPhase phase);
QString text(engine::Severity severity);

}  // namespace tessera::ui::format
