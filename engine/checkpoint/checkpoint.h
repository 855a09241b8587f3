// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A checkpoint on disk in any supported format: tensors, each stored as boxes in files. Only the
/// requested ranges are read. Nothing in a checkpoint is executed.

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

/// One stored box. Its element at position x (one index per dim, relative to the beginning of the
/// box) is at byte offset + sum(x[d] * strides[d]) * SizeBytes(dtype) of the file. Elements smaller
/// than a byte are stored row-major, without strides.
struct StoredBox {
  ptc::Box box;
  int file = 0;                            // index into Checkpoint::files()
  std::int64_t offset = 0;                 // bytes from the start of the file
  std::vector<std::int64_t> strides = {};  // in elements, one per dim; empty: row-major
  /// If above 0, `offset` is the start of an archive of that many bytes. Contents::locate finds the
  /// elements in it when they are first read, because a folder may have 100,000 archives.
  std::int64_t archive_bytes = 0;
};

struct StoredTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
  std::vector<StoredBox> boxes;  // ascending, disjoint, together the whole tensor; none if empty
  /// The layout-independent digest that the checkpoint states, if it states one. It is not verified
  /// here.
  std::optional<std::uint64_t> digest = {};
};

/// What the reader of a format has found. Checkpoint::Make checks it.
struct Contents {
  Format format = Format::kSafetensors;
  std::string path;
  std::vector<std::string> files;
  std::vector<StoredTensor> tensors;  // in any order, and so are their boxes
  std::map<std::string, std::string> metadata = {};
  std::vector<std::string> opaque = {};
  /// A line for people about each file of the folder that looks like a part of a checkpoint of this
  /// format and is not read, and about bytes of tensors in a file that are not read.
  std::vector<std::string> unread = {};
  /// Present if a file states digests that cannot be compared: the name of their algorithm, or ""
  /// if it has none.
  std::optional<std::string> unknown_digests = {};
  /// Returns a box in an archive with the offset and strides of its elements.
  /// \threadsafety Any thread.
  std::function<Result<StoredBox>(const StoredTensor&, const StoredBox&)> locate = {};
  FileOpener open = OpenLocal;  // of `files`
};

/// An opened checkpoint. Immutable.
/// \threadsafety Any thread.
class Checkpoint {
 public:
  /// Sorts and checks tensors and boxes. The reader of the format checks that the ranges lie inside
  /// their files, because it knows the position of the wrong entry.
  /// \error kInvalidArgument naming path and tensor for: a name that appears twice, a shape beyond
  ///     int64, boxes that overlap, leave a range out, lie outside the shape or end inside a byte,
  ///     strides that are negative, not one per dim or lead beyond int64, an unknown file index, an
  ///     archive without `locate`
  static Result<std::shared_ptr<const Checkpoint>> Make(Contents contents);
  /// Detects the format of a file or folder and reads its tables, but not its tensors.
  /// \error kNotFound; kInvalidArgument naming the file, and the offset of a wrong byte: truncated
  ///     files, a header longer than its file, overlapping or missing ranges, unknown dtypes, a
  ///     pickle with a global outside the whitelist
  static Result<std::shared_ptr<const Checkpoint>> Open(const std::string& path);

  /// Returns the same checkpoint without `prefix` at the beginning of names.
  /// \error kInvalidArgument if no name begins with it, if a name is nothing else, or if two tensors
  ///     would have the same name
  Result<std::shared_ptr<const Checkpoint>> WithoutPrefix(std::string_view prefix) const;
  /// Returns the same checkpoint with further tensors: for each new name, the tensor whose values it
  /// has. A name whose tensor is missing is left out.
  /// \error kInvalidArgument if a new name is that of another tensor
  Result<std::shared_ptr<const Checkpoint>> WithCopies(
      const std::map<std::string, std::string>& names) const;
  /// Returns the same checkpoint with only the tensors for which `keep` returns true.
  std::shared_ptr<const Checkpoint> Choose(
      const std::function<bool(const StoredTensor&)>& keep) const;

  Format format() const { return contents_.format; }
  const std::string& path() const { return contents_.path; }
  /// Absolute paths of the files with tensor bytes.
  const std::vector<std::string>& files() const { return contents_.files; }
  /// In byte order of their names.
  const std::vector<StoredTensor>& tensors() const { return contents_.tensors; }
  /// The strings of the safetensors __metadata__ (for each key, of the first file that has it), or
  /// the common state of Megatron as JSON.
  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }
  /// The names of entries that are not tensors (pickled Python objects). They are not read.
  const std::vector<std::string>& opaque() const { return contents_.opaque; }
  /// A line for people about each file of the folder that is not read because the index does not
  /// name it (a stray file, or a part that the index forgot), and about each file with bytes of
  /// tensors that are not read.
  const std::vector<std::string>& UnreadFiles() const { return contents_.unread; }
  /// Empty, or a line for people: digests that the checkpoint states are not compared, and why.
  std::string UncomparedDigests() const;
  /// Returns the index of a tensor, or nullopt.
  std::optional<int> Find(std::string_view name) const;

  /// Fills `out` with the units of `box` in row-major order. A unit is an element, or a byte if
  /// elements are smaller (ptc/packed.h). Uses at most 2 MiB of memory for a box of any size, and
  /// keeps at most 128 files open.
  /// \pre `box` lies in the UnitShape of the tensor; `out` has num_elements * SizeBytes bytes
  /// \error kUnavailable naming file and offset, for example of a file that has shrunk; those of
  ///     Contents::locate
  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const;

 private:
  explicit Checkpoint(Contents contents);

  Contents contents_;
  /// For each tensor and box: the largest end along dim 0, in units, of this box and all before it.
  /// Read bisects it to find the first box that can intersect a request.
  std::vector<std::vector<std::int64_t>> reach_;
  OpenFiles open_files_;
};

}  // namespace tessera::checkpoint
