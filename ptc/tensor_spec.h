// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The tensors of a job, and the rules by which they are cut (sigma) and assigned to pipeline
/// stages (phi). Nothing in this file depends on devices.

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

/// The pipeline stages that hold a tensor.
enum class StagePlace : std::uint8_t { kLayer, kFirst, kLast, kFirstAndLast, kAll };
std::string_view ToString(StagePlace place);  // "layer", "first", "first_and_last", …
Result<StagePlace> ParseStagePlace(std::string_view name);

/// How a dim, or a segment of a dim, is divided among the parts that its axes make.
enum class Split : std::uint8_t {
  kEven,   // the number of parts must divide the size
  kCeil,   // part r of n gets [r*c, min(size, (r+1)*c)), c = ceil(size/n) rounded up to a multiple
           // of `multiple`; the last parts may get less or nothing. Cuts a padded vocabulary
           // without storing the padding
  kHeads,  // along attention heads; see HeadGroups
};
std::string_view ToString(Split split);  // "even", "ceil", "heads"
Result<Split> ParseSplit(std::string_view name);

/// Grouped-query attention: each of `kv` key and value heads serves query / kv query heads.
/// With T parts, part t holds
/// - if T <= kv: the kv heads [floor(t*kv/T), floor((t+1)*kv/T)) and their query heads;
/// - if T > kv, where kv must divide T and T must divide query: a replica of the kv head
///   floor(t*kv/T), and the query heads [t*query/T, (t+1)*query/T).
/// Any other T is an error.
struct HeadGroups {
  std::int64_t kv = 1;
  std::int64_t query = 1;  // a multiple of kv
  /// Whether the dim counts query heads, as q and the input of the output projection do.
  bool of_query = false;
  friend bool operator==(const HeadGroups&, const HeadGroups&) = default;
};

/// How one dim, or one segment of a fused dim, is cut: the mesh axes, major to minor, and the
/// split.
struct DimCut {
  std::vector<Axis> axes = {};  // none: not cut
  Split split = Split::kEven;
  std::int64_t multiple = 1;             // used if split is kCeil
  std::optional<HeadGroups> heads = {};  // present exactly if split is kHeads
  friend bool operator==(const DimCut&, const DimCut&) = default;
};

/// A block of a fused dim (q|k|v, gate|up, the blocks of a Mamba projection). Each block is cut
/// separately.
struct Segment {
  std::int64_t size = 0;
  std::optional<DimCut> cut = {};  // empty: the cut of the dim
  friend bool operator==(const Segment&, const Segment&) = default;
};
struct Segments {
  int dim = 0;
  std::vector<Segment> blocks = {};  // their sizes sum to shape[dim]
  friend bool operator==(const Segments&, const Segments&) = default;
};

/// How one tensor is cut. The tensor is replicated along axes that the rule does not name.
/// Collection::Make gives a rule one DimCut per dim and brings each to its normal form, which is
/// the default DimCut if there are no axes. Axis pp may cut only tensors that are on all stages.
struct ShardRule {
  std::vector<DimCut> dims = {};
  /// The axes, major to minor, of a ZeRO or FSDP shard (Rajbhandari et al., SC 2020, section 5;
  /// Zhao et al., VLDB 2023); none: not flat. The other cuts leave N elements on a rank: its boxes
  /// in order, each row-major. Of d parts along these axes, part r holds [r*c, min(N, (r+1)*c))
  /// with c = ceil(N/d), as boxes that are each a contiguous range. These axes may not cut a dim.
  std::vector<Axis> flat = {};
  /// Tensors with the same bucket name, stage, dtype and `flat` axes are laid end to end in byte
  /// order of their names and cut flat as one. Empty: the tensor is cut alone.
  std::string bucket = {};
  friend bool operator==(const ShardRule&, const ShardRule&) = default;
};

/// The expert that a tensor belongs to, if each expert has tensors of its own. Experts are dealt to
/// the coordinates along ep in blocks: coordinate e has the experts PartRange(count, e, ep).
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
  std::int64_t layer = 0;  // used only if place == kLayer
  std::optional<ExpertIndex> expert = {};
  std::optional<Segments> segments = {};
  ShardRule rule = {};
  /// Other names of the same storage (tied embeddings), ascending, all after `name`. The tensor is
  /// stored, moved and counted once.
  std::vector<std::string> aliases = {};
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// More layers than any model has. The limit bounds the memory that a text from outside can claim.
inline constexpr std::int64_t kMaxLayers = 65536;

/// All tensors of one job, in byte order of their names. Immutable; shared between layouts.
class Collection {
 public:
  /// The first name of a tensor in byte order becomes `name`, the others its aliases.
  /// \error kInvalidArgument naming the tensor: a name or alias that appears twice, is empty or is
  ///     not printable UTF-8; a rule or segment that does not fit the shape; an axis twice in a
  ///     rule; a layer outside [0, num_layers); more than 2^63-1 bytes. Also for more than
  ///     kMaxLayers layers.
  static Result<std::shared_ptr<const Collection>> Make(std::vector<TensorSpec> tensors,
                                                        std::int64_t num_layers);
  /// Checks one tensor and brings its names and its rule to their normal form, as Make does for
  /// each.
  /// \error as Make, but for what only several tensors together can violate
  static Status Normalize(TensorSpec& spec, std::int64_t num_layers);

  const std::vector<TensorSpec>& tensors() const { return tensors_; }
  std::int64_t num_layers() const { return num_layers_; }
  /// The index of the tensor with that name or alias, or nullopt.
  std::optional<int> Find(std::string_view name) const;
  /// The bytes of one whole copy of the state.
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
