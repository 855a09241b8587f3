// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands/proposal.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// \pre !values.empty()
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Json numberOrNull(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }
Json numberOrNull(double value) { return value > 0 ? Json(value) : Json(nullptr); }

}  // namespace

std::string describeConfiguration(const Configuration& place) {
  const std::string options = engine::ToString(place.options);
  return fmt::format("{}{}{} on {}", ptc::ToString(place.mesh), options.empty() ? "" : ", ",
                     options, ptc::ToString(place.devices));
}

std::optional<double> errorOf(const Measurement& m) {
  if (m.predicted <= 0 || m.measured <= 0) return std::nullopt;
  return m.predicted / m.measured - 1;
}

std::optional<double> medianError(const std::vector<Measurement>& measurements) {
  std::vector<double> errors;
  for (const Measurement& m : measurements)
    if (const auto error = errorOf(m)) errors.push_back(std::abs(*error));
  if (errors.empty()) return std::nullopt;
  return median(std::move(errors));
}

const Measurement* fastest(const std::vector<Measurement>& measurements) {
  const Measurement* best = nullptr;
  for (const Measurement& m : measurements)
    if (m.measured > 0 && (best == nullptr || m.measured < best->measured)) best = &m;
  return best;
}

double medianStep(const std::vector<engine::Sample>& samples, std::int64_t skip) {
  std::vector<double> seconds;
  for (std::size_t i = static_cast<std::size_t>(skip) + 1; i < samples.size(); ++i)
    seconds.push_back((samples[i].time - samples[i - 1].time) /
                      static_cast<double>(samples[i].step - samples[i - 1].step));
  return median(std::move(seconds));
}

std::string describeMeasurements(const std::vector<Measurement>& measurements) {
  if (measurements.empty()) return "nothing was measured\n";
  std::vector<std::vector<std::string>> rows = {
      {"", "mesh", "options", "devices", "predicted", "measured", "error"}};
  const Measurement* best = fastest(measurements);
  for (const Measurement& m : measurements) {
    const std::string options = engine::ToString(m.place.options);
    const auto error = errorOf(m);
    rows.push_back({&m == best ? "*" : "", ptc::ToString(m.place.mesh),
                    options.empty() ? "-" : options, std::to_string(m.place.devices.size()),
                    formatStep(m.predicted), m.failure.empty() ? formatStep(m.measured) : "failed",
                    error ? fmt::format("{:+.0f} %", 100 * *error) : "-"});
  }
  std::string text = formatTable(rows, {3, 4, 5, 6});
  for (const Measurement& m : measurements)
    if (!m.failure.empty())
      text += fmt::format("{}: {}\n", describeConfiguration(m.place), m.failure);
  if (const auto error = medianError(measurements))
    text += fmt::format("median error of the prediction: {:.0f} %\n", 100 * *error);
  return text;
}

Json toJson(const std::vector<Measurement>& measurements, const Configuration& kept) {
  const auto place = [](const Configuration& p) {
    return Json{
        {"mesh", toJson(p.mesh)}, {"options", toJson(p.options)}, {"devices", toJson(p.devices)}};
  };
  Json rows = Json::array();
  for (const Measurement& m : measurements) {
    Json row = place(m.place);
    row["predicted_seconds"] = numberOrNull(m.predicted);
    row["measured_seconds"] = numberOrNull(m.measured);
    row["error"] = numberOrNull(errorOf(m));
    if (!m.failure.empty()) row["failure"] = m.failure;
    rows.push_back(std::move(row));
  }
  return {{"measurements", std::move(rows)},
          {"median_error", numberOrNull(medianError(measurements))},
          {"kept", place(kept)}};
}

}  // namespace tessera::app
