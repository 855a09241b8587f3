// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/spread.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>

#include "ptc/base/at.h"

namespace tessera::ptc {
namespace {

constexpr std::size_t kMostDivisions = 4;

/// Ranks between neighbours along dp: the product of the faster axes.
int StrideOfReplicas(const MeshShape& shape) {
  return static_cast<int>(shape[Axis::kEp] * shape[Axis::kCp] * shape[Axis::kTp]);
}

int ReplicaOf(const MeshShape& shape, int rank) {
  return rank / StrideOfReplicas(shape) % static_cast<int>(shape[Axis::kDp]);
}

/// How many replicas the first half gets if it has `first` of all `devices`: its share of them,
/// within what both halves have room for.
std::optional<int> ReplicasOfFirst(int replicas, int ranks_of_replica, int first, int devices) {
  const int least = std::max(1, replicas - (devices - first) / ranks_of_replica);
  const int most = std::min(replicas - 1, first / ranks_of_replica);
  if (least > most) return std::nullopt;
  const auto share = static_cast<int>(std::int64_t{replicas} * first / devices);
  return std::clamp(share, least, most);
}

/// The replicas, those first of which most ranks want a device in the first half.
std::vector<int> ReplicasByWish(const MeshShape& shape, const std::vector<bool>& is_first,
                                std::span<const int> wanted) {
  std::vector<int> wishes(static_cast<std::size_t>(shape[Axis::kDp]));
  for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
    if (is_first[At(wanted[rank])]) ++wishes[At(ReplicaOf(shape, static_cast<int>(rank)))];
  }
  std::vector<int> replicas(wishes.size());
  std::iota(replicas.begin(), replicas.end(), 0);
  std::ranges::stable_sort(replicas, [&](int a, int b) { return wishes[At(a)] > wishes[At(b)]; });
  return replicas;
}

}  // namespace

bool KeepsReplicasApart(const MeshShape& shape, std::span<const std::int32_t> domain_of) {
  if (shape[Axis::kDp] == 1) return false;
  const int stride = StrideOfReplicas(shape);
  std::vector<bool> is_apart(domain_of.size());
  for (int rank = 0; rank < std::ssize(domain_of); ++rank) {
    const int first = rank - ReplicaOf(shape, rank) * stride;
    if (domain_of[At(rank)] != domain_of[At(first)]) is_apart[At(first)] = true;
  }
  for (int rank = 0; rank < std::ssize(domain_of); ++rank) {
    if (ReplicaOf(shape, rank) == 0 && !is_apart[At(rank)]) return false;
  }
  return true;
}

std::vector<Halves> DivideReplicas(const MeshShape& shape, std::span<const std::int32_t> domain_of,
                                   std::span<const int> wanted) {
  std::vector<Halves> out;
  const auto replicas = static_cast<int>(shape[Axis::kDp]);
  if (replicas == 1) return out;
  const auto devices = static_cast<int>(domain_of.size());
  const int of_replica = static_cast<int>(shape.num_ranks()) / replicas;
  std::map<std::int32_t, int> sizes;
  for (const std::int32_t domain : domain_of) ++sizes[domain];
  struct Division {
    std::int32_t last = 0;  // domain of the first half
    int first = 0;          // devices of the first half
    int replicas = 0;
  };
  std::vector<Division> divisions;
  int first = 0;
  for (const auto& [domain, size] : sizes) {
    first += size;
    if (first == devices) break;
    if (const auto count = ReplicasOfFirst(replicas, of_replica, first, devices)) {
      divisions.push_back({domain, first, *count});
    }
  }
  std::ranges::stable_sort(divisions, {},
                           [&](const Division& d) { return std::abs(2 * d.first - devices); });
  if (divisions.size() > kMostDivisions) divisions.resize(kMostDivisions);
  for (const Division& division : divisions) {
    std::vector<bool> is_first;
    for (const std::int32_t domain : domain_of) is_first.push_back(domain <= division.last);
    const std::vector<int> order = ReplicasByWish(shape, is_first, wanted);
    std::vector<bool> replica_is_first(order.size());
    for (int i = 0; i < division.replicas; ++i) replica_is_first[At(order[At(i)])] = true;
    Halves halves;
    for (const int rank : ReplicaByReplica(shape)) {
      halves[replica_is_first[At(ReplicaOf(shape, rank))] ? 0 : 1].ranks.push_back(rank);
    }
    for (int device = 0; device < devices; ++device) {
      halves[is_first[At(device)] ? 0 : 1].devices.push_back(device);
    }
    out.push_back(std::move(halves));
  }
  return out;
}

std::vector<int> ReplicaByReplica(const MeshShape& shape) {
  std::vector<int> ranks(static_cast<std::size_t>(shape.num_ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return ReplicaOf(shape, rank); });
  return ranks;
}

}  // namespace tessera::ptc
