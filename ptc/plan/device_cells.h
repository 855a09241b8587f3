// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The cells that single devices hold or need in a change, by device, and the groups of cells that
/// the same devices share. Cells and groups are computed once per kind of tensors and per part, so
/// a device lists its own cells without those of the others.

#include <cstddef>
#include <optional>
#include <vector>

#include "ptc/plan/kinds.h"

namespace tessera::ptc {

/// The devices to which cells belong: those that hold them in the old layout, or those that need
/// them in the new one.
enum class CellOwners { kHolders, kNeeders };

/// Cells of a group have the same owners: they are on the same stages and parts along the same
/// axes. Group numbers are functions of the two layouts, so they are equal on every machine.
class DeviceCells {
 public:
  /// A cell of a device.
  struct Entry {
    int tensor = 0;
    const Box* box = nullptr;  // valid as long as the DeviceCells
    int group = 0;
  };

  /// Devices of `lost` hold nothing. They may still need cells.
  /// \pre CheckSameTensors(from, to)
  DeviceCells(const Layout& from, const Layout& to, CellOwners owners,
              const std::vector<DeviceId>& lost = {});

  /// The cells of the device in ascending order of (tensor, box). Cost: the tensors, and the cells
  /// of the device.
  std::vector<Entry> Of(DeviceId device) const;

  int num_groups() const { return static_cast<int>(groups_.size()); }
  /// The number of devices that own the cells of the group. Devices of a layout never list the
  /// cells of a group without owners.
  std::size_t NumOwners(int group) const { return GroupAt(group).num_owners; }
  /// The lowest owner, which represents the others where each cell counts once.
  std::optional<DeviceId> Representative(int group) const { return GroupAt(group).lowest; }
  /// All owners, ascending.
  std::vector<DeviceId> OwnersOf(int group) const;

 private:
  struct Group {
    int axes = 0;    // AxesId of the side
    int stages = 0;  // StagesId of the side
    std::vector<std::size_t> parts;
    std::size_t num_owners = 0;
    std::optional<DeviceId> lowest;
  };
  const Group& GroupAt(int group) const { return groups_[static_cast<std::size_t>(group)]; }
  const RankParts& ranks() const {
    return owners_ == CellOwners::kHolders ? kinds_.from : kinds_.to;
  }
  int AxesOf(const Kind& kind) const {
    return owners_ == CellOwners::kHolders ? kind.from_axes : kind.to_axes;
  }
  int StagesOf(const KindOnStages& staged) const {
    return owners_ == CellOwners::kHolders ? staged.from_stages : staged.to_stages;
  }
  const std::vector<std::size_t>& PartsOf(const Cell& cell) const {
    return (owners_ == CellOwners::kHolders ? cell.holders : cell.needers).ToVector();
  }
  /// \pre `lost` is ascending
  void ListDevices(const std::vector<DeviceId>& lost);
  void MakeGroups();
  /// Calls `visit(devices)` for each stage and part of the group.
  template <typename Visit>
  void ForEachPart(const Group& group, const Visit& visit) const;

  CellOwners owners_;
  Kinds kinds_;
  std::vector<std::vector<std::vector<int>>> cells_of_part_;  // by kind and part
  std::vector<std::vector<std::vector<DeviceId>>> devices_;   // by AxesId and (stage, part)
  std::vector<std::vector<int>> group_of_cell_;               // by KindOnStages and cell
  std::vector<Group> groups_;
};

}  // namespace tessera::ptc
