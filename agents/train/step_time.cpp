// SPDX-License-Identifier: Apache-2.0
#include "agents/train/step_time.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tessera::agents::train {
namespace {

constexpr const char* kVariable = "TESSERA_STEP_TIME";
constexpr double kMost = 3600;  // seconds

}  // namespace

Result<StepTime> LeastStepTime() {
  const char* const value = std::getenv(kVariable);
  if (value == nullptr) return StepTime(0);
  const std::string_view text(value);
  double seconds = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(seconds >= 0 && seconds <= kMost)) {
    return InvalidArgument(
        fmt::format("{}={} is not a number of seconds from 0 to {}", kVariable, text, kMost));
  }
  return StepTime(seconds);
}

}  // namespace tessera::agents::train
