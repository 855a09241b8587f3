// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What torch.save writes (since torch 1.6): a zip archive with the pickled object in data.pkl and
/// the bytes of tensors in data/0, data/1, …

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/torch/pickle.h"
#include "engine/checkpoint/torch/zip.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// A tensor of an archive. Its element at position x lies at
/// offset + sum(x[d] * strides[d]) * SizeBytes(dtype) of the file.
struct SavedTensor {
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape = {};
  std::vector<std::int64_t> strides = {};  // in elements, none negative
  std::int64_t offset = 0;                 // bytes from the start of the file, not of the window
};

/// An opened archive. Immutable; any thread.
class TorchFile {
 public:
  /// \error "FILE: byte N: …": what ZipArchive::Open and Pickle::Read refuse, an archive without
  ///     data.pkl, big-endian bytes
  static Result<TorchFile> Open(ByteWindow window);

  /// The saved object. \pre the TorchFile outlives the value
  Pickle::Value root() const { return pickle_->root(); }
  /// Where the elements of a value lie; nullopt if the value is no tensor.
  /// \error "FILE: byte N: …": an unknown dtype, a missing storage or one of another size than its
  ///     elements take, elements outside it
  Result<std::optional<SavedTensor>> FindTensor(Pickle::Value value) const;

 private:
  TorchFile(ZipArchive archive, std::string prefix, PicklePtr pickle)
      : archive_(std::move(archive)), prefix_(std::move(prefix)), pickle_(std::move(pickle)) {}
  ZipArchive archive_;
  std::string prefix_;  // "archive/"
  PicklePtr pickle_;
};

/// Integers of a tuple, a list or a torch.Size. `what` names them in messages.
Result<ptc::Shape> ReadIntegers(Pickle::Value value, std::string_view what);

}  // namespace tessera::checkpoint
