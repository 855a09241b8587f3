// SPDX-License-Identifier: Apache-2.0
#include "ptc/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "ptc/base/at.h"
#include "ptc/base/check.h"
#include "ptc/base/enum_names.h"
#include "ptc/base/utf8.h"

namespace tessera::ptc {
namespace {

constexpr std::int64_t kMaxDegree = 65536;
constexpr std::int64_t kMaxDevices = 65536;

constexpr EnumNames kAxisNames(Axis::kTp, {"pp", "dp", "ep", "cp", "tp"});

/// Parses a decimal number without sign and leading zeros, so that each value has one text.
template <typename Int>
std::optional<Int> ParseDecimal(std::string_view text) {
  if (text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  Int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<DeviceId> FirstRepeated(std::vector<DeviceId> devices) {
  std::sort(devices.begin(), devices.end());
  const auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice == devices.end()) return std::nullopt;
  return *twice;
}

/// Parses "2x4": nodes 0 and 1 with devices 0 to 3 each.
Result<std::vector<DeviceId>> ParseGrid(std::string_view text, std::size_t cross) {
  const auto nodes = ParseDecimal<std::int32_t>(text.substr(0, cross));
  const auto per_node = ParseDecimal<std::int32_t>(text.substr(cross + 1));
  if (!nodes || !per_node || *nodes < 1 || *per_node < 1) {
    return InvalidArgument(
        fmt::format("device grid '{}' is not <nodes>x<devices of a node>", Escaped(text)));
  }
  if (std::int64_t{*nodes} * *per_node > kMaxDevices) {
    return InvalidArgument(
        fmt::format("device grid '{}' has more than {} devices", Escaped(text), kMaxDevices));
  }
  std::vector<DeviceId> devices;
  for (std::int32_t node = 0; node < *nodes; ++node) {
    for (std::int32_t index = 0; index < *per_node; ++index) devices.push_back({node, index});
  }
  return devices;
}

}  // namespace

std::string ToString(DeviceId device) { return fmt::format("n{}g{}", device.node, device.index); }

Result<DeviceId> ParseDevice(std::string_view text) {
  const std::size_t g = text.find('g');
  if (!text.empty() && text[0] == 'n' && g != std::string_view::npos) {
    const auto node = ParseDecimal<std::int32_t>(text.substr(1, g - 1));
    const auto index = ParseDecimal<std::int32_t>(text.substr(g + 1));
    if (node && index) return DeviceId{*node, *index};
  }
  return InvalidArgument(
      fmt::format("device '{}' is not of the form n<node>g<index>", Escaped(text)));
}

Result<std::vector<DeviceId>> ParseDevices(std::string_view text) {
  if (text.empty()) return InvalidArgument("device list is empty");
  const std::size_t cross = text.find('x');
  if (cross != std::string_view::npos) return ParseGrid(text, cross);
  std::vector<DeviceId> devices;
  for (std::string_view part : SplitText(text, ',')) {
    TESSERA_TRY(const DeviceId device, ParseDevice(part));
    devices.push_back(device);
  }
  if (const auto twice = FirstRepeated(devices)) {
    return InvalidArgument(fmt::format("device {} is given twice", ToString(*twice)));
  }
  return devices;
}

std::string ToString(const std::vector<DeviceId>& devices) {
  std::string text;
  for (DeviceId device : devices) {
    if (!text.empty()) text += ',';
    text += ToString(device);
  }
  return text;
}

std::string_view ToString(Axis axis) { return kAxisNames.Of(axis); }

Result<Axis> ParseAxis(std::string_view name) {
  if (const auto axis = kAxisNames.Find(name)) return *axis;
  return InvalidArgument(
      fmt::format("unknown axis '{}', known are {}", Escaped(name), kAxisNames.Joined(", ")));
}

std::int64_t MeshShape::num_ranks() const {
  std::int64_t product = 1;
  for (std::int64_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return product;
}

Result<MeshShape> ParseMeshShape(std::string_view text) {
  if (text.empty()) return InvalidArgument("mesh is empty");
  MeshShape shape;
  std::array<bool, kNumAxes> seen{};
  for (std::string_view part : SplitText(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return InvalidArgument(
          fmt::format("mesh '{}': '{}' is not <axis>=<degree>", Escaped(text), Escaped(part)));
    }
    auto axis = ParseAxis(part.substr(0, equals));
    if (!axis) return std::move(axis).Context(fmt::format("mesh '{}'", Escaped(text))).error();
    bool& given = seen[static_cast<std::size_t>(*axis)];
    if (given) {
      return InvalidArgument(
          fmt::format("mesh '{}': axis {} is given twice", Escaped(text), ToString(*axis)));
    }
    given = true;
    const auto degree = ParseDecimal<std::int64_t>(part.substr(equals + 1));
    if (!degree || *degree < 1 || *degree > kMaxDegree) {
      return InvalidArgument(fmt::format("mesh '{}': degree '{}' of axis {} is not in 1..{}",
                                         Escaped(text), Escaped(part.substr(equals + 1)),
                                         ToString(*axis), kMaxDegree));
    }
    shape[*axis] = *degree;
  }
  return shape;
}

std::string ToString(const MeshShape& shape) {
  std::string text;
  for (Axis axis : kAxesInText) {
    if (!IsCommon(axis) && shape[axis] == 1) continue;
    fmt::format_to(std::back_inserter(text), "{}{}={}", text.empty() ? "" : ",", ToString(axis),
                   shape[axis]);
  }
  return text;
}

Result<DeviceMesh> DeviceMesh::Make(MeshShape shape, std::vector<DeviceId> devices) {
  for (Axis axis : kAxes) {
    if (shape[axis] < 1 || shape[axis] > kMaxDegree) {
      return InvalidArgument(fmt::format("mesh {}: degree {} of axis {} is not in 1..{}",
                                         ToString(shape), shape[axis], ToString(axis), kMaxDegree));
    }
  }
  const std::int64_t ranks = shape.num_ranks();
  if (ranks != std::ssize(devices)) {
    return InvalidArgument(fmt::format("mesh {} has {} ranks but {} devices are given",
                                       ToString(shape), ranks, devices.size()));
  }
  for (DeviceId device : devices) {
    if (device.node < 0 || device.index < 0) {
      return InvalidArgument(fmt::format("device {} has a negative number", ToString(device)));
    }
  }
  std::vector<int> ranks_by_device(devices.size());
  std::iota(ranks_by_device.begin(), ranks_by_device.end(), 0);
  const auto device_of = [&devices](int rank) { return devices[At(rank)]; };
  std::ranges::sort(ranks_by_device, {}, device_of);
  const auto twice = std::ranges::adjacent_find(ranks_by_device, {}, device_of);
  if (twice != ranks_by_device.end()) {
    return InvalidArgument(fmt::format("device {} is given twice", ToString(device_of(*twice))));
  }
  DeviceMesh mesh;
  mesh.shape_ = shape;
  mesh.devices_ = std::move(devices);
  mesh.by_device_ = std::make_shared<const std::vector<int>>(std::move(ranks_by_device));
  return mesh;
}

std::int64_t DeviceMesh::Coordinate(int rank, Axis axis) const {
  TESSERA_DCHECK(0 <= rank && rank < num_ranks());
  std::int64_t rest = rank;
  for (auto it = kAxes.rbegin(); *it != axis; ++it) rest /= shape_[*it];
  return rest % shape_[axis];
}

std::optional<int> DeviceMesh::RankOf(DeviceId device) const {
  const auto device_of = [this](int rank) { return devices_[At(rank)]; };
  const auto it = std::ranges::lower_bound(*by_device_, device, {}, device_of);
  if (it == by_device_->end() || device_of(*it) != device) return std::nullopt;
  return *it;
}

bool DeviceMesh::HasNode(std::int32_t node) const {
  const auto node_of = [this](int rank) { return devices_[At(rank)].node; };
  return std::ranges::binary_search(*by_device_, node, {}, node_of);
}

std::string ToString(const DeviceMesh& mesh) {
  return ToString(mesh.shape()) + " on " + ToString(mesh.devices());
}

Result<DeviceMesh> ParseDeviceMesh(std::string_view text) {
  constexpr std::string_view kOn = " on ";
  const std::size_t on = text.find(kOn);
  if (on == std::string_view::npos) {
    return InvalidArgument(
        fmt::format("mesh '{}' is not of the form <mesh> on <devices>", Escaped(text)));
  }
  TESSERA_TRY(const MeshShape shape, ParseMeshShape(text.substr(0, on)));
  TESSERA_TRY(auto devices, ParseDevices(text.substr(on + kOn.size())));
  return DeviceMesh::Make(shape, std::move(devices));
}

}  // namespace tessera::ptc
