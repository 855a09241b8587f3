// SPDX-License-Identifier: Apache-2.0
#include "engine/search/calibration.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace tessera::engine {
namespace {

using Json = nlohmann::ordered_json;

LinkCost Between(const LinkCost& a, const LinkCost& b, double part) {
  return {a.seconds + part * (b.seconds - a.seconds),
          a.seconds_per_byte + part * (b.seconds_per_byte - a.seconds_per_byte)};
}

/// Visits every number of a calibration with its key and limits; the order is that of the JSON.
template <typename C, typename Visit>
void ForEachNumber(C& c, const Visit& visit) {
  // Limits are wide: they only exclude what no machine has.
  constexpr double kTiny = 1e-15, kLong = 60;
  visit("measured_at", c.measured_at, 0.0, 1e11);
  visit("all_cores_speed", c.all_cores_speed, 1.0, 4096.0);
  visit("pass_seconds", c.pass_seconds, 0.0, kLong);
  visit("layer_seconds", c.layer_seconds, 0.0, kLong);
  visit("flops_per_second", c.flops_per_second, 1e6, 1e15);
  visit("element_seconds", c.element_seconds, 0.0, 1e-3);
  visit("gradient_seconds", c.gradient_seconds, 0.0, 1e-3);
  visit("update_seconds", c.update_seconds, kTiny, 1e-3);
  visit("step_seconds", c.step_seconds, 0.0, kLong);
  const auto link = [&](const std::string& name, auto& cost) {
    visit(name + ".seconds", cost.seconds, 0.0, kLong);
    visit(name + ".seconds_per_byte", cost.seconds_per_byte, 0.0, 1e-3);
  };
  const auto collective = [&](const std::string& name, auto& cost) {
    link(name + ".2", cost.two);
    link(name + ".4", cost.four);
    link(name + ".8", cost.eight);
  };
  collective("shared_all_reduce", c.shared_all_reduce);
  collective("network_all_reduce", c.network_all_reduce);
  collective("shared_gather", c.shared_gather);
  collective("network_gather", c.network_gather);
  link("shared_send", c.shared_send);
  link("network_send", c.network_send);
}

}  // namespace

LinkCost CollectiveCost::Of(std::int64_t ranks) const {
  constexpr std::int64_t kMeasured = 8;
  if (ranks <= 1) return {};
  const auto n = static_cast<double>(ranks);
  if (ranks > kMeasured) {
    // A pass of a ring has n - 1 rounds, each of which sends an n-th of the bytes.
    const double rounds = (n - 1) / (kMeasured - 1);
    return {eight.seconds * rounds, eight.seconds_per_byte * rounds * kMeasured / n};
  }
  const double doublings = std::log2(n);
  const LinkCost cost =
      doublings <= 2 ? Between(two, four, doublings - 1) : Between(four, eight, doublings - 2);
  return {std::max(0.0, cost.seconds), std::max(0.0, cost.seconds_per_byte)};
}

std::string ToJson(const Calibration& calibration) {
  Json json = {{"cpu", calibration.cpu}, {"cores", calibration.cores}};
  ForEachNumber(calibration,
                [&](const std::string& key, double value, double, double) { json[key] = value; });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Calibration> ParseCalibration(std::string_view text) {
  constexpr std::int64_t kMostCores = 4096;
  constexpr std::size_t kLongestName = 256;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return InvalidArgument("calibration: not a JSON object");
  std::set<std::string> known = {"cpu", "cores"};
  const auto cpu = json.find("cpu");
  if (cpu == json.end() || !cpu->is_string() ||
      cpu->get_ref<const std::string&>().size() > kLongestName) {
    return InvalidArgument(
        fmt::format("calibration: 'cpu' is not a string of up to {} bytes", kLongestName));
  }
  Calibration calibration;
  calibration.cpu = cpu->get<std::string>();
  const auto cores = json.find("cores");
  if (cores == json.end() || !cores->is_number_integer() || *cores < 1 || *cores > kMostCores) {
    return InvalidArgument(
        fmt::format("calibration: 'cores' is not an integer from 1 to {}", kMostCores));
  }
  calibration.cores = cores->get<std::int64_t>();
  std::optional<Error> wrong;
  ForEachNumber(calibration, [&](const std::string& key, double& value, double low, double high) {
    known.insert(key);
    const auto found = json.find(key);
    if (found != json.end() && found->is_number()) {
      value = found->get<double>();
      if (value >= low && value <= high) return;
    }
    if (wrong) return;
    wrong = InvalidArgument(
        found == json.end()
            ? fmt::format("calibration: '{}' is missing", key)
            : fmt::format("calibration: '{}' = {} is not a number from {} to {}", key,
                          found->dump(-1, ' ', false, Json::error_handler_t::replace), low, high));
  });
  if (wrong) return *wrong;
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) {
      return InvalidArgument(fmt::format("calibration: unknown key '{}'", key));
    }
  }
  return calibration;
}

}  // namespace tessera::engine
