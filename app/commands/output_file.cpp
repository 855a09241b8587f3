// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tessera::app {
namespace {

Error existsAlready(const std::string& path) {
  return AlreadyExists(fmt::format("'{}' exists; --force replaces it", path));
}

}  // namespace

Result<OutputFile> OutputFile::Open(const std::string& path, bool force) {
  if (path.empty()) return OutputFile({}, {}, stdout, force);
  if (!force && access(path.c_str(), F_OK) == 0) return existsAlready(path);
  std::string fresh = fmt::format("{}.{}.part", path, getpid());
  std::FILE* const file = std::fopen(fresh.c_str(), "wbx");
  if (!file) return Unavailable(fmt::format("cannot write '{}': {}", fresh, std::strerror(errno)));
  return OutputFile(path, std::move(fresh), file, force);
}

OutputFile::OutputFile(std::string path, std::string fresh, std::FILE* file, bool force)
    : path_(std::move(path)), fresh_(std::move(fresh)), file_(file), force_(force) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      fresh_(std::exchange(other.fresh_, {})),
      file_(std::exchange(other.file_, nullptr)),
      force_(other.force_) {}

OutputFile::~OutputFile() {
  if (fresh_.empty()) return;
  if (file_) std::fclose(file_);
  unlink(fresh_.c_str());
}

Error OutputFile::Failure() const {
  const int number = errno;
  const std::string text =
      fmt::format("cannot write '{}': {}", path_.empty() ? "output" : path_, std::strerror(number));
  return number == ENOSPC || number == EDQUOT ? ResourceExhausted(text) : Unavailable(text);
}

Status OutputFile::Write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) return Failure();
  return OkStatus();
}

Status OutputFile::Finish() {
  if (std::fflush(file_) != 0) return Failure();
  if (fresh_.empty()) return OkStatus();
  if (fsync(fileno(file_)) != 0) return Failure();
  std::fclose(std::exchange(file_, nullptr));
  // Without --force a file that appeared meanwhile is not replaced either.
  if (renameat2(AT_FDCWD, fresh_.c_str(), AT_FDCWD, path_.c_str(), force_ ? 0 : RENAME_NOREPLACE) !=
      0) {
    if (errno == EEXIST) return existsAlready(path_);
    // Some file systems do not support RENAME_NOREPLACE.
    if (errno != EINVAL || rename(fresh_.c_str(), path_.c_str()) != 0) return Failure();
  }
  fresh_.clear();
  return OkStatus();
}

}  // namespace tessera::app
