// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include "ptc/cells.h"
#include "ptc/plan/assignment.h"
#include "ptc/plan/plan.h"
#include "ptc/plan/tensor_class.h"

namespace tessera::ptc {
namespace {

using Matrix = std::vector<std::vector<std::int64_t>>;

/// Bytes that a rank needs and a device already has, itself or somewhere on its host.
struct Benefits {
  Matrix on_device;  // [rank][device]
  Matrix on_host;
};

/// `trial` has the wanted mesh shape, with its ranks on any devices.
Benefits ComputeBenefits(const Layout& from, const Layout& trial,
                         const std::vector<DeviceId>& devices, const Topology& topology) {
  const std::vector<DeviceId> table = DevicesOf(from, trial);
  std::vector<std::optional<std::size_t>> position;  // in `table`; none: holds nothing
  for (DeviceId device : devices) {
    const auto it = std::lower_bound(table.begin(), table.end(), device);
    const bool found = it != table.end() && *it == device;
    position.push_back(found ? std::optional(static_cast<std::size_t>(it - table.begin()))
                             : std::nullopt);
  }
  const auto ranks = static_cast<std::size_t>(trial.mesh().num_ranks());
  const Matrix zero(ranks, std::vector<std::int64_t>(devices.size()));
  Benefits benefits{zero, zero};
  const TensorClasses classes = ClassifyTensors(from, trial);
  for (std::size_t k = 0; k < classes.first.size(); ++k) {
    const int tensor = classes.first[k];
    const DType dtype = from.collection().tensors()[static_cast<std::size_t>(tensor)].dtype;
    for (const Cell& cell : MakeCells(PiecesOf(from, trial, table, tensor))) {
      const std::int64_t bytes = cell.box.num_elements() * SizeBytes(dtype) * classes.count[k];
      std::set<std::int32_t> hosts;
      for (std::size_t holder : cell.holders.ToVector()) {
        hosts.insert(topology.HostOf(table[holder]));
      }
      for (std::size_t needer : cell.needers.ToVector()) {
        const auto rank = static_cast<std::size_t>(*trial.mesh().RankOf(table[needer]));
        for (std::size_t d = 0; d < devices.size(); ++d) {
          const bool held = position[d] && cell.holders.Contains(*position[d]);
          if (held) benefits.on_device[rank][d] += bytes;
          if (hosts.contains(topology.HostOf(devices[d]))) benefits.on_host[rank][d] += bytes;
        }
      }
    }
  }
  return benefits;
}

}  // namespace

Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const std::vector<DeviceId>& devices, const Topology& topology) {
  return Place(from, shape, from.collection_ptr(), devices, topology);
}

Result<DeviceMesh> Place(const Layout& from, const MeshShape& shape,
                         const CollectionPtr& collection, const std::vector<DeviceId>& devices,
                         const Topology& topology) {
  TESSERA_RETURN_IF_ERROR(CheckSameTensors(from.collection(), *collection));
  std::vector<DeviceId> ascending = devices;
  std::sort(ascending.begin(), ascending.end());
  const auto ranks = static_cast<std::size_t>(shape.num_ranks());
  std::vector<DeviceId> first = ascending;
  if (first.size() > ranks) first.resize(ranks);
  TESSERA_TRY(DeviceMesh trial_mesh, DeviceMesh::Make(shape, std::move(first)));
  TESSERA_TRY(const Layout trial, Layout::Make(std::move(trial_mesh), collection));

  const Benefits benefits = ComputeBenefits(from, trial, ascending, topology);
  std::vector<std::vector<AssignmentCost>> costs(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t d = 0; d < ascending.size(); ++d) {
      // Squared distance from the ascending order: least for it alone, so ties fall that way.
      const auto away = static_cast<std::int64_t>(rank) - static_cast<std::int64_t>(d);
      costs[rank].push_back(
          {-benefits.on_device[rank][d], -benefits.on_host[rank][d], away * away});
    }
  }
  std::vector<DeviceId> chosen;
  for (std::size_t column : SolveAssignment(costs)) chosen.push_back(ascending[column]);
  return DeviceMesh::Make(shape, std::move(chosen));
}

}  // namespace tessera::ptc
