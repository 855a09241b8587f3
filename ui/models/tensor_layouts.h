// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tensors of a job on one mesh, or before and after a change: their groups, and the shards of
/// each with the devices that hold them.

#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ptc/layout.h"
#include "ptc/plan/placed_cells.h"

namespace tessera::ui {

/// Tensors that differ only in their layer or expert, and are cut alike.
struct TensorGroup {
  QString name;              // "h.*.attn.qkv.weight"
  QString shortName;         // "attn.qkv": without what all names have, and without "weight"
  std::vector<int> tensors;  // of the collection, by layer, then by expert
  std::int64_t bytes = 0;    // of all, one copy
  /// The numbers of devices that hold the same bytes: the least and the most. 0: not held at all.
  std::size_t leastHolders = 0, mostHolders = 0;
};

/// What one part of a tensor is, and who holds it. Devices ascend.
struct Shard {
  std::vector<ptc::Box> boxes;  // several if the tensor has segments, or if the cut is flat
  std::vector<ptc::DeviceId> holders;
  std::int64_t bytes = 0;
  QString label;  // "0"; "0a" if it is part of shard 0 of before, "0b+1a" if it is merged
};

/// The elements that one shard of before and one of after share.
struct ShardCell {
  ptc::Box box;
  std::size_t from = 0, to = 0;        // shards of before and after
  int part = 0;                        // counts the cells of shard `from` that are in other shards
  std::vector<ptc::DeviceId> sources;  // hold it before
  std::vector<ptc::DeviceId> needers;  // need it after and do not hold it
  std::int64_t bytes = 0;
};

struct TensorPicture {
  std::vector<Shard> before;
  std::vector<Shard> after;      // empty without a change
  std::vector<ShardCell> cells;  // empty without a change
  /// The bytes of the cells, once per device that needs them.
  std::int64_t moved() const;
};

/// Immutable. Any thread.
class TensorLayouts {
 public:
  using Ptr = std::shared_ptr<const TensorLayouts>;
  /// Groups the tensors and finds their holders. Takes about as long as half a plan.
  /// \error kInvalidArgument naming the tensor, if `next` has other tensors
  static Result<Ptr> make(ptc::Layout now, std::optional<ptc::Layout> next);

  const ptc::Layout& now() const { return m_now; }
  const ptc::Layout* next() const { return m_next ? &*m_next : nullptr; }
  const ptc::TensorSpec& spec(int tensor) const {
    return m_now.collection().tensors()[static_cast<std::size_t>(tensor)];
  }
  const std::vector<TensorGroup>& groups() const { return m_groups; }
  /// O(ranks + shards).
  TensorPicture picture(int tensor) const;
  /// Calls `visit(box, devices)` for the boxes of a tensor that are held before the change, or
  /// needed after it.
  template <typename Visit>
  void forEachBox(bool after, int tensor, const Visit& visit) const {
    (after && m_after ? *m_after : m_before)
        .ForEach(tensor, [&visit](const ptc::Box& box, const auto& holders, const auto&) {
          visit(box, holders);
        });
  }
  /// Tensors with equal numbers have equal boxes and devices.
  int lookAlike(bool after, int tensor) const {
    return (after && m_after ? *m_after : m_before)
        .kinds()
        .staged_of_tensor[static_cast<std::size_t>(tensor)];
  }
  std::int64_t bytesOf(int tensor) const;

 private:
  TensorLayouts(ptc::Layout now, std::optional<ptc::Layout> next);
  void makeGroups();

  ptc::Layout m_now;
  std::optional<ptc::Layout> m_next;
  ptc::PlacedCells m_before;
  std::optional<ptc::PlacedCells> m_after;
  std::vector<TensorGroup> m_groups;
};

}  // namespace tessera::ui
