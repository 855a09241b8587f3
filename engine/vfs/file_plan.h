// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which tensors lie where in a safetensors file of the tree, and the header of that file.
/// Offsets and sizes are bytes of the file. DESIGN.md specifies names and metadata.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/vfs/local_tensor.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// The two files that show the state of a job.
enum class StateFile : std::uint8_t {
  kModel,      // parameters and buffers
  kOptimizer,  // masters, moments, scalars, random streams: only training needs them
};
StateFile StateFileOf(ptc::TensorRole role);

/// The offset of the data is a multiple of this: a page, so that mapped tensors are aligned for any
/// type and reads around the page cache need no copy.
inline constexpr std::int64_t kDataAlignment = 4096;

/// Everything about a file that does not change from step to step. Immutable.
class FilePlan {
 public:
  /// One tensor of the file, row-major in [begin, end).
  struct Entry {
    int tensor = 0;         // index into the layout's collection
    LocalTensor held = {};  // of the uncut tensor
    std::int64_t element_bytes = 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  /// Plans `file` with the pieces of `rank`, or with whole tensors if `rank` is nullopt.
  /// \pre 0 <= *rank < ranks of the job's mesh
  /// \error kInvalidArgument naming the tensor whose name the format cannot carry, or that would
  ///     appear twice
  static Result<FilePlan> Make(const JobInfo& job, std::optional<int> rank, StateFile file);

  /// Size of the file, the same at every step of a layout.
  std::int64_t size() const { return size_; }
  std::int64_t data_begin() const { return header_.data_begin; }
  /// In the order of their bytes; they cover data_begin() to size() without gaps.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Name of each entry in the file.
  const std::string& NameOf(std::size_t entry) const { return header_.tensors[entry].name; }
  /// The bytes before data_begin(), at the step of `job`.
  /// \pre `job` has the name and the layout that this plan was made of
  Result<std::string> Header(const JobInfo& job) const;

 private:
  FilePlan() = default;
  checkpoint::Header header_;  // without epoch, timeline and step
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
};

}  // namespace tessera::engine::vfs
