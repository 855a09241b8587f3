// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a job as a checkpoint holds it: which of its tensors the job takes over, and how
/// the rest begins.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/manifest.h"
#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/tensor_spec.h"

namespace tessera::agents {

/// A checkpoint that fits a job.
struct StoredState {
  std::string place;             // folder or URL
  std::string path;              // the same for messages
  std::int64_t step = 0;         // after which the job continues
  bool parameters_only = false;  // the rest begins as in a new job
  std::string digest;            // of the whole state; empty with parameters_only
  /// By tensor of the job; nullopt: not from the checkpoint.
  std::vector<std::optional<std::uint64_t>> digests;
};

/// Whether a tensor of this role is one of a model's parameters, in any precision.
bool IsParameter(ptc::TensorRole role);

/// Compares the tensors of a checkpoint with those of a job, by name, dtype and shape.
/// \error kFailedPrecondition naming checkpoint, tensor and both values
Result<StoredState> MatchState(const checkpoint::Manifest& manifest, const std::string& place,
                               const ptc::Collection& collection, bool parameters_only);

/// Opens the files of a checkpoint.
using OpenCheckpoint =
    std::function<Result<std::shared_ptr<const checkpoint::Checkpoint>>(const std::string& path)>;

/// Reads boxes of a job's tensors.
/// \threadsafety Any thread, several at once.
class StoredTensors {
 public:
  struct Choice {
    std::string path;
    bool parameters_only = false;
    std::int64_t seed = 0;  // of the job; of its cursor with parameters_only
  };
  /// \error as MatchState and Checkpoint::Open
  static Result<StoredTensors> Open(const Choice& choice, const ptc::Collection& collection,
                                    const OpenCheckpoint& open);

  /// Reads the row-major elements of `box`. A tensor that is not taken over is 0 everywhere, apart
  /// from the cursor, which is at the begin of the data.
  /// \pre `box` lies in the tensor and has out.size() bytes
  /// \error as Checkpoint::Read
  Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const;

 private:
  StoredTensors() = default;
  std::shared_ptr<const checkpoint::Checkpoint> checkpoint_;
  std::vector<std::optional<int>> stored_;      // by tensor of the job: index in the checkpoint
  std::vector<std::vector<std::byte>> begins_;  // of those that are not stored; empty: zeros
};

}  // namespace tessera::agents
