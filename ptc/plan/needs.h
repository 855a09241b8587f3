// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which bytes of which class each device lacks.

#include <cstdint>
#include <map>
#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/outline.h"

namespace tessera::ptc {

/// What one device lacks of one class, in elements of one size.
struct Demand {
  int device = 0;
  int held_class = 0;
  int element_bytes = 1;
  std::int64_t bytes = 0;
};

/// Numbers the classes and says which class each cell is in.
class Classes {
 public:
  explicit Classes(const Kinds& kinds);
  const std::vector<HeldClass>& list() const { return list_; }
  /// Class of a cell, by position in Kinds::staged and in the cells of its kind.
  int Of(std::size_t staged, std::size_t cell) const {
    const std::size_t kind = static_cast<std::size_t>(kinds_.staged[staged].kind);
    return by_holders_[staged][static_cast<std::size_t>(holders_of_cell_[kind][cell])];
  }
  bool Holds(int held_class, int old_rank) const;

 private:
  const Kinds& kinds_;
  std::vector<HeldClass> list_;
  std::vector<std::vector<int>> holders_of_cell_;  // by kind and cell: a number within the kind
  std::vector<std::vector<int>> by_holders_;       // by staged and that number: the class
};

/// What a rank of the new layout needs, with nothing said about what its device has.
struct Need {
  int held_class = 0;
  int element_bytes = 1;
  std::int64_t bytes = 0;
};

/// Needs of ranks: the same for all ranks of one stage and of the same parts, and summed once.
class NeedsOfRanks {
 public:
  NeedsOfRanks(const Kinds& kinds, const Classes& classes);
  /// By class and element size. Valid as long as this object.
  const std::vector<Need>& Of(int rank);

 private:
  std::vector<Need> Sum(int rank);

  const Kinds& kinds_;
  const Classes& classes_;
  std::vector<std::vector<std::size_t>> staged_on_;  // by new stage
  std::map<std::vector<int>, std::vector<Need>> known_;
  std::vector<int> key_;
  std::vector<int> slot_;  // by class and element size: position in the needs being summed, or -1
};

struct Needs {
  std::vector<Demand> demands;  // by device, class, element size
  std::int64_t stay_bytes = 0;  // needed and held by the same device
};
Needs FindNeeds(const Kinds& kinds, const Classes& classes, const DeviceTable& table);

}  // namespace tessera::ptc
