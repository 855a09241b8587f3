// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the tensors of a job are, and the rules by which they are cut (sigma) and put into pipeline
/// stages (phi). Nothing here knows a device.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"
#include "ptc/mesh.h"

namespace tessera::ptc {

enum class TensorRole : std::uint8_t {
  kParam,
  kMaster,
  kExpAvg,
  kExpAvgSq,
  kBuffer,
  kRng,
  kScalar
};
std::string_view ToString(TensorRole role);  // "param", "exp_avg", …
Result<TensorRole> ParseTensorRole(std::string_view name);

/// Where a tensor without a layer index lives when there are pipeline stages.
enum class StagePlace : std::uint8_t { kLayer, kFirst, kLast, kFirstAndLast, kAll };
std::string_view ToString(StagePlace place);  // "layer", "first", "first_and_last", …
Result<StagePlace> ParseStagePlace(std::string_view name);

/// Fused blocks of one dimension (q|k|v, gate|up). Each is cut for itself.
struct Segments {
  int dim = 0;
  std::vector<std::int64_t> sizes;  // sums to shape[dim]
  friend bool operator==(const Segments&, const Segments&) = default;
};

/// How a dim, or each segment of it, is divided among the parts that its axes make.
enum class Split : std::uint8_t {
  kEven,  // must divide
  kCeil,  // part r of n gets [r*c, min(size, (r+1)*c)), c = ceil(size/n): the last hold less or
          // nothing
};
std::string_view ToString(Split split);  // "even", "ceil"
Result<Split> ParseSplit(std::string_view name);

/// How one tensor is cut: for each dim the mesh axes that cut it, major to minor.
/// Axes that are not named replicate.
/// Collection::Make adds the empty lists of dims past the last one given, and where no dim is cut
/// the split is kEven. Axis pp may cut only tensors that are placed on all stages.
struct ShardRule {
  std::vector<std::vector<Axis>> dims;
  Split split = Split::kEven;
  /// A ZeRO shard (Rajbhandari et al., SC 2020, section 5): of the elements that the other rules
  /// leave on a rank (its boxes in order, each row-major, N in all) part r of the d along this axis
  /// holds [r*c, min(N, (r+1)*c)), c = ceil(N/d), as boxes that are each one contiguous range of
  /// them. The axis cuts no dim.
  std::optional<Axis> flat = std::nullopt;
  friend bool operator==(const ShardRule&, const ShardRule&) = default;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  TensorRole role = TensorRole::kParam;
  StagePlace place = StagePlace::kAll;
  std::int64_t layer = 0;  // read only where place == kLayer
  std::optional<Segments> segments;
  ShardRule rule;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// All tensors of one job, in byte order of their names. Immutable; shared between layouts.
class Collection {
 public:
  /// \error kInvalidArgument naming the tensor: a name twice, empty or not printable UTF-8, a rule
  ///     or segment that does not fit the shape, an axis twice in a rule, a layer outside
  ///     [0, num_layers), more than 2^63-1 bytes.
  static Result<std::shared_ptr<const Collection>> Make(std::vector<TensorSpec> tensors,
                                                        std::int64_t num_layers);
  const std::vector<TensorSpec>& tensors() const { return tensors_; }
  std::int64_t num_layers() const { return num_layers_; }
  /// Index of a name, or nullopt.
  std::optional<int> Find(std::string_view name) const;
  /// Bytes of one whole copy of the state.
  std::int64_t total_bytes() const;
  friend bool operator==(const Collection& a, const Collection& b) {
    return a.num_layers_ == b.num_layers_ && a.tensors_ == b.tensors_;
  }

 private:
  Collection() = default;
  std::vector<TensorSpec> tensors_;
  std::int64_t num_layers_ = 0;
};
using CollectionPtr = std::shared_ptr<const Collection>;

/// Pipeline stage of a layer: uniform, the first `layers mod stages` stages hold one more.
/// \pre 0 <= layer && layer < num_layers && num_stages >= 1
std::int64_t StageOfLayer(std::int64_t layer, std::int64_t num_layers, std::int64_t num_stages);
/// Whether `stage` of `num_stages` holds the tensor. \pre 0 <= stage && stage < num_stages
bool IsOnStage(const TensorSpec& spec, std::int64_t num_layers, std::int64_t stage,
               std::int64_t num_stages);

}  // namespace tessera::ptc
