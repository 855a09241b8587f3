// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/write_operations.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <span>

#include "agents/fuse/reply.h"

namespace tessera::agents {
namespace {

/// Written files bypass the page cache, because no program reads them through it.
void AsWritten(fuse_file_info* file, engine::vfs::Tree::Handle handle) {
  file->fh = handle;
  file->direct_io = 1;
}

void Create(fuse_req_t request, fuse_ino_t folder, const char* name, mode_t /*mode*/,
            fuse_file_info* file) {
  FileService& service = ServiceOf(request);
  const auto created = service.tree.Create(folder, name, Now());
  if (!created) {
    return Fail(request, created.error(), FileRequest::kWrite, fmt::format("'{}'", name));
  }
  AsWritten(file, created->handle);
  const fuse_entry_param entry = ToEntry(service, created->attributes);
  if (fuse_reply_create(request, &entry, file) != 0) {
    service.tree.Release(created->handle);
    service.tree.Forget(entry.ino, 1);
  }
}

void Write(fuse_req_t request, fuse_ino_t /*ino*/, const char* bytes, std::size_t size,
           off_t offset, fuse_file_info* file) {
  FileService& service = ServiceOf(request);
  const auto handle = file->fh;
  const auto written = service.tree.Write(handle, offset, std::as_bytes(std::span(bytes, size)));
  if (!written) {
    return Fail(request, written.error(), FileRequest::kWrite, fmt::format("write at {}", offset));
  }
  fuse_reply_write(request, size);
  // The writer has its reply, and another thread serves its next write.
  service.tree.MakeRoomAhead(handle);
}

/// Accepts times and modes of written files without effect, because copy tools set them.
void SetAttr(fuse_req_t request, fuse_ino_t ino, struct stat* wanted, int what,
             fuse_file_info* /*file*/) {
  FileService& service = ServiceOf(request);
  const auto attributes = (what & FUSE_SET_ATTR_SIZE) != 0
                              ? service.tree.Resize(ino, wanted->st_size)
                              : service.tree.Attr(ino);
  if (!attributes)
    return Fail(request, attributes.error(), FileRequest::kWrite, "change of a file");
  if (attributes->folder || !attributes->writable) {
    fuse_reply_err(request, EROFS);
    return;
  }
  const struct stat status = ToStat(service, *attributes);
  fuse_reply_attr(request, &status, 0);
}

void Flush(fuse_req_t request, fuse_ino_t /*ino*/, fuse_file_info* file) {
  const auto flushed = ServiceOf(request).tree.Flush(file->fh, Now());
  if (!flushed) return Fail(request, flushed.error(), FileRequest::kWrite, "hand-in");
  fuse_reply_err(request, 0);
}

/// Does nothing: only a close hands in.
void Sync(fuse_req_t request, fuse_ino_t /*ino*/, int /*only_data*/, fuse_file_info* /*file*/) {
  fuse_reply_err(request, 0);
}

void Unlink(fuse_req_t request, fuse_ino_t folder, const char* name) {
  const auto removed = ServiceOf(request).tree.Unlink(folder, name);
  if (!removed) {
    return Fail(request, removed.error(), FileRequest::kWrite,
                fmt::format("removal of '{}'", name));
  }
  fuse_reply_err(request, 0);
}

void Rename(fuse_req_t request, fuse_ino_t folder, const char* from, fuse_ino_t new_folder,
            const char* to, unsigned flags) {
  if (new_folder != folder || (flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) {
    fuse_reply_err(request, new_folder != folder ? EXDEV : EINVAL);
    return;
  }
  const auto renamed =
      ServiceOf(request).tree.Rename(folder, from, to, (flags & RENAME_NOREPLACE) != 0, Now());
  if (!renamed) return Fail(request, renamed.error(), FileRequest::kWrite, fmt::format("'{}'", to));
  fuse_reply_err(request, 0);
}

}  // namespace

void OpenToWrite(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file) {
  FileService& service = ServiceOf(request);
  const bool truncate = (file->flags & O_TRUNC) != 0;
  const auto handle = service.tree.OpenToWrite(ino, truncate, Now());
  if (!handle) return Fail(request, handle.error(), FileRequest::kWrite, "open to write");
  AsWritten(file, *handle);
  if (fuse_reply_open(request, file) != 0) service.tree.Release(*handle);
}

void AddWriteOperations(fuse_lowlevel_ops& operations) {
  operations.create = Create;
  operations.write = Write;
  operations.setattr = SetAttr;
  operations.flush = Flush;
  operations.fsync = Sync;
  operations.unlink = Unlink;
  operations.rename = Rename;
}

}  // namespace tessera::agents
