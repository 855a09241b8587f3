// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The manifest of a checkpoint that a cluster has saved: `tessera.json` in its folder (FORMAT.md).
/// It is written last, so a folder without it is not complete.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"
#include "ptc/tensor_spec.h"

namespace tessera::checkpoint {

inline constexpr std::string_view kManifestName = "tessera.json";
inline constexpr std::int64_t kMaxManifestBytes = 100'000'000;

struct Manifest {
  struct Tensor {
    std::string name;
    ptc::DType dtype = ptc::DType::kF32;
    ptc::Shape shape;
    std::uint64_t digest = 0;
    std::optional<ptc::TensorRole> role = {};  // unknown in files of earlier versions
    std::vector<std::string> aliases = {};     // other names of the same tensor
    friend bool operator==(const Tensor&, const Tensor&) = default;
  };
  struct StoredFile {
    std::string name;  // without folders
    std::int64_t bytes = 0;
    friend bool operator==(const StoredFile&, const StoredFile&) = default;
  };

  std::string job;
  std::int64_t step = 0;
  std::int64_t timeline = 0;
  std::string model;     // "gpt-mini", or the name of the user's program
  std::string mesh;      // that the job had: "dp=2,tp=2,pp=1"
  double created = 0;    // seconds since 1970
  std::string settings;  // of the job, JSON; without the command of a user's program
  std::string digest;    // of the whole state, 16 hex digits
  std::vector<Tensor> tensors;
  std::vector<StoredFile> files;
  friend bool operator==(const Manifest&, const Manifest&) = default;

  std::int64_t bytes() const;  // of all files
};

std::string ToText(const Manifest& manifest);
/// \param path for errors
/// \error kInvalidArgument "'PATH': …" for another format or version, unknown digests, a member
///     that is missing or has another type, a number out of range, a file name that needs
///     escapes or leads out of the folder, a tensor or file that occurs twice
Result<Manifest> ParseManifest(std::string_view text, const std::string& path);
/// \error kInvalidArgument above kMaxManifestBytes; as ParseManifest and File::ReadAll
Result<Manifest> ReadManifest(const File& file);
/// \error kNotFound `'DIR' is no complete checkpoint: it has no tessera.json`; as above
Result<Manifest> ReadManifest(const std::string& folder);
/// Checks that all files are there with their sizes. Does not read them.
/// \error kDataLoss naming the first file that is missing or has another size
Status CheckFiles(const std::string& folder, const Manifest& manifest);

}  // namespace tessera::checkpoint
