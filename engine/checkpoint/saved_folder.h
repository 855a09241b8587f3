// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The folders of checkpoints that a cluster saves. One that is being written is PATH.ID.partial,
/// which no other saving uses; it gets its manifest and its name when all of its files are there.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// "DIR/JOB-step-120", with "-tN" behind it for timeline N above 0.
std::string SavedPath(const std::string& folder, const std::string& job, std::int64_t step,
                      std::int64_t timeline);
/// "PATH.00000000000000ff.partial".
/// \param id of the saving
std::string PartialPath(const std::string& path, std::uint64_t id);

/// Makes the folder `partial` and those above it. Several writers may do so at once.
/// \error kAlreadyExists if `path` exists; otherwise as FileError
Status MakePartial(const std::string& path, const std::string& partial);
/// Checks the files in `partial`, writes the manifest there and renames the folder to `path`. All
/// of it is on disk when the call returns.
/// \error kDataLoss naming a file that is not there as it was written; kInvalidArgument for a
///     manifest above kMaxManifestBytes; kAlreadyExists, kUnavailable
Status Publish(const std::string& path, const std::string& partial, const Manifest& manifest);
/// Removes a checkpoint, complete or not: the manifest first, so that what is left after a failure
/// is not complete. Removes no file that is not of a checkpoint, and then leaves the folder.
/// \return bytes that were removed
/// \error kNotFound if it does not exist; kInvalidArgument for a folder that is no checkpoint of a
///     cluster; kUnavailable
Result<std::int64_t> RemoveSaved(const std::string& path);

/// "PLACE/NAME" of a file in a folder or below a URL. A query of the URL stays at its end.
std::string FileIn(const std::string& place, const std::string& name);
/// Opens a checkpoint by its manifest, wherever its files are: names that the manifest does not
/// have are not looked for.
/// \param place folder or URL
/// \error as ParseManifest, `open` and Checkpoint::Open
Result<std::shared_ptr<const Checkpoint>> OpenSaved(const std::string& place,
                                                    const FileOpener& open);
/// Opens a checkpoint in a folder in the same way, and keeps few files open.
/// \error as ReadManifest, CheckFiles and Checkpoint::Open
Result<std::shared_ptr<const Checkpoint>> OpenSavedFolder(const std::string& folder);
/// Reads the manifest of such a checkpoint. Its files are not examined.
Result<Manifest> ReadManifestAt(const std::string& place, const FileOpener& open);

struct FoundCheckpoint {
  std::string path;
  std::optional<Manifest> manifest;
  std::string problem;  // why it cannot be loaded; empty: complete
  /// A line for people about each file of tensors in the folder that the manifest does not name.
  std::vector<std::string> unread = {};
};
/// Examines one checkpoint, by its manifest and the sizes of its files.
FoundCheckpoint Examine(const std::string& path);
/// Examines all checkpoints in a folder, in byte order of their names. A folder that is none is
/// left out.
/// \error kNotFound, kUnavailable
Result<std::vector<FoundCheckpoint>> FindSaved(const std::string& folder);

}  // namespace tessera::checkpoint
