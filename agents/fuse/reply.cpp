// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/reply.h"

#include <fmt/format.h>

#include <chrono>

namespace tessera::agents {
namespace {

/// Validity of names of folders: jobs and ranks appear and disappear.
constexpr double kFolderSeconds = 1;

unsigned ModeOf(const engine::vfs::Tree::Attributes& attributes) {
  if (attributes.folder) return S_IFDIR | (attributes.writable ? 0755U : 0555U);
  return S_IFREG | (attributes.writable ? 0644U : 0444U);
}

}  // namespace

FileService& ServiceOf(fuse_req_t request) {
  return *static_cast<FileService*>(fuse_req_userdata(request));
}

engine::vfs::Time Now() { return std::chrono::steady_clock::now(); }

void Fail(fuse_req_t request, const Error& error, FileRequest kind, std::string_view what) {
  const int number = ErrnoOf(error, kind);
  const FileService& service = ServiceOf(request);
  if (!IsOrdinary(error, kind) && service.log) {
    service.log(fmt::format("{}: {} (errno {})", what, error.ToString(), number));
  }
  fuse_reply_err(request, number);
}

struct stat ToStat(const FileService& service, const engine::vfs::Tree::Attributes& attributes) {
  struct stat status {};
  status.st_ino = attributes.ino;
  status.st_mode = ModeOf(attributes);
  status.st_nlink = 1;
  status.st_uid = service.owner;
  status.st_gid = service.group;
  status.st_size = attributes.size;
  status.st_blksize = 4096;
  status.st_blocks = (attributes.size + 511) / 512;
  const auto since_1970 = std::chrono::duration_cast<std::chrono::nanoseconds>(
      attributes.born.time_since_epoch() + service.wall_offset);
  status.st_mtim.tv_sec = since_1970.count() / 1'000'000'000;
  status.st_mtim.tv_nsec = since_1970.count() % 1'000'000'000;
  status.st_ctim = status.st_atim = status.st_mtim;
  return status;
}

fuse_entry_param ToEntry(const FileService& service,
                         const engine::vfs::Tree::Attributes& attributes) {
  fuse_entry_param entry{};
  entry.ino = attributes.ino;
  entry.attr = ToStat(service, attributes);
  entry.attr_timeout = !attributes.folder && attributes.writable ? 0 : kForEver;
  entry.entry_timeout = attributes.folder ? kFolderSeconds : 0;
  return entry;
}

}  // namespace tessera::agents
