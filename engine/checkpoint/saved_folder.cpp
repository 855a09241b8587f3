// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/saved_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "engine/checkpoint/folder_names.h"
#include "engine/checkpoint/safetensors/reader.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartialSuffix = ".partial";

/// Returns whether writers of checkpoints make files of this name.
bool IsOfCheckpoint(const std::string& name) {
  return name.starts_with(kManifestName) ||
         (name.starts_with("shard-") && name.ends_with(".safetensors"));
}

bool IsPartial(const std::string& path) { return path.ends_with(kPartialSuffix); }

std::string ParentOf(const std::string& path) { return fs::path(path).parent_path().string(); }

/// Renames without replacing what is there.
Status RenameNew(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return OkStatus();
  }
  if (errno == EEXIST) return AlreadyExists(fmt::format("'{}' exists", to));
  // Some file systems do not know the flag. A folder that has files is not replaced anyway.
  if (errno == EINVAL && ::rename(from.c_str(), to.c_str()) == 0) return OkStatus();
  return FileError(from, fmt::format("cannot be renamed to '{}'", to), errno);
}

}  // namespace

std::string SavedPath(const std::string& folder, const std::string& job, std::int64_t step,
                      std::int64_t timeline) {
  std::string name = fmt::format("{}-step-{}", job, step);
  if (timeline > 0) name += fmt::format("-t{}", timeline);
  return (fs::path(folder) / name).string();
}

std::string PartialPath(const std::string& path, std::uint64_t id) {
  return fmt::format("{}.{:016x}{}", path, id, kPartialSuffix);
}

Status MakePartial(const std::string& path, const std::string& partial) {
  std::error_code error;
  if (fs::exists(path, error)) return AlreadyExists(fmt::format("'{}' exists", path));
  fs::create_directories(partial, error);
  if (error) return FileError(partial, "cannot be made", error.value());
  return OkStatus();
}

Status Publish(const std::string& path, const std::string& partial, const Manifest& manifest) {
  if (const Status there = CheckFiles(partial, manifest); !there) {
    return DataLoss(there.error().message + ": do all nodes see the same folder under this path?");
  }
  const std::string file = (fs::path(partial) / kManifestName).string();
  const std::string text = ToText(manifest);
  if (std::ssize(text) > kMaxManifestBytes) {
    return InvalidArgument(
        fmt::format("'{}' would have {} bytes, the limit is {}; copy the {} tensors through a "
                    "mount instead",
                    file, text.size(), kMaxManifestBytes, manifest.tensors.size()));
  }
  TESSERA_RETURN_IF_ERROR(engine::WriteWholeFile(file, text, 0666));
  TESSERA_RETURN_IF_ERROR(SyncFolder(partial));
  TESSERA_RETURN_IF_ERROR(RenameNew(partial, path));
  return SyncFolder(ParentOf(path));
}

Result<std::int64_t> RemoveSaved(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return NotFound(fmt::format("'{}' does not exist", path));
  const fs::path manifest = fs::path(path) / kManifestName;
  if (!IsPartial(path) && !fs::exists(manifest, error)) {
    return InvalidArgument(
        fmt::format("'{}' is no checkpoint of a cluster: it has no {}", path, kManifestName));
  }
  std::int64_t bytes = 0;
  const auto remove = [&](const fs::path& file) -> Status {
    const auto size = fs::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
    fs::remove(file, error);
    if (error) return FileError(file.string(), "cannot be removed", error.value());
    return OkStatus();
  };
  if (fs::exists(manifest, error)) TESSERA_RETURN_IF_ERROR(remove(manifest));
  std::vector<fs::path> files;
  fs::directory_iterator it(path, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    if (IsOfCheckpoint(it->path().filename().string())) files.push_back(it->path());
  }
  if (error) return FileError(path, "cannot be listed", error.value());
  for (const fs::path& name : files) TESSERA_RETURN_IF_ERROR(remove(name));
  fs::remove(path, error);  // fails if files of others are in it
  return bytes;
}

std::string FileIn(const std::string& place, const std::string& name) {
  const bool is_url = place.find("://") != std::string::npos;
  const auto end = is_url ? std::min(place.find_first_of("?#"), place.size()) : place.size();
  std::string path = place.substr(0, end);
  while (path.ends_with('/')) path.pop_back();
  return path + '/' + name + place.substr(end);
}

namespace {

std::vector<std::string> NamesOf(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const Manifest::StoredFile& file : manifest.files) names.push_back(file.name);
  return names;
}

}  // namespace

Result<Manifest> ReadManifestAt(const std::string& place, const FileOpener& open) {
  TESSERA_TRY(const FilePtr file, open(FileIn(place, std::string(kManifestName))));
  return ReadManifest(*file);
}

Result<std::shared_ptr<const Checkpoint>> OpenSaved(const std::string& place,
                                                    const FileOpener& open) {
  TESSERA_TRY(const FilePtr first, open(FileIn(place, std::string(kManifestName))));
  TESSERA_TRY(const Manifest manifest, ReadManifest(*first));
  // The names in messages are those that the opener shows, without what is secret in a URL.
  const std::string shown = ParentOf(first->path());
  std::vector<std::string> names;
  // Each file stays open, so that its source notices when it is replaced.
  auto files = std::make_shared<std::map<std::string, FilePtr>>();
  for (const Manifest::StoredFile& stored : manifest.files) {
    TESSERA_TRY(FilePtr file, open(FileIn(place, stored.name)));
    TESSERA_TRY(const std::int64_t size, file->Size());
    if (size != stored.bytes) {
      return DataLoss(
          fmt::format("'{}' has {} bytes, the manifest says {}", file->path(), size, stored.bytes));
    }
    names.push_back(FileIn(shown, stored.name));
    files->emplace(names.back(), std::move(file));
  }
  return OpenSafetensorsFiles(
      shown, names,
      [files = std::shared_ptr<const std::map<std::string, FilePtr>>(files)](
          const std::string& path) -> Result<FilePtr> { return files->at(path); });
}

Result<std::shared_ptr<const Checkpoint>> OpenSavedFolder(const std::string& folder) {
  TESSERA_TRY(const Manifest manifest, ReadManifest(folder));
  TESSERA_RETURN_IF_ERROR(CheckFiles(folder, manifest));
  const std::string absolute = engine::AbsolutePath(folder);
  std::vector<std::string> paths;
  for (const std::string& name : NamesOf(manifest)) paths.push_back(FileIn(absolute, name));
  return OpenSafetensorsFiles(absolute, paths, OpenLocal);
}

FoundCheckpoint Examine(const std::string& path) {
  FoundCheckpoint out{path, {}, {}, {}};
  if (IsPartial(path)) {
    out.problem = "it is being saved, or was cut off";
    return out;
  }
  auto manifest = ReadManifest(path);
  if (!manifest) {
    out.problem = manifest.error().message;
    return out;
  }
  if (const Status there = CheckFiles(path, *manifest); !there) out.problem = there.error().message;
  auto unread = UnreadFiles(path, ".safetensors", NamesOf(*manifest),
                            fmt::format("{} does not name it", kManifestName));
  if (unread) out.unread = *std::move(unread);
  out.manifest = std::move(*manifest);
  return out;
}

Result<std::vector<FoundCheckpoint>> FindSaved(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) continue;
    const bool is_saved = fs::exists(it->path() / kManifestName, ignored);
    if (is_saved || IsPartial(it->path().string())) paths.push_back(it->path().string());
  }
  if (error) return FileError(folder, "cannot be listed", error.value());
  std::ranges::sort(paths);
  std::vector<FoundCheckpoint> out;
  for (const std::string& path : paths) out.push_back(Examine(path));
  return out;
}

}  // namespace tessera::checkpoint
