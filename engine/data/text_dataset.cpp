// SPDX-License-Identifier: Apache-2.0
#include "engine/data/text_dataset.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  bool ok() const { return fd_ >= 0; }

  /// Reads from `offset` until `out` is full; the number of bytes, fewer at the end of the file, or
  /// nullopt with errno set.
  std::optional<std::size_t> ReadAt(std::int64_t offset, std::span<std::uint8_t> out) const {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t n = ::pread(fd_, out.data() + done, out.size() - done,
                                offset + static_cast<std::int64_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::nullopt;
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

 private:
  int fd_;
};

/// No NUL among the first bytes: what git takes for text.
bool LooksLikeText(const std::string& path) {
  const FileDescriptor file(path);
  std::array<std::uint8_t, 4096> head{};
  const auto size = file.ok() ? file.ReadAt(0, head) : std::nullopt;
  return size && std::memchr(head.data(), 0, *size) == nullptr;
}

/// Text files under `folder`, unsorted. Caches and installed packages change with every tool that
/// runs, and with them every sample after them: they stay out.
Result<std::vector<std::string>> FilesUnder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename();
    std::error_code ignored;
    if (name.starts_with('.') || name == "__pycache__" || name == "site-packages" ||
        name == "dist-packages") {
      it.disable_recursion_pending();
    } else if (it->symlink_status(ignored).type() == fs::file_type::regular &&
               LooksLikeText(it->path())) {
      files.push_back(it->path());
    }
  }
  if (error) {
    return Unavailable(fmt::format("data path '{}' cannot be read: {}", folder, error.message()));
  }
  return files;
}

}  // namespace

std::vector<std::string> DefaultTextPaths() {
  std::vector<std::string> paths;
  std::error_code error;
  const std::string licences = "/usr/share/common-licenses";
  if (fs::is_directory(licences, error)) paths.push_back(licences);
  for (const char* root : {"/usr/lib", "/usr/local/lib"}) {
    std::vector<std::string> found;
    fs::directory_iterator it(root, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      std::error_code ignored;
      // python3 itself holds installed packages; python3.11 and the like hold the library.
      if (it->path().filename().string().starts_with("python3.") && it->is_directory(ignored)) {
        found.push_back(it->path());
      }
    }
    std::sort(found.begin(), found.end());
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

Result<TextDataset> TextDataset::Open(const std::vector<std::string>& paths,
                                      std::int64_t sequence) {
  if (sequence < 1) {
    return InvalidArgument(fmt::format("sequence length {} is below 1", sequence));
  }
  TextDataset dataset;
  dataset.sequence_ = sequence;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return NotFound(fmt::format("data path '{}' does not exist", path));
    std::vector<std::string> files = {path};
    if (fs::is_directory(status)) {
      TESSERA_TRY(files, FilesUnder(path));
      std::sort(files.begin(), files.end());
    }
    for (std::string& file : files) {
      const auto size = fs::file_size(file, error);
      if (error) {
        return Unavailable(fmt::format("data path '{}' cannot be read: {}", file, error.message()));
      }
      if (size == 0) continue;
      const auto size_bytes = static_cast<std::int64_t>(size);
      dataset.files_.push_back({std::move(file), dataset.size_bytes_, size_bytes});
      dataset.size_bytes_ += size_bytes;
    }
  }
  if (dataset.size_bytes_ < sequence + 1) {
    return InvalidArgument(
        fmt::format("data set has {} bytes, a sample needs {}", dataset.size_bytes_, sequence + 1));
  }
  return dataset;
}

std::uint64_t TextDataset::fingerprint() const {
  std::uint64_t hash = ptc::Mix(static_cast<std::uint64_t>(sequence_));
  for (const File& file : files_) {
    hash = ptc::Mix(hash + 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(file.size_bytes));
  }
  return hash;
}

Status TextDataset::Read(std::int64_t sample, std::span<std::uint8_t> out) const {
  TESSERA_CHECK(0 <= sample && sample < num_samples());
  TESSERA_CHECK(static_cast<std::int64_t>(out.size()) == sequence_ + 1);
  std::int64_t position = sample * sequence_;
  auto file = std::prev(std::upper_bound(
      files_.begin(), files_.end(), position,
      [](std::int64_t at, const File& candidate) { return at < candidate.begin; }));
  while (!out.empty()) {
    const std::int64_t offset = position - file->begin;
    const std::size_t count = static_cast<std::size_t>(
        std::min(file->size_bytes - offset, static_cast<std::int64_t>(out.size())));
    const FileDescriptor descriptor(file->path);
    const auto done = descriptor.ok() ? descriptor.ReadAt(offset, out.first(count)) : std::nullopt;
    if (!done) {
      return DataLoss(fmt::format("data file '{}': {}", file->path, std::strerror(errno)));
    }
    if (*done < count) {
      return DataLoss(
          fmt::format("data file '{}' shrank: {} bytes expected", file->path, file->size_bytes));
    }
    out = out.subspan(count);
    position += static_cast<std::int64_t>(count);
    ++file;
  }
  return OkStatus();
}

}  // namespace tessera::engine
