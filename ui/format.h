// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Numbers, names and errors as the panel prints them. All follow the default QLocale and are
/// translatable. Sizes are binary units, rates decimal units, times seconds.

#include <QString>
#include <cstdint>
#include <optional>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::ui::format {

/// "512 B", "37.4 MiB", "118 MiB": one decimal below 100, none for a whole number of units.
QString bytes(std::int64_t count);
/// "118 of 512 MiB": one unit for both where the first is not below 1 of it.
QString bytesOf(std::int64_t part, std::int64_t whole);
/// "98 MB/s", "12.1 GB/s".
QString rate(double bytesPerSecond);
/// "350 µs", "3.5 ms", "35 ms", "0.31 s", "4.1 s", "42 s", "3 min 5 s", "2 h 4 min".
QString seconds(double seconds);
/// "just now", "12 s ago", "3 min ago".
QString age(double seconds);
/// "1,284".
QString count(std::int64_t number);
/// "1 GPU", "4 GPUs".
QString gpus(std::int64_t number);
/// "950", "5.8 k", "1.21 M".
QString shortCount(double number);
/// A part of 1 as a whole number of percent, 0 to 100; 100 only from exactly 1 on.
int wholePercent(double fraction);
/// "62 %", rounded as above.
QString percent(double fraction);
/// "5 s", "59 s", then as `seconds`: for waiting times, whose fractions say nothing.
QString wait(double seconds);
/// "2 × 2 × 1": dp × tp × pp, with ep and cp appended as "· ep 2" where above 1.
QString shape(const ptc::MeshShape& shape);
/// "n1g3".
QString device(ptc::DeviceId device);
/// "n1".
QString node(std::int32_t node);
/// An em dash where the value is not known, never a zero.
QString orUnknown(const std::optional<QString>& text);

/// One line for people: what the code means, then the error's own words.
QString error(const Error& error);
QString text(ErrorCode code);
QString text(engine::NodeState state);
QString text(engine::JobState state);
/// Headline of a phase: "transferring", "comparing checksums", …
QString text(engine::TxnPhase phase);
QString text(engine::Severity severity);

}  // namespace tessera::ui::format
