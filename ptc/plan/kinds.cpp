// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "ptc/convert.h"
#include "ptc/cut.h"

namespace tessera::ptc {
namespace {

using Key = std::vector<std::int64_t>;

void AppendCut(const DimCut& cut, Key& key) {
  key.push_back(std::ssize(cut.axes));
  for (Axis axis : cut.axes) key.push_back(static_cast<std::int64_t>(axis));
  key.push_back(static_cast<std::int64_t>(cut.split));
  key.push_back(cut.multiple);
  const HeadGroups heads = cut.heads.value_or(HeadGroups{});
  key.insert(key.end(), {heads.kv, heads.query, heads.of_query ? 1 : 0});
}

/// The first coordinate along ep that has the expert. Experts are dealt in blocks, so it determines
/// the others.
std::int64_t ExpertPart(const MeshShape& mesh, const TensorSpec& spec) {
  if (!spec.expert || mesh[Axis::kEp] == 1) return -1;
  Coordinates at{};
  auto& ep = at[static_cast<std::size_t>(Axis::kEp)];
  while (ep + 1 < mesh[Axis::kEp] && !HoldsExpert(mesh, spec, at)) ++ep;
  return ep;
}

/// Appends everything that Layout::PartsOf reads of a tensor except its stages. Each list follows
/// its length.
void AppendRule(const Layout& layout, std::size_t tensor, Key& key) {
  const TensorSpec& spec = layout.collection().tensors()[tensor];
  key.push_back(static_cast<std::int64_t>(SizeBytes(spec.dtype)));
  key.push_back(ExpertPart(layout.mesh().shape(), spec));
  // The parts of a tensor in a bucket depend on the others in it, so no other tensor is alike.
  key.push_back(spec.rule.bucket.empty() ? -1 : static_cast<std::int64_t>(tensor));
  key.push_back(std::ssize(spec.rule.flat));
  for (Axis axis : spec.rule.flat) key.push_back(static_cast<std::int64_t>(axis));
  for (const DimCut& cut : spec.rule.dims) AppendCut(cut, key);
  key.push_back(spec.segments ? std::ssize(spec.segments->blocks) : -1);
  if (!spec.segments) return;
  key.push_back(spec.segments->dim);
  for (const Segment& segment : spec.segments->blocks) {
    key.push_back(segment.size);
    key.push_back(segment.cut ? 1 : 0);
    if (segment.cut) AppendCut(*segment.cut, key);
  }
}

Key KeyOf(const Layout& from, const Layout& to, std::size_t tensor) {
  const TensorSpec& spec = from.collection().tensors()[tensor];
  const DType to_dtype = to.collection().tensors()[tensor].dtype;
  Key key{static_cast<std::int64_t>(spec.dtype != to_dtype ? 1 : 0), std::ssize(spec.shape)};
  if (spec.dtype != to_dtype) {
    key.push_back(static_cast<std::int64_t>(spec.dtype));
    key.push_back(static_cast<std::int64_t>(to_dtype));
  }
  key.insert(key.end(), spec.shape.begin(), spec.shape.end());
  AppendRule(from, tensor, key);
  AppendRule(to, tensor, key);
  return key;
}

Kind MakeKind(const Layout& from, const Layout& to, int tensor, Kinds& kinds) {
  Kind kind;
  kind.from_dtype = from.collection().tensors()[static_cast<std::size_t>(tensor)].dtype;
  kind.to_dtype = to.collection().tensors()[static_cast<std::size_t>(tensor)].dtype;
  Parts held = from.PartsOf(tensor);
  Parts needed = to.PartsOf(tensor);
  kind.from_axes = kinds.from.AxesId(held.axes);
  kind.to_axes = kinds.to.AxesId(needed.axes);
  kind.pieces = {std::move(held.boxes), std::move(needed.boxes)};
  kind.cells = MakeCells(kind.pieces);
  kind.needed_cells.resize(kind.pieces.needed.size());
  for (std::size_t c = 0; c < kind.cells.size(); ++c) {
    kind.elements.push_back(kind.cells[c].box.num_elements());
    for (std::size_t part : kind.cells[c].needers.ToVector()) {
      kind.needed_cells[part].push_back(static_cast<int>(c));
    }
  }
  return kind;
}

/// "param f32 [12,4]".
std::string WhatItIs(const TensorSpec& spec) {
  return fmt::format("{} {} {}", ToString(spec.role), ToString(spec.dtype), ToString(spec.shape));
}

bool IsSame(const TensorSpec& a, const TensorSpec& b, bool convert_dtypes) {
  const bool converts = convert_dtypes && IsFloat(a.dtype) && IsFloat(b.dtype);
  return a.role == b.role && a.shape == b.shape && (a.dtype == b.dtype || converts);
}

}  // namespace

int RankParts::AxesId(const std::vector<Axis>& axes) {
  const auto at = std::find(axes_.begin(), axes_.end(), axes);
  if (at != axes_.end()) return static_cast<int>(at - axes_.begin());
  std::int64_t parts = 1;
  for (Axis axis : axes) parts *= mesh_.shape()[axis];
  parts_.push_back(PartsAlong(axes));
  axes_.push_back(axes);
  num_parts_.push_back(static_cast<int>(parts));
  return static_cast<int>(axes_.size()) - 1;
}

std::vector<int> RankParts::PartsAlong(const std::vector<Axis>& axes) const {
  std::vector<int> part_of;
  part_of.reserve(static_cast<std::size_t>(mesh_.num_ranks()));
  for (int rank = 0; rank < mesh_.num_ranks(); ++rank) {
    std::int64_t part = 0;
    for (Axis axis : axes) part = part * mesh_.shape()[axis] + mesh_.Coordinate(rank, axis);
    part_of.push_back(static_cast<int>(part));
  }
  return part_of;
}

std::vector<int> RankParts::Groups() const {
  std::vector<Axis> cutting;
  for (const Axis axis : kAxes) {
    const bool cuts = std::any_of(axes_.begin(), axes_.end(), [axis](const auto& axes) {
      return std::find(axes.begin(), axes.end(), axis) != axes.end();
    });
    if (axis == Axis::kPp || cuts) cutting.push_back(axis);
  }
  return PartsAlong(cutting);
}

int RankParts::StagesId(const std::vector<std::int64_t>& stages) {
  const auto at = std::find(stages_.begin(), stages_.end(), stages);
  if (at != stages_.end()) return static_cast<int>(at - stages_.begin());
  std::vector<bool>& on = on_stage_.emplace_back(static_cast<std::size_t>(num_stages()));
  for (std::int64_t stage : stages) on[static_cast<std::size_t>(stage)] = true;
  stages_.push_back(stages);
  return static_cast<int>(stages_.size()) - 1;
}

Status CheckSameTensors(const Collection& from, const Collection& to, bool convert_dtypes) {
  if (&from == &to) return OkStatus();
  const auto& a = from.tensors();
  const auto& b = to.tensors();
  for (std::size_t t = 0; t < std::max(a.size(), b.size()); ++t) {
    if (t >= b.size() || (t < a.size() && a[t].name < b[t].name)) {
      return InvalidArgument(fmt::format("tensor '{}' is only in the old layout", a[t].name));
    }
    if (t >= a.size() || b[t].name < a[t].name) {
      return InvalidArgument(fmt::format("tensor '{}' is only in the new layout", b[t].name));
    }
    if (!IsSame(a[t], b[t], convert_dtypes)) {
      return InvalidArgument(
          fmt::format("tensor '{}' is {} in the old layout and {} in the new one", a[t].name,
                      WhatItIs(a[t]), WhatItIs(b[t])));
    }
  }
  return OkStatus();
}

Kinds MakeKinds(const Layout& from, const Layout& to, const std::vector<int>* only) {
  Kinds kinds{RankParts(from.mesh()), RankParts(to.mesh()), {}, {}, {}};
  std::map<Key, int> kind_of;
  std::map<std::tuple<int, int, int>, int> staged_of;
  const auto stages_of = [](const Layout& layout, std::size_t tensor) {
    const TensorSpec& spec = layout.collection().tensors()[tensor];
    return StagesHolding(spec, layout.stage_of_layer(), layout.mesh().shape()[Axis::kPp]);
  };
  for (std::size_t t = 0; t < from.collection().tensors().size(); ++t) {
    const int tensor = static_cast<int>(t);
    if (only != nullptr && !std::binary_search(only->begin(), only->end(), tensor)) {
      kinds.staged_of_tensor.push_back(kNotHere);
      continue;
    }
    const auto [kind, is_new] =
        kind_of.try_emplace(KeyOf(from, to, t), static_cast<int>(kinds.kinds.size()));
    if (is_new) kinds.kinds.push_back(MakeKind(from, to, tensor, kinds));
    // If axis pp cuts a tensor, the stages that hold nothing of it have empty parts.
    const int from_stages = kinds.from.StagesId(stages_of(from, t));
    const int to_stages = kinds.to.StagesId(stages_of(to, t));
    const auto [staged, is_first] = staged_of.try_emplace({kind->second, from_stages, to_stages},
                                                          static_cast<int>(kinds.staged.size()));
    if (is_first) kinds.staged.push_back({kind->second, from_stages, to_stages, 0, 0});
    KindOnStages& here = kinds.staged[static_cast<std::size_t>(staged->second)];
    ++here.num_tensors;
    if (from.collection().tensors()[t].role == TensorRole::kParam) ++here.num_params;
    kinds.staged_of_tensor.push_back(staged->second);
  }
  return kinds;
}

const Box* PieceWith(const std::vector<Box>& pieces, const Box& cell) {
  for (const Box& piece : pieces) {
    if (Contains(piece, cell)) return &piece;
  }
  return nullptr;
}

const Box* KeptIn(const std::vector<Box>& held, const Box& piece) {
  for (const Box& old : held) {
    if (Contains(old, piece) && ContiguousOffset(old, piece)) return &old;
  }
  return nullptr;
}

}  // namespace tessera::ptc
