// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads what torch.save writes since torch 1.6: a zip archive with the pickled object in data.pkl
/// and the bytes of tensors in data/0, data/1, …

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/checkpoint/torch/pickle.h"
#include "engine/checkpoint/torch/zip.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// A tensor of an archive. Its element at position x is at byte
/// offset + sum(x[d] * strides[d]) * SizeBytes(dtype) of the file.
struct SavedTensor {
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape = {};
  /// In elements, not negative; rows may overlap. Empty: row-major, for elements below one byte.
  std::vector<std::int64_t> strides = {};
  std::int64_t offset = 0;  // bytes from the start of the file, not of the window
  std::size_t storage = 0;  // index of its entry in the archive
};

/// An opened archive. Immutable.
/// \threadsafety Any thread.
class TorchFile {
 public:
  /// \error as ZipArchive::Open and Pickle::Read; "FILE: byte N: …" for an archive without
  ///     data.pkl or with big-endian bytes
  static Result<TorchFile> Open(ByteWindow window);

  /// The saved object. The TorchFile must outlive it.
  Pickle::Value root() const { return pickle_->root(); }
  /// Whether the value is a tensor: an object that a function of torch named _rebuild_… makes.
  /// FindTensor may still fail.
  static bool IsTensor(Pickle::Value value);
  /// Pickle::UnknownGlobals of the object.
  std::vector<std::string> UnknownGlobals() const { return pickle_->UnknownGlobals(); }
  /// Returns the location of the elements of a tensor, or nullopt for another value.
  /// \error "FILE: byte N: …" for a tensor that is not made of one storage and strides (DTensor,
  ///     sparse, quantised), an unknown dtype, a storage that is missing or whose size is not that
  ///     of its elements, and for elements outside the storage
  Result<std::optional<SavedTensor>> FindTensor(Pickle::Value value) const;
  /// Names the storages of which no tensor is read: "storages with 12 bytes are not read: data/1".
  /// Empty if there are none. Storages without bytes do not count.
  /// \param read SavedTensor::storage of the tensors that are read
  std::string UnreadStorages(const std::set<std::size_t>& read) const;

 private:
  TorchFile(ZipArchive archive, std::string prefix, PicklePtr pickle)
      : archive_(std::move(archive)), prefix_(std::move(prefix)), pickle_(std::move(pickle)) {}
  ZipArchive archive_;
  std::string prefix_;  // "archive/"
  PicklePtr pickle_;
};

/// Whether the bytes begin a file of torch.save from before PyTorch 1.6.
bool IsOldTorchSave(std::string_view begin);
inline constexpr std::int64_t kOldTorchSaveBytes = 15;  // that IsOldTorchSave needs

/// torch counts elements of f4 in pairs. Doubles the last dim, so that it counts elements.
/// \error kInvalidArgument if there is no dim, or beyond int64
Status CountElements(ptc::DType dtype, ptc::Shape& shape);

/// Reads the integers of a tuple, a list or a torch.Size.
/// \param what names them in errors
Result<ptc::Shape> ReadIntegers(Pickle::Value value, std::string_view what);

}  // namespace tessera::checkpoint
