// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/sample_text.h"

#include <fmt/format.h>

#include <cmath>

#include "app/commands/units.h"

namespace tessera::app {

std::string sampleText(const engine::Sample& sample) {
  const double rate = sample.tokens_per_second;
  std::string text =
      fmt::format("{}  step {:>6}  loss {:>9.6f}  grad norm {:>9.6f}  {:>8} tokens/s",
                  formatClock(sample.time), sample.step, sample.loss, sample.grad_norm,
                  std::isfinite(rate) ? fmt::format("{:.0f}", rate) : "-");
  for (const auto& [name, value] : sample.metrics) text += fmt::format("  {} {:.6g}", name, value);
  return text;
}

}  // namespace tessera::app
