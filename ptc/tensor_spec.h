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
#include <utility>
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

/// How a dim, or a segment of one, is divided among the parts that its axes make.
enum class Split : std::uint8_t {
  kEven,   // must divide
  kCeil,   // part r of n gets [r*c, min(size, (r+1)*c)), c = ceil(size/n) rounded up to a multiple
           // of `multiple` (vocabulary padding without the padding): the last hold less or nothing
  kHeads,  // along attention heads, see HeadGroups
};
std::string_view ToString(Split split);  // "even", "ceil", "heads"
Result<Split> ParseSplit(std::string_view name);

/// Grouped-query attention: `query` heads share `kv` key and value heads, query / kv each. Of T
/// parts, part t holds
///   T <= kv: the kv heads [floor(t*kv/T), floor((t+1)*kv/T)) and the query heads that go with
///   them; T > kv (kv divides T, T divides query): kv head floor(t*kv/T), a replica of it, and the
///   query
///     heads [t*query/T, (t+1)*query/T).
/// Any other T is an error that names kv, query and T.
struct HeadGroups {
  std::int64_t kv = 1;
  std::int64_t query = 1;  // a multiple of kv
  bool of_query = false;   // whether the dim counts query heads (q, input of the output projection)
  friend bool operator==(const HeadGroups&, const HeadGroups&) = default;
};

/// How one dim, or one segment of a fused dim, is cut: the mesh axes, major to minor, and the
/// split.
struct DimCut {
  std::vector<Axis> axes = {};  // none: not cut
  Split split = Split::kEven;
  std::int64_t multiple = 1;             // read where split is kCeil
  std::optional<HeadGroups> heads = {};  // stands exactly where split is kHeads
  friend bool operator==(const DimCut&, const DimCut&) = default;
};

/// A fused block of one dim (q|k|v, gate|up, the blocks of a Mamba projection), cut for itself.
struct Segment {
  std::int64_t size = 0;
  std::optional<DimCut> cut = {};  // empty: as the dim's rule says
  friend bool operator==(const Segment&, const Segment&) = default;
};
struct Segments {
  int dim = 0;
  std::vector<Segment> blocks = {};  // sizes sum to shape[dim]
  friend bool operator==(const Segments&, const Segments&) = default;
};

/// How one tensor is cut. Axes that are not named replicate.
/// Collection::Make gives a rule one DimCut a dim and brings each to one spelling (no axes: the
/// default DimCut). Axis pp may cut only tensors that are placed on all stages.
struct ShardRule {
  std::vector<DimCut> dims = {};
  /// A ZeRO or FSDP shard (Rajbhandari et al., SC 2020, section 5; Zhao et al., VLDB 2023): of the
  /// elements that the other rules leave on a rank (its boxes in order, each row-major, N in all)
  /// part r of the d along these axes (major to minor) holds [r*c, min(N, (r+1)*c)), c = ceil(N/d),
  /// as boxes that are each one contiguous range of them. The axes cut no dim. None: not flat.
  std::vector<Axis> flat = {};
  /// Tensors of one bucket name, on one stage, of one dtype and with the same `flat` axes are laid
  /// end to end in byte order of their names and cut flat as one. Empty: the tensor for itself.
  std::string bucket = {};
  friend bool operator==(const ShardRule&, const ShardRule&) = default;
};

/// One of several experts that are tensors of their own: expert `index` of `count` lives on the
/// ranks whose coordinate along ep is that of PartRange(count, ep): experts are dealt in blocks.
struct ExpertIndex {
  std::int64_t index = 0;
  std::int64_t count = 1;
  friend bool operator==(const ExpertIndex&, const ExpertIndex&) = default;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;  // logical: without vocabulary padding
  TensorRole role = TensorRole::kParam;
  StagePlace place = StagePlace::kAll;
  std::int64_t layer = 0;  // read only where place == kLayer
  std::optional<ExpertIndex> expert = {};
  std::optional<Segments> segments = {};
  ShardRule rule = {};
  /// Further names of the same storage (tied embeddings), ascending, all after `name`. The tensor
  /// exists, moves and counts once.
  std::vector<std::string> aliases = {};
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// More than any model has: what is kept for each layer stays small whatever a text says.
inline constexpr std::int64_t kMaxLayers = 65536;

/// All tensors of one job, in byte order of their names. Immutable; shared between layouts.
class Collection {
 public:
  /// Of the names of a tensor the first in byte order becomes `name`, the others its aliases.
  /// \error kInvalidArgument naming the tensor: a name or alias twice, empty or not printable
  /// UTF-8,
  ///     a rule or segment that does not fit the shape, an axis twice in a rule, a layer outside
  ///     [0, num_layers), more than 2^63-1 bytes; or more than kMaxLayers layers.
  static Result<std::shared_ptr<const Collection>> Make(std::vector<TensorSpec> tensors,
                                                        std::int64_t num_layers);
  const std::vector<TensorSpec>& tensors() const { return tensors_; }
  std::int64_t num_layers() const { return num_layers_; }
  /// Index of a name or of an alias, or nullopt.
  std::optional<int> Find(std::string_view name) const;
  /// Bytes of one whole copy of the state.
  std::int64_t total_bytes() const;
  friend bool operator==(const Collection& a, const Collection& b) {
    return a.num_layers_ == b.num_layers_ && a.tensors_ == b.tensors_;
  }

 private:
  Collection() = default;
  Status IndexAliases();
  std::vector<TensorSpec> tensors_;
  std::vector<std::pair<std::string, int>> aliases_;  // ascending, with the index of the tensor
  std::int64_t num_layers_ = 0;
};
using CollectionPtr = std::shared_ptr<const Collection>;

}  // namespace tessera::ptc
