// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A checkpoint on disk, whatever its format: tensors, each as boxes that lie somewhere in files.
/// Only the ranges that are asked for are read; nothing of a checkpoint is ever executed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

enum class Format : std::uint8_t {
  kSafetensors,         // one file
  kHuggingFace,         // model-00001-of-0000N.safetensors and an index
  kShardedSafetensors,  // boxes in safetensors files, as torch.distributed.checkpoint writes them
  kTorchDcp,            // .metadata and *.distcp (read only)
  kMegatron,            // a torch_dist iteration folder (read only)
  kTorchSave,           // files of torch.save (read only)
};
std::string_view ToString(Format format);  // "safetensors", "huggingface", "sharded", "dcp", …

/// One stored box. Its element at position x (an index a dim, relative to box begin) lies at
/// offset + sum(x[d] * strides[d]) * SizeBytes(dtype) of the file; elements below one byte lie
/// row-major, without strides.
struct StoredBox {
  ptc::Box box;
  int file = 0;                            // index into Checkpoint::files()
  std::int64_t offset = 0;                 // bytes from the start of the file
  std::vector<std::int64_t> strides = {};  // in elements, one a dim; empty: row-major, no holes
  /// More than 0: an archive of so many bytes lies at `offset`, and where in it the elements are is
  /// found out when they are first read (Contents::locate). A folder may have 100,000 of them.
  std::int64_t archive_bytes = 0;
};

struct StoredTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
  std::vector<StoredBox> boxes;  // ascending, disjoint, together the whole tensor; none if empty
  /// The layout-independent digest that the checkpoint itself states, where it states one. Not
  /// compared with the bytes by reading them.
  std::optional<std::uint64_t> digest = {};
};

/// What a format's reader has found out: the parts that a Checkpoint is made of.
struct Contents {
  Format format = Format::kSafetensors;
  std::string path;
  std::vector<std::string> files;
  std::vector<StoredTensor> tensors;  // in any order, and so are their boxes
  std::map<std::string, std::string> metadata = {};
  std::vector<std::string> opaque = {};
  /// Offset and strides of a box that lies in an archive. Any thread may call it.
  std::function<Result<StoredBox>(const StoredTensor&, const StoredBox&)> locate = {};
};

/// An opened checkpoint. Immutable; Read may be called from any thread.
class Checkpoint {
 public:
  /// Sorts tensors and boxes and checks them. Whether the ranges lie inside their files is up to
  /// the format's reader, which knows the offset of what is wrong.
  /// \error kInvalidArgument naming path and tensor: a name twice, a shape beyond int64, boxes that
  ///     overlap, leave a range out, lie outside the shape or end inside a byte, strides that are
  ///     negative, not one a dim or lead beyond int64, a file index that is none, an archive and no
  ///     `locate`
  static Result<std::shared_ptr<const Checkpoint>> Make(Contents contents);
  /// Finds out the format of a file or folder and reads its tables, never its tensors.
  /// \error kNotFound, kInvalidArgument: one line with the file and, where bytes are wrong, the
  ///     offset: truncated, a header longer than the file, overlapping or missing ranges, unknown
  ///     dtypes, a pickle with a global outside the whitelist
  static Result<std::shared_ptr<const Checkpoint>> Open(const std::string& path);

  /// The same checkpoint without the tensors that `keep` refuses.
  std::shared_ptr<const Checkpoint> Choose(
      const std::function<bool(const StoredTensor&)>& keep) const;

  Format format() const { return contents_.format; }
  const std::string& path() const { return contents_.path; }
  /// Absolute paths of the files with tensor bytes.
  const std::vector<std::string>& files() const { return contents_.files; }
  /// In byte order of their names.
  const std::vector<StoredTensor>& tensors() const { return contents_.tensors; }
  /// What else it says: strings of safetensors' __metadata__ (of several files, the first that has
  /// a key), JSON of Megatron's common state.
  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }
  /// Entries that are no tensors (pickled Python objects), by name; they are listed, not read.
  const std::vector<std::string>& opaque() const { return contents_.opaque; }
  /// Index of a name, or nullopt.
  std::optional<int> Find(std::string_view name) const;

  /// Fills `out` with the units of `box` (ptc/packed.h: elements, or bytes of smaller ones),
  /// row-major. At most some hundred files are held open at a time, and at most 2 MiB of memory
  /// taken, whatever the size of the box.
  /// \pre box lies in the UnitShape of the tensor, out has num_elements * SizeBytes bytes
  /// \error kUnavailable naming file, offset and errno text (a file that shrank meanwhile)
  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const;

 private:
  explicit Checkpoint(Contents contents);

  Contents contents_;
  /// A tensor and a box: the largest end along dim 0, in units, of this box and all before it, so
  /// that Read finds the first box that can matter by bisection.
  std::vector<std::vector<std::int64_t>> reach_;
  OpenFiles open_files_;
};

}  // namespace tessera::checkpoint
