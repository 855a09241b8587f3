// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which boxes of which tensors stand where in a safetensors file of the tree, and its header.
/// Offsets and sizes are bytes of the file. Names and metadata: DESIGN.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// The two files that the state of a job is shown as.
enum class Part : std::uint8_t {
  kModel,      // parameters and buffers
  kOptimizer,  // masters, moments, scalars, random streams: what only training needs
};
Part PartOf(ptc::TensorRole role);

/// Where data begins is a multiple of this: a page, so that what is mapped is aligned for any type
/// and reads around the page cache need no copy.
inline constexpr std::int64_t kDataAlignment = 4096;

/// The parts of a file that do not change from step to step. Immutable.
class FilePlan {
 public:
  /// One box, row-major in [begin, end) of the file.
  struct Entry {
    int tensor = 0;                    // index into the layout's collection
    std::optional<ptc::Box> box = {};  // nullopt exactly where the tensor has no elements
    std::int64_t element_bytes = 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  /// The file of `part` with what `rank` holds, or with every tensor whole where `rank` is nullopt.
  /// \pre 0 <= *rank < ranks of the job's mesh
  /// \error kInvalidArgument naming the tensor whose name the format cannot carry, or that would
  ///     appear twice
  static Result<FilePlan> Make(const JobInfo& job, std::optional<int> rank, Part part);

  /// Size of the file, the same at every step of a layout.
  std::int64_t size() const { return size_; }
  std::int64_t data_begin() const { return header_.data_begin; }
  /// In the order of their bytes, without gaps from data_begin() to size().
  const std::vector<Entry>& entries() const { return entries_; }
  /// Name of each entry in the file.
  const std::string& NameOf(std::size_t entry) const { return header_.tensors[entry].name; }
  /// The bytes before data_begin() of the file as it is at the step of `job`. \pre `job` has the
  /// name and layout that this was made of
  Result<std::string> Header(const JobInfo& job) const;

 private:
  FilePlan() = default;
  checkpoint::Header header_;  // without what JobInfo adds to the metadata
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
};

}  // namespace tessera::engine::vfs
