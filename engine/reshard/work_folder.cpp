// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/checkpoint/open_files.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;

std::optional<NodeId> NodeOf(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return NodeId{status.st_dev, status.st_ino};
}

int Rename(const std::string& from, const std::string& to, unsigned flags) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
}

}  // namespace

Error ExistsAlready(const std::string& destination) {
  return AlreadyExists(fmt::format("'{}' exists; --force replaces it", destination));
}

WorkFolder::WorkFolder(std::string destination, std::string path, ReshardJournal journal)
    : destination_(std::move(destination)),
      path_(std::move(path)),
      output_(path_ + "/output"),
      journal_(std::move(journal)) {}

Result<WorkFolder> WorkFolder::Open(const std::string& destination) {
  const std::string path = PathFor(destination);
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return checkpoint::FileError(path, "cannot be created", errno);
  }
  TESSERA_TRY(ReshardJournal journal, ReshardJournal::Open(path + "/journal.jsonl"));
  return WorkFolder(destination, path, std::move(journal));
}

Status WorkFolder::Clear() const {
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() == "journal.jsonl") continue;
    std::error_code kept;
    fs::remove_all(entry->path(), kept);
    if (kept)
      return checkpoint::FileError(entry->path().string(), "cannot be removed", kept.value());
  }
  if (error) return checkpoint::FileError(path_, "cannot be listed", error.value());
  return OkStatus();
}

bool WorkFolder::WasRenamed() const {
  const auto& renaming = journal_.content().renaming;
  return renaming && NodeOf(destination_) == renaming;
}

Status WorkFolder::RenameOutput(bool replace) {
  const auto node = NodeOf(output_);
  if (!node) return checkpoint::FileError(output_, "cannot be examined", errno);
  TESSERA_RETURN_IF_ERROR(journal_.AddRenaming(*node));
  const std::string parent = fs::path(destination_).parent_path().string();
  if (Rename(output_, destination_, RENAME_NOREPLACE) != 0) {
    const bool plain = errno == EINVAL;  // the file system does not support the flag
    if (errno != EEXIST && !plain)
      return checkpoint::FileError(destination_, "cannot be created by a rename", errno);
    const bool exists = NodeOf(destination_).has_value();
    if (exists && !replace) return ExistsAlready(destination_);
    if (exists && Rename(output_, destination_, RENAME_EXCHANGE) != 0) {
      const std::string old = path_ + "/replaced";
      if (errno != EINVAL || Rename(destination_, old, 0) != 0 ||
          Rename(output_, destination_, 0) != 0) {
        return checkpoint::FileError(destination_, "cannot be replaced", errno);
      }
    } else if (!exists && Rename(output_, destination_, 0) != 0) {
      return checkpoint::FileError(destination_, "cannot be created by a rename", errno);
    }
  }
  return checkpoint::SyncFolder(parent);
}

Status WorkFolder::Remove() const {
  TESSERA_RETURN_IF_ERROR(Clear());
  std::error_code error;  // the journal is removed last, because it describes the rest
  fs::remove_all(path_, error);
  if (error) return checkpoint::FileError(path_, "cannot be removed", error.value());
  return OkStatus();
}

}  // namespace tessera::reshard
