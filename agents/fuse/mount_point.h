// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What is mounted where, what a server that was killed leaves, and whether this user may mount.
/// Needs no libfuse.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Type of our mounts in /proc/self/mountinfo.
inline constexpr std::string_view kMountType = "fuse.tessera";

/// One line of mountinfo (proc(5)).
struct MountedAt {
  std::string device;  // "0:45"
  std::string path;
  std::string type;          // "fuse.tessera"
  std::string source = {};   // "tessera-8f3109c277aa41de"
  std::string options = {};  // of the file system: "ro,user_id=0,group_id=0"
  friend bool operator==(const MountedAt&, const MountedAt&) = default;
};
/// In the order of the text; the last of those at one path is the one that is seen. Lines that are
/// none of mountinfo are left out.
std::vector<MountedAt> ParseMountInfo(std::string_view text);
/// What is seen at `path`, or nullopt where nothing is mounted there.
/// \error that of reading /proc/self/mountinfo
Result<std::optional<MountedAt>> FindMount(const std::string& path);

/// What a mount of the cluster with this public key is called in mountinfo.
std::string MountSource(std::string_view server_key);
/// The folder of the newest of `mounts` that has this source, is seen, and that `user` may read:
/// the user's own, or one for all. None.
std::optional<std::string> MountOf(const std::vector<MountedAt>& mounts, std::string_view source,
                                   std::uint32_t user);
/// That of a cluster for the user of this process. Asks no server. \error as FindMount
Result<std::optional<std::string>> FindClusterMount(std::string_view server_key);

/// The absolute path of a folder without links, also where a dead server is mounted on it.
/// \error kNotFound, kInvalidArgument naming the path
Result<std::string> MountPath(const std::string& path);

/// Takes away mounts of ours on `path` whose server is gone. \return whether there was one
/// \error those of Unmount
Result<bool> RemoveStaleMounts(const std::string& path);
/// Whether `path` is an empty folder with nothing mounted on it.
/// \error kAlreadyExists: a server of ours that lives, or another file system, is mounted there;
///     kInvalidArgument, kFailedPrecondition: it is no folder, not empty, or not this user's to
///     write
Status CheckMountPoint(const std::string& path);

/// Whether this user may mount, and if not, what has to be changed for it.
/// \error kFailedPrecondition, kNotFound naming the file and the change
Status CheckMayMount(bool allow_other);

/// Takes a mount of ours away. \param lazy also while files are open: they get ENOTCONN
/// \error kNotFound: nothing of ours is mounted there; kFailedPrecondition: it is in use;
///     kUnavailable with the system's words
Status Unmount(const std::string& path, bool lazy);

/// Lets the kernel read ahead by up to 1 MiB on `mount`. Only root may: for others it does nothing.
void WidenReadAhead(const MountedAt& mount);

}  // namespace tessera::agents
