// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/mount_point.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "agents/fuse/fusermount.h"
#include "engine/files/whole_file.h"

namespace tessera::agents {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDevice = "/dev/fuse";
constexpr const char* kConfig = "/etc/fuse.conf";

/// How long a server may take to answer. Its thread for such questions does nothing else.
constexpr std::chrono::seconds kServerPatience{2};

/// Whether the system says that nobody serves the mount any more. False also if the server does not
/// answer.
bool IsServerDead(const std::string& path) {
  const auto answer = std::make_shared<std::promise<bool>>();
  auto dead = answer->get_future();
  // A call into a stopped server ends only with the process, so its thread is left alone.
  std::thread([answer, path] {
    // stat may be answered from the kernel's cache; statvfs always reaches the server.
    struct statvfs unused {};
    answer->set_value(::statvfs(path.c_str(), &unused) != 0 && errno == ENOTCONN);
  }).detach();
  return dead.wait_for(kServerPatience) == std::future_status::ready && dead.get();
}

/// Replaces octal escapes such as \040.
std::string Unescape(std::string_view word) {
  const auto digit = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool escape = word[i] == '\\' && i + 3 < word.size() && digit(word[i + 1]) &&
                        digit(word[i + 2]) && digit(word[i + 3]);
    if (!escape) {
      out.push_back(word[i]);
      continue;
    }
    out.push_back(static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 +
                                    (word[i + 3] - '0')));
    i += 3;
  }
  return out;
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// id parent MAJ:MIN root PATH options [tags…] - TYPE source options
std::optional<MountedAt> ParseLine(std::string_view line) {
  const auto words = SplitAt(line, ' ');
  const auto dash = std::ranges::find(words, "-");
  if (words.size() < 9 || dash - words.begin() < 6 || words.end() - dash < 3) return std::nullopt;
  return MountedAt{std::string(words[2]), Unescape(words[4]), Unescape(dash[1]), Unescape(dash[2]),
                   words.end() - dash > 3 ? std::string(dash[3]) : std::string()};
}

std::string SystemWords(int error) { return std::strerror(error); }

}  // namespace

std::vector<MountedAt> ParseMountInfo(std::string_view text) {
  std::vector<MountedAt> mounts;
  for (const std::string_view line : SplitAt(text, '\n')) {
    if (auto mount = ParseLine(line)) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

std::optional<MountedAt> SeenAt(const std::vector<MountedAt>& mounts, std::string_view path) {
  const auto last = std::find_if(mounts.rbegin(), mounts.rend(),
                                 [&](const MountedAt& mount) { return mount.path == path; });
  return last == mounts.rend() ? std::nullopt : std::optional(*last);
}

Result<std::optional<MountedAt>> FindMount(const std::string& path) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile("/proc/self/mountinfo"));
  return SeenAt(ParseMountInfo(text), path);
}

std::string MountSource(std::string_view server_key) {
  // A key itself would fill the line of `df`. FNV-1a (Fowler, Noll, Vo).
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : server_key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return fmt::format("tessera-{:016x}", hash);
}

std::optional<std::string> MountOf(const std::vector<MountedAt>& mounts, std::string_view source,
                                   std::uint32_t user) {
  const std::string own = fmt::format("user_id={}", user);
  std::optional<std::string> found;
  for (auto mount = mounts.begin(); mount != mounts.end(); ++mount) {
    if (mount->type != kMountType || mount->source != source) continue;
    const bool covered = std::any_of(
        mount + 1, mounts.end(), [&](const MountedAt& later) { return later.path == mount->path; });
    const auto options = SplitAt(mount->options, ',');
    const bool readable = std::ranges::find(options, own) != options.end() ||
                          std::ranges::find(options, "allow_other") != options.end();
    if (!covered && readable) found = mount->path;
  }
  return found;
}

Result<std::optional<std::string>> FindClusterMount(std::string_view server_key) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile("/proc/self/mountinfo"));
  return MountOf(ParseMountInfo(text), MountSource(server_key), ::getuid());
}

Result<std::string> MountPath(const std::string& path) {
  // The last component is not resolved first, because stat of a dead mount fails.
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  const fs::path named = absolute.has_filename() ? absolute : absolute.parent_path();
  fs::path folder = fs::canonical(named.parent_path(), error);
  if (error) return NotFound(fmt::format("no folder '{}': {}", path, error.message()));
  const fs::path whole = named.has_filename() ? folder / named.filename() : folder;
  TESSERA_TRY(const auto mount, FindMount(whole.string()));
  if (mount && mount->type == kMountType) return whole.string();
  const fs::path linked = fs::canonical(whole, error);
  if (!error) return linked.string();
  if (error.value() == ENOTCONN) return whole.string();
  return NotFound(fmt::format("no folder '{}': {}", path, error.message()));
}

Result<bool> RemoveStaleMounts(const std::string& path) {
  for (bool removed = false;; removed = true) {
    TESSERA_TRY(const auto mount, FindMount(path));
    if (!mount || mount->type != kMountType) return removed;
    if (!IsServerDead(path)) return removed;
    TESSERA_RETURN_IF_ERROR(Unmount(path, true));
  }
}

Status CheckMountPoint(const std::string& path) {
  TESSERA_TRY(const auto mount, FindMount(path));
  if (mount && mount->type == kMountType) {
    return AlreadyExists(
        fmt::format("'{}' is mounted already; `tesseractl unmount {}`", path, path));
  }
  if (mount) {
    return AlreadyExists(
        fmt::format("'{}' already has a file system of type {}", path, mount->type));
  }
  std::error_code error;
  if (!fs::is_directory(path, error))
    return InvalidArgument(fmt::format("'{}' is not a folder", path));
  if (::access(path.c_str(), W_OK) != 0) {
    return FailedPrecondition(fmt::format("folder '{}' cannot be written by this user", path));
  }
  if (fs::is_empty(path, error) && !error) return OkStatus();
  return FailedPrecondition(error
                                ? fmt::format("cannot read folder '{}': {}", path, error.message())
                                : fmt::format("folder '{}' is not empty", path));
}

Status CheckMayMount(bool allow_other) {
  const bool root = ::geteuid() == 0;
  if (const int device = ::open(kDevice, O_RDWR | O_CLOEXEC); device >= 0) {
    ::close(device);
  } else if (errno == ENOENT || errno == ENODEV || errno == ENXIO) {
    return NotFound(fmt::format("no {}: load the kernel's fuse module (`modprobe fuse`)", kDevice));
  } else {
    return FailedPrecondition(
        fmt::format("{} cannot be opened: {}; root can allow it with `chmod 666 {}`", kDevice,
                    SystemWords(errno), kDevice));
  }
  if (root) return OkStatus();
  TESSERA_RETURN_IF_ERROR(CheckFusermount());
  if (!allow_other) return OkStatus();
  const auto config = engine::ReadWholeFile(kConfig);
  const auto lines = config ? SplitAt(*config, '\n') : std::vector<std::string_view>{};
  if (std::ranges::find(lines, "user_allow_other") != lines.end()) return OkStatus();
  return FailedPrecondition(fmt::format(
      "--allow-other needs the line user_allow_other in {}, which root can add", kConfig));
}

Status Unmount(const std::string& path, bool lazy) {
  TESSERA_TRY(const auto mount, FindMount(path));
  if (!mount || mount->type != kMountType) {
    return NotFound(fmt::format("nothing of Tessera is mounted at '{}'", path));
  }
  if (::geteuid() != 0) return RunFusermount(path, lazy);
  if (::umount2(path.c_str(), UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0) return OkStatus();
  if (errno == EBUSY) {
    return FailedPrecondition(fmt::format("'{}' is in use: close its files first", path));
  }
  return Unavailable(fmt::format("cannot unmount '{}': {}", path, SystemWords(errno)));
}

// First without a question to the server, because one that is stopped never answers.
Status RemoveMount(const std::string& path) {
  const Status removed = Unmount(path, false);
  if (removed || removed.error().code == ErrorCode::kNotFound) return removed;
  TESSERA_TRY(const bool was_stale, RemoveStaleMounts(path));
  return was_stale ? OkStatus() : removed;
}

void WidenReadAhead(const MountedAt& mount) {
  const std::string path = fmt::format("/sys/class/bdi/{}/read_ahead_kb", mount.device);
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  // If the kernel refuses, it reads ahead less, which is no error.
  [[maybe_unused]] const auto written = ::write(file, "1024", 4);
  ::close(file);
}

}  // namespace tessera::agents
