// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Names of devices, and the mesh with named axes that a job runs on.

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
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
/// \error kInvalidArgument naming the text
Result<DeviceId> ParseDevice(std::string_view text);
/// Parses "n0g0,n0g1", or the shorthand "2x4" (2 nodes of 4 devices). The order is kept.
/// \error kInvalidArgument if the list is empty, a name is malformed or a device is named twice
Result<std::vector<DeviceId>> ParseDevices(std::string_view text);
/// "n0g0,n0g1".
std::string ToString(const std::vector<DeviceId>& devices);

/// Parallel axes in nesting order, major to minor: pipeline, data, expert, context, tensor.
enum class Axis : std::uint8_t { kPp, kDp, kEp, kCp, kTp };
inline constexpr int kNumAxes = 5;
inline constexpr std::array<Axis, kNumAxes> kAxes = {Axis::kPp, Axis::kDp, Axis::kEp, Axis::kCp,
                                                     Axis::kTp};
/// The order in which people read and write the axes: the common ones, then the rare ones.
inline constexpr std::array<Axis, kNumAxes> kAxesInText = {Axis::kDp, Axis::kTp, Axis::kPp,
                                                           Axis::kEp, Axis::kCp};
/// Returns whether most jobs have this axis: dp, tp and pp. The others are shown only where they
/// divide something.
constexpr bool IsCommon(Axis axis) { return axis != Axis::kEp && axis != Axis::kCp; }
/// "pp", "dp", "ep", "cp" or "tp".
std::string_view ToString(Axis axis);
Result<Axis> ParseAxis(std::string_view name);

/// Degrees of parallelism, without devices. All degrees are >= 1.
struct MeshShape {
  std::array<std::int64_t, kNumAxes> sizes{1, 1, 1, 1, 1};  // indexed by Axis
  std::int64_t operator[](Axis axis) const { return sizes[static_cast<std::size_t>(axis)]; }
  std::int64_t& operator[](Axis axis) { return sizes[static_cast<std::size_t>(axis)]; }
  /// The product of all degrees; the largest int64 if it overflows.
  std::int64_t num_ranks() const;
  friend auto operator<=>(const MeshShape&, const MeshShape&) = default;
};
/// Parses "dp=2,tp=2,pp=1". The axes come in any order; axes left out are 1.
/// \error kInvalidArgument if an axis is unknown or named twice, or if a degree is not in 1..65536
Result<MeshShape> ParseMeshShape(std::string_view text);
/// "dp=2,tp=2,pp=1"; ep and cp are printed only if above 1.
std::string ToString(const MeshShape& shape);

/// The coordinates of a rank or a part, indexed by Axis.
using Coordinates = std::array<std::int64_t, kNumAxes>;

/// A mesh shape with a device for each rank. Ranks are row-major over (pp, dp, ep, cp, tp).
class DeviceMesh {
 public:
  /// \error kInvalidArgument if the product of the degrees is not the number of devices, or if a
  ///     device appears twice
  static Result<DeviceMesh> Make(MeshShape shape, std::vector<DeviceId> devices);

  const MeshShape& shape() const { return shape_; }
  int num_ranks() const { return static_cast<int>(devices_.size()); }
  /// The devices in the order of ranks.
  const std::vector<DeviceId>& devices() const { return devices_; }
  /// The coordinate of `rank` along `axis`.
  /// \pre 0 <= rank < num_ranks()
  std::int64_t Coordinate(int rank, Axis axis) const;
  /// The rank on `device`, or nullopt. O(log ranks).
  std::optional<int> RankOf(DeviceId device) const;
  /// Whether it has a device of the node. O(log ranks).
  bool HasNode(std::int32_t node) const;
  friend bool operator==(const DeviceMesh& a, const DeviceMesh& b) {
    return a.shape_ == b.shape_ && a.devices_ == b.devices_;
  }

 private:
  DeviceMesh() = default;
  MeshShape shape_;
  std::vector<DeviceId> devices_;
  std::shared_ptr<const std::vector<int>> by_device_;  // ranks in the order of their devices
};
/// "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3".
std::string ToString(const DeviceMesh& mesh);
/// Parses the text form above. The devices may be given as the shorthand "2x4".
Result<DeviceMesh> ParseDeviceMesh(std::string_view text);

}  // namespace tessera::ptc
