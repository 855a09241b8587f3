// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The mounts of this host, removal of mounts that a killed server left, and the right to mount.
/// Needs no libfuse.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Type of Tessera's mounts in /proc/self/mountinfo.
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
/// Parses mountinfo, in its order. Omits lines of another form.
std::vector<MountedAt> ParseMountInfo(std::string_view text);
/// The last of `mounts` at `path`, which covers the earlier ones there.
std::optional<MountedAt> SeenAt(const std::vector<MountedAt>& mounts, std::string_view path);
/// The mount that this process sees at `path`, or nullopt.
/// \error that of reading /proc/self/mountinfo
Result<std::optional<MountedAt>> FindMount(const std::string& path);

/// The source in mountinfo of a mount of the cluster with this public key.
std::string MountSource(std::string_view server_key);
/// The path of the newest of `mounts` that has this source, is not covered, and that `user` may
/// read (a mount of the user, or one for all users).
std::optional<std::string> MountOf(const std::vector<MountedAt>& mounts, std::string_view source,
                                   std::uint32_t user);
/// MountOf for a cluster and the user of this process. Contacts no server.
/// \error as FindMount
Result<std::optional<std::string>> FindClusterMount(std::string_view server_key);

/// The absolute path of a folder without links. Does not contact a server that covers it, which may
/// be dead or stopped.
/// \error kNotFound, kInvalidArgument naming the path
Result<std::string> MountPath(const std::string& path);

/// Removes Tessera's mounts on `path` whose server is dead. A server that does not answer within
/// two seconds is not: it may be stopped.
/// \return whether there was one
/// \error as Unmount
Result<bool> RemoveStaleMounts(const std::string& path);
/// Whether `path` is an empty folder without a mount.
/// \error kAlreadyExists if a living server of Tessera or another file system is mounted there;
///     kInvalidArgument, kFailedPrecondition if it is not a folder, is not empty, or this user
///     cannot write to it
Status CheckMountPoint(const std::string& path);

/// Whether this user may mount.
/// \error kFailedPrecondition, kNotFound naming the file and the change that is needed
Status CheckMayMount(bool allow_other);

/// Removes a mount of Tessera.
/// \param lazy also while files are open: they then fail with ENOTCONN
/// \error kNotFound if none is there; kFailedPrecondition if it is in use; kUnavailable with the
///     reason of the system
Status Unmount(const std::string& path, bool lazy);

/// As Unmount, for a server that may be dead, stopped or alive.
Status RemoveMount(const std::string& path);

/// Sets the read-ahead of `mount` to 1 MiB. Does nothing for users other than root.
void WidenReadAhead(const MountedAt& mount);

}  // namespace tessera::agents
