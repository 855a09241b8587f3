// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Devices by name and the named-axis mesh that a job runs on.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::ptc {

/// One device: `n1g3` is device 3 of node 1.
struct DeviceId {
  std::int32_t node = 0;
  std::int32_t index = 0;
  friend constexpr auto operator<=>(const DeviceId&, const DeviceId&) = default;
};
std::string ToString(DeviceId device);
/// \error kInvalidArgument naming the text.
Result<DeviceId> ParseDevice(std::string_view text);
/// "n0g0,n0g1" or the shorthand "2x4" (2 nodes of 4 devices). Order kept.
/// \error kInvalidArgument for an empty list, a bad name, a device named twice.
Result<std::vector<DeviceId>> ParseDevices(std::string_view text);
/// "n0g0,n0g1".
std::string ToString(const std::vector<DeviceId>& devices);

/// Parallel axes in nesting order, major to minor: pipeline, data, expert, context, tensor.
enum class Axis : std::uint8_t { kPp, kDp, kEp, kCp, kTp };
inline constexpr int kNumAxes = 5;
inline constexpr std::array<Axis, kNumAxes> kAxes = {Axis::kPp, Axis::kDp, Axis::kEp, Axis::kCp,
                                                     Axis::kTp};
/// "pp", "dp", "ep", "cp", "tp".
std::string_view ToString(Axis axis);
Result<Axis> ParseAxis(std::string_view name);

/// Degrees of parallelism without devices. All degrees >= 1.
struct MeshShape {
  std::array<std::int64_t, kNumAxes> sizes{1, 1, 1, 1, 1};  // indexed by Axis
  std::int64_t operator[](Axis axis) const { return sizes[static_cast<std::size_t>(axis)]; }
  std::int64_t& operator[](Axis axis) { return sizes[static_cast<std::size_t>(axis)]; }
  /// Product of all degrees, \pre made by ParseMeshShape or small.
  std::int64_t num_ranks() const;
  friend auto operator<=>(const MeshShape&, const MeshShape&) = default;
};
/// "dp=2,tp=2,pp=1": any order, axes left out are 1.
/// \error kInvalidArgument for an unknown axis, an axis named twice, a degree < 1 or > 65536.
Result<MeshShape> ParseMeshShape(std::string_view text);
/// "dp=2,tp=2,pp=1"; ep and cp only where above 1.
std::string ToString(const MeshShape& shape);

/// Where a rank or a part is along each axis, indexed by Axis.
using Coordinates = std::array<std::int64_t, kNumAxes>;

/// A mesh shape with a device for each rank; ranks are row-major over (pp, dp, ep, cp, tp).
class DeviceMesh {
 public:
  /// \error kInvalidArgument if the product of the degrees is not the number of devices (names
  ///     both), or if a device appears twice (names it).
  static Result<DeviceMesh> Make(MeshShape shape, std::vector<DeviceId> devices);

  const MeshShape& shape() const { return shape_; }
  int num_ranks() const { return static_cast<int>(devices_.size()); }
  /// Devices in rank order.
  const std::vector<DeviceId>& devices() const { return devices_; }
  /// Coordinate of `rank` along `axis`. \pre 0 <= rank < num_ranks()
  std::int64_t Coordinate(int rank, Axis axis) const;
  /// Rank on `device`, or nullopt.
  std::optional<int> RankOf(DeviceId device) const;
  friend bool operator==(const DeviceMesh&, const DeviceMesh&) = default;

 private:
  DeviceMesh() = default;
  MeshShape shape_;
  std::vector<DeviceId> devices_;
};
/// "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3".
std::string ToString(const DeviceMesh& mesh);
/// The text form above; the device part may be the "2x4" shorthand.
Result<DeviceMesh> ParseDeviceMesh(std::string_view text);

}  // namespace tessera::ptc
