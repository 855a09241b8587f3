// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Kinds of tensors that two layouts treat alike. A model of any depth has few kinds. Parts and
/// cells are computed once per kind, and by part, never by device.

#include <cstdint>
#include <vector>

#include "ptc/cells.h"
#include "ptc/layout.h"

namespace tessera::ptc {

/// The ranks of one layout, reduced to what the planner needs: the stage of a rank, and its part
/// along each list of axes that cuts some tensor.
class RankParts {
 public:
  explicit RankParts(const DeviceMesh& mesh) : mesh_(mesh) {}
  /// The number of a list of axes. Numbers start at 0, in the order of first use.
  int AxesId(const std::vector<Axis>& axes);
  int num_axes_ids() const { return static_cast<int>(axes_.size()); }
  int num_parts(int axes_id) const { return num_parts_[static_cast<std::size_t>(axes_id)]; }
  int PartOf(int axes_id, int rank) const {
    return parts_[static_cast<std::size_t>(axes_id)][static_cast<std::size_t>(rank)];
  }
  int StageOf(int rank) const { return rank / (mesh_.num_ranks() / num_stages()); }
  /// By rank: the number of its group, below the number of ranks. Ranks are in the same group if
  /// they are on the same stage and have the same part along each list of axes.
  std::vector<int> Groups() const;
  int num_stages() const { return static_cast<int>(mesh_.shape()[Axis::kPp]); }
  /// The number of a set of stages. Numbers start at 0, in the order of first use.
  int StagesId(const std::vector<std::int64_t>& stages);
  const std::vector<std::int64_t>& stages(int id) const {
    return stages_[static_cast<std::size_t>(id)];
  }
  bool IsOn(int stages_id, int stage) const {
    return on_stage_[static_cast<std::size_t>(stages_id)][static_cast<std::size_t>(stage)];
  }
  const DeviceMesh& mesh() const { return mesh_; }

 private:
  /// By rank: its position among all coordinates along `axes`, row-major.
  std::vector<int> PartsAlong(const std::vector<Axis>& axes) const;

  DeviceMesh mesh_;
  std::vector<std::vector<Axis>> axes_;
  std::vector<int> num_parts_;
  std::vector<std::vector<int>> parts_;  // by list of axes and rank
  std::vector<std::vector<std::int64_t>> stages_;
  std::vector<std::vector<bool>> on_stage_;
};

/// Tensors of the same shape and element sizes that are cut alike on each side.
struct Kind {
  DType from_dtype = DType::kF32;
  DType to_dtype = DType::kF32;
  int from_axes = 0;  // AxesId of each side
  int to_axes = 0;
  TensorPieces pieces;                         // by part
  std::vector<Cell> cells;                     // owners are parts; ascending boxes
  std::vector<std::int64_t> elements;          // by cell
  std::vector<std::vector<int>> needed_cells;  // by part of the new side: indices into `cells`
  bool converts() const { return from_dtype != to_dtype; }
};

/// Tensors of one kind that are on the same stages on each side.
struct KindOnStages {
  int kind = 0;
  int from_stages = 0;  // StagesId of each side
  int to_stages = 0;
  std::int64_t num_tensors = 0;
  std::int64_t num_params = 0;  // tensors among them that have gradients
};

struct Kinds {
  RankParts from;
  RankParts to;
  std::vector<Kind> kinds;
  std::vector<KindOnStages> staged;   // in the order of their first tensors
  std::vector<int> staged_of_tensor;  // by tensor: index into `staged`; kNotHere: left out
};
/// In Kinds::staged_of_tensor.
inline constexpr int kNotHere = -1;

/// Whether the two collections have the same tensors: the same names, shapes, roles and dtypes.
/// With `convert_dtypes` the floating-point types may differ. Cuts and stages may always differ.
/// \error kInvalidArgument naming the first tensor that differs
Status CheckSameTensors(const Collection& from, const Collection& to, bool convert_dtypes);

/// \param only tensors, ascending; the others are left out. nullptr: none is
/// \pre CheckSameTensors(from, to)
Kinds MakeKinds(const Layout& from, const Layout& to, const std::vector<int>* only = nullptr);

/// The piece that contains `cell`, or nullptr.
/// \pre the pieces are unions of cells
const Box* PieceWith(const std::vector<Box>& pieces, const Box& cell);
/// The old piece that contains the new piece as one contiguous range, or nullptr.
const Box* KeptIn(const std::vector<Box>& held, const Box& piece);

}  // namespace tessera::ptc
