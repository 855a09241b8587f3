// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes the bytes of each class that each device needs and does not hold.

#include <cstdint>
#include <optional>
#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/outline.h"

namespace tessera::ptc {

/// The bytes of one class that one device lacks, in elements of one size.
struct Demand {
  int device = 0;
  int held_class = 0;
  int element_bytes = 1;
  std::int64_t bytes = 0;
};

/// Numbers the classes and maps each cell to its class.
class Classes {
 public:
  explicit Classes(const Kinds& kinds);
  const std::vector<HeldClass>& list() const { return list_; }
  /// The class of a cell, by its index into Kinds::staged and its index into the cells of the kind.
  int Of(std::size_t staged, std::size_t cell) const {
    const std::size_t kind = static_cast<std::size_t>(kinds_.staged[staged].kind);
    return by_holders_[staged][static_cast<std::size_t>(holders_of_cell_[kind][cell])];
  }
  bool Holds(int held_class, int old_rank) const;

 private:
  const Kinds& kinds_;
  std::vector<HeldClass> list_;
  std::vector<std::vector<int>> holders_of_cell_;  // by kind and cell: number of the set of holders
  std::vector<std::vector<int>> by_holders_;       // by staged and that number: the class
};

/// The bytes of one class that a rank of the new layout needs, whether or not its device has them.
struct Need {
  int held_class = 0;
  int element_bytes = 1;
  std::int64_t bytes = 0;
};

/// The needs of ranks. Ranks of one group (RankParts::Groups) have the same needs, which are summed
/// once.
class NeedsOfRanks {
 public:
  NeedsOfRanks(const Kinds& kinds, const Classes& classes);
  /// The needs, ordered by class and element size. Valid as long as this object.
  const std::vector<Need>& Of(int rank);

 private:
  std::vector<Need> Sum(int rank);

  const Kinds& kinds_;
  const Classes& classes_;
  std::vector<std::vector<std::size_t>> staged_on_;      // by new stage
  std::vector<int> group_of_;                            // by rank
  std::vector<std::optional<std::vector<Need>>> known_;  // by group
  std::vector<int> slot_;  // by class and element size: index into the needs being summed, or -1
};

struct Needs {
  std::vector<Demand> demands;           // by device, class, element size
  std::vector<std::int64_t> stay_bytes;  // by device: needed and held by it
};
Needs FindNeeds(const Kinds& kinds, const Classes& classes, const DeviceTable& table);

}  // namespace tessera::ptc
