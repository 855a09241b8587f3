// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/simulated_size.h"

#include <fmt/format.h>

#include <charconv>

#include "agents/node/config.h"
#include "engine/cluster/simulated_limits.h"

namespace tessera::app {
namespace {

bool parseCount(std::string_view text, int& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 1;
}

}  // namespace

Result<SimulatedSize> parseSimulatedSize(std::string_view text) {
  SimulatedSize size;
  const auto x = text.find('x');
  const bool isGrid = x != std::string_view::npos && parseCount(text.substr(0, x), size.nodes) &&
                      parseCount(text.substr(x + 1), size.devices);
  if (!isGrid) return InvalidArgument(fmt::format("'{}' is not nodes x GPUs, such as 16x8", text));
  if (size.devices > engine::kMostSimulatedDevicesOfNode)
    return InvalidArgument(fmt::format("'{}': a node has {} GPUs, at most {} are simulated", text,
                                       size.devices, engine::kMostSimulatedDevicesOfNode));
  if (static_cast<std::int64_t>(size.nodes) * size.devices > engine::kMostSimulatedDevices)
    return InvalidArgument(fmt::format("'{}' is {} GPUs, at most {} are simulated", text,
                                       static_cast<std::int64_t>(size.nodes) * size.devices,
                                       engine::kMostSimulatedDevices));
  return size;
}

Result<double> parseSimulationSpeed(std::string_view text) {
  double speed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  const bool isSpeed = error == std::errc() && end == text.data() + text.size() && speed >= 0 &&
                       speed <= agents::kMostSimulationSpeed;
  if (isSpeed) return speed;
  return InvalidArgument(
      fmt::format("'{}' is not a number from 0 to {}", text, agents::kMostSimulationSpeed));
}

}  // namespace tessera::app
