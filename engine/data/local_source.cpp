// SPDX-License-Identifier: Apache-2.0
#include "engine/data/local_source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "engine/data/data_error.h"
#include "engine/data/descriptor_pool.h"
#include "engine/data/is_url.h"

namespace tessera::engine {
namespace {

namespace fs = std::filesystem;

/// Tells one content of a file from another without reading it.
struct FileState {
  std::int64_t size_bytes = 0;
  std::int64_t changed_ns = 0;
  dev_t device = 0;
  ino_t node = 0;
  bool is_linked = true;  // false once it is deleted; a file in memory never is
  friend bool operator==(const FileState&, const FileState&) = default;
};

FileState StateOf(const struct stat& status) {
  return {status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
          status.st_dev, status.st_ino, status.st_nlink > 0};
}

class LocalSource final : public ByteSource {
 public:
  LocalSource(std::string path, std::shared_ptr<DescriptorPool> pool, std::uint64_t id,
              const FileState& state)
      : path_(std::move(path)), pool_(std::move(pool)), id_(id), state_(state) {}
  LocalSource(const LocalSource&) = delete;
  LocalSource& operator=(const LocalSource&) = delete;
  ~LocalSource() override { pool_->Close(id_); }

  const std::string& name() const override { return path_; }
  std::int64_t size_bytes() const override { return state_.size_bytes; }
  std::string version() const override {
    return fmt::format("{}:{}", state_.size_bytes, state_.changed_ns);
  }

  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    const auto file = pool_->Get(id_, path_);
    if (!file->ok()) return BadData(path_, offset, std::strerror(errno));
    const auto done = file->ReadAt(offset, out);
    if (!done) return BadData(path_, offset, std::strerror(errno));
    // Compare after the read: the bytes read are then of the compared state.
    struct stat status = {};
    if (::fstat(file->get(), &status) != 0) return BadData(path_, offset, std::strerror(errno));
    const FileState now = StateOf(status);
    if (now == state_ && *done == out.size()) return OkStatus();
    return BadData(path_, offset, WhatChanged(now));
  }

 private:
  std::string WhatChanged(const FileState& now) const {
    if (now.size_bytes != state_.size_bytes) {
      return fmt::format("the file {} since it was opened, from {} to {} bytes",
                         now.size_bytes < state_.size_bytes ? "shrank" : "grew", state_.size_bytes,
                         now.size_bytes);
    }
    if (now == state_) return "the file ended early";
    if (!now.is_linked) return "the file was deleted since it was opened";
    return "the file changed since it was opened";
  }

  const std::string path_;
  const std::shared_ptr<DescriptorPool> pool_;
  const std::uint64_t id_;
  const FileState state_;
};

Error CannotRead(const std::string& name, std::string_view why) {
  return Unavailable(fmt::format("data path '{}' cannot be read: {}", name, why));
}

bool IsLeftOut(const std::string& name) {
  return name.starts_with('.') || name == "__pycache__" || name == "site-packages" ||
         name == "dist-packages";
}

Error Missing(const std::string& name) {
  return NotFound(fmt::format("data path '{}' does not exist", name));
}

}  // namespace

LocalFiles::LocalFiles(std::size_t max_open) : pool_(std::make_shared<DescriptorPool>(max_open)) {}

bool LocalFiles::Knows(const std::string& name) const { return !IsUrl(name); }

Result<ByteSourcePtr> LocalFiles::Open(const std::string& name) const {
  const std::uint64_t id = pool_->NewId();
  const auto file = pool_->Get(id, name);
  if (!file->ok()) {
    return errno == ENOENT || errno == ENOTDIR ? Missing(name)
                                               : CannotRead(name, std::strerror(errno));
  }
  struct stat status = {};
  const int failure = ::fstat(file->get(), &status) == 0 ? 0 : errno;
  if (failure == 0 && S_ISREG(status.st_mode)) {
    return std::make_shared<const LocalSource>(name, pool_, id, StateOf(status));
  }
  pool_->Close(id);
  return CannotRead(name, failure != 0 ? std::strerror(failure) : "it is not a regular file");
}

Result<std::vector<std::string>> LocalFiles::List(const std::string& name) const {
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (!fs::exists(status)) return Missing(name);
  if (!fs::is_directory(status)) return std::vector{name};
  std::vector<std::string> files, folders = {name};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    fs::directory_iterator it(folder, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      if (IsLeftOut(it->path().filename())) continue;
      std::error_code ignored;
      const fs::file_type type = it->symlink_status(ignored).type();
      if (type == fs::file_type::directory) folders.push_back(it->path());
      if (type == fs::file_type::regular) files.push_back(it->path());
    }
    if (error) return CannotRead(folder, error.message());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tessera::engine
