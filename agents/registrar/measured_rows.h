// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The rows of the registrar's journal that describe machines and links. They hold for the next
/// cluster on the same machines, too.

#include <array>

namespace tessera::agents {

inline constexpr char kCalibrationRow[] = "calibration";  // engine::Calibration as JSON
inline constexpr char kLinksRow[] = "links";              // engine::LinkSpeeds as JSON
inline constexpr std::array kMeasuredRows = {&kCalibrationRow[0], &kLinksRow[0]};

}  // namespace tessera::agents
