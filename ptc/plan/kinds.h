// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensors that two layouts treat alike. A model of any depth has few kinds of them; parts and
/// cells are computed once for each, and for parts, never for devices.

#include <cstdint>
#include <vector>

#include "ptc/cells.h"
#include "ptc/layout.h"

namespace tessera::ptc {

/// One side of a change as the planner sees it: what a rank is, reduced to its stage and to its
/// part along each list of axes that cuts some tensor.
class RankParts {
 public:
  explicit RankParts(const DeviceMesh& mesh) : mesh_(mesh) {}
  /// The number of a list of axes, ascending in the order of first use.
  int AxesId(const std::vector<Axis>& axes);
  int num_axes_ids() const { return static_cast<int>(axes_.size()); }
  int num_parts(int axes_id) const { return num_parts_[static_cast<std::size_t>(axes_id)]; }
  int PartOf(int axes_id, int rank) const {
    return parts_[static_cast<std::size_t>(axes_id)][static_cast<std::size_t>(rank)];
  }
  int StageOf(int rank) const { return rank / (mesh_.num_ranks() / num_stages()); }
  int num_stages() const { return static_cast<int>(mesh_.shape()[Axis::kPp]); }
  /// The number of a set of stages, in the order of first use.
  int StagesId(const std::vector<std::int64_t>& stages);
  const std::vector<std::int64_t>& stages(int id) const {
    return stages_[static_cast<std::size_t>(id)];
  }
  int num_stages_ids() const { return static_cast<int>(stages_.size()); }
  bool IsOn(int stages_id, int stage) const {
    return on_stage_[static_cast<std::size_t>(stages_id)][static_cast<std::size_t>(stage)];
  }
  const DeviceMesh& mesh() const { return mesh_; }

 private:
  DeviceMesh mesh_;
  std::vector<std::vector<Axis>> axes_;
  std::vector<int> num_parts_;
  std::vector<std::vector<int>> parts_;  // by list of axes and rank
  std::vector<std::vector<std::int64_t>> stages_;
  std::vector<std::vector<bool>> on_stage_;
};

/// Tensors of the same shape and element sizes, cut alike on each side.
struct Kind {
  DType from_dtype = DType::kF32;
  DType to_dtype = DType::kF32;
  int from_axes = 0;  // AxesId of each side
  int to_axes = 0;
  TensorPieces pieces;                         // by part
  std::vector<Cell> cells;                     // owners are parts; ascending boxes
  std::vector<std::int64_t> elements;          // of each cell
  std::vector<std::vector<int>> needed_cells;  // by part of the new side: positions in `cells`
  bool converts() const { return from_dtype != to_dtype; }
};

/// Tensors of one kind that are on the same stages on each side.
struct KindOnStages {
  int kind = 0;
  int from_stages = 0;  // StagesId of each side
  int to_stages = 0;
  std::int64_t num_tensors = 0;
  int first_tensor = 0;
};

struct Kinds {
  RankParts from;
  RankParts to;
  std::vector<Kind> kinds;
  std::vector<KindOnStages> staged;   // in the order of their first tensors
  std::vector<int> staged_of_tensor;  // positions in `staged`
};

/// Whether the two collections have the same tensors: the same names with the same shapes and
/// roles and, but where `convert_dtypes` allows another floating type, the same dtypes. How they
/// are cut and placed may differ. \error kInvalidArgument naming the first tensor that differs
Status CheckSameTensors(const Collection& from, const Collection& to, bool convert_dtypes);

/// \pre CheckSameTensors(from, to)
Kinds MakeKinds(const Layout& from, const Layout& to);

/// The piece that contains `cell`, or null. \pre pieces are unions of cells
const Box* PieceWith(const std::vector<Box>& pieces, const Box& cell);
/// The old piece in which all of a new piece lies as one contiguous range, or null.
const Box* KeptIn(const std::vector<Box>& held, const Box& piece);

}  // namespace tessera::ptc
