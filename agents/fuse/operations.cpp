// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/operations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/fuse/reply.h"
#include "agents/fuse/write_operations.h"

namespace tessera::agents {
namespace {

using engine::vfs::Tree;

void Init(void* /*service*/, fuse_conn_info* connection) {
  connection->max_read = kMaxReadBytes;
  connection->max_write = kMaxReadBytes;
  connection->max_readahead = kMaxReadBytes;
  connection->max_background = 64;
  connection->congestion_threshold = 48;
  // Contents of an inode never change, so the kernel need not request them again. Splicing is
  // slower than a copy here (DESIGN.md).
  connection->want &=
      ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_READDIRPLUS_AUTO |
                             FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  connection->want |=
      connection->capable &
      static_cast<unsigned>(FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS |
                            FUSE_CAP_READDIRPLUS | FUSE_CAP_ATOMIC_O_TRUNC);
}

void Lookup(fuse_req_t request, fuse_ino_t folder, const char* name) {
  FileService& service = ServiceOf(request);
  const auto found = service.tree.Lookup(folder, name, Now());
  if (!found) {
    return Fail(request, found.error(), FileRequest::kLookup, fmt::format("lookup of '{}'", name));
  }
  const fuse_entry_param entry = ToEntry(service, *found);
  // If the kernel did not take the reply, it does not know the inode.
  if (fuse_reply_entry(request, &entry) != 0) service.tree.Forget(found->ino, 1);
}

void Forget(fuse_req_t request, fuse_ino_t ino, std::uint64_t count) {
  ServiceOf(request).tree.Forget(ino, count);
  fuse_reply_none(request);
}

void ForgetMany(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
  for (std::size_t i = 0; i < count; ++i) {
    ServiceOf(request).tree.Forget(forgets[i].ino, forgets[i].nlookup);
  }
  fuse_reply_none(request);
}

void GetAttr(fuse_req_t request, fuse_ino_t ino, fuse_file_info* /*file*/) {
  FileService& service = ServiceOf(request);
  const auto attributes = service.tree.Attr(ino);
  if (!attributes) return Fail(request, attributes.error(), FileRequest::kLookup, "attributes");
  const struct stat status = ToStat(service, *attributes);
  fuse_reply_attr(request, &status, attributes->writable ? 0 : kForEver);
}

void Open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file) {
  FileService& service = ServiceOf(request);
  if ((file->flags & O_ACCMODE) != O_RDONLY) return OpenToWrite(request, ino, file);
  const auto handle = service.tree.Open(ino, Now());
  if (!handle) return Fail(request, handle.error(), FileRequest::kOpen, "open");
  file->fh = *handle;
  file->keep_cache = 1;
  file->noflush = 1;
  if (fuse_reply_open(request, file) != 0) service.tree.Release(*handle);
}

/// A buffer for copied bytes. Each thread keeps it, because new pages cost more than the copy.
std::span<std::byte> RoomOfThread(std::size_t size) {
  thread_local const std::unique_ptr<std::byte[]> room(new std::byte[kMaxReadBytes]);
  return {room.get(), std::min<std::size_t>(size, kMaxReadBytes)};
}

void Read(fuse_req_t request, fuse_ino_t /*ino*/, std::size_t size, off_t offset,
          fuse_file_info* file) {
  FileService& service = ServiceOf(request);
  const auto bytes = service.tree.Read(file->fh, offset, RoomOfThread(size));
  if (!bytes) {
    return Fail(request, bytes.error(), FileRequest::kRead, fmt::format("read at {}", offset));
  }
  std::vector<iovec> parts;
  parts.reserve(bytes->fragments.size());
  for (const auto& fragment : bytes->fragments) {
    // The kernel only reads this memory.
    parts.push_back({const_cast<std::byte*>(fragment.data()), fragment.size()});
  }
  fuse_reply_iov(request, parts.data(), static_cast<int>(parts.size()));
}

void Release(fuse_req_t request, fuse_ino_t /*ino*/, fuse_file_info* file) {
  ServiceOf(request).tree.Release(file->fh);
  fuse_reply_err(request, 0);
}

void OpenFolder(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file) {
  FileService& service = ServiceOf(request);
  const auto handle = service.tree.OpenFolder(ino, Now());
  if (!handle) return Fail(request, handle.error(), FileRequest::kOpen, "open of a folder");
  file->fh = *handle;
  if (fuse_reply_open(request, file) != 0) service.tree.ReleaseFolder(*handle);
}

void ReleaseFolder(fuse_req_t request, fuse_ino_t /*ino*/, fuse_file_info* file) {
  ServiceOf(request).tree.ReleaseFolder(file->fh);
  fuse_reply_err(request, 0);
}

/// Fills one reply to readdir or readdirplus. Positions 0 and 1 are "." and "..", then the entries.
class FolderPage {
 public:
  FolderPage(fuse_req_t request, std::size_t size, bool plus)
      : request_(request), plus_(plus), page_(std::min<std::size_t>(size, kMaxReadBytes)) {}

  bool HasRoomFor(const std::string& name) const {
    const std::size_t needed =
        plus_ ? fuse_add_direntry_plus(request_, nullptr, 0, name.c_str(), nullptr, 0)
              : fuse_add_direntry(request_, nullptr, 0, name.c_str(), nullptr, 0);
    return used_ + needed <= page_.size();
  }
  /// \pre HasRoomFor(name)
  void Add(const std::string& name, const fuse_entry_param& entry, off_t next) {
    char* at = page_.data() + used_;
    const std::size_t left = page_.size() - used_;
    used_ += plus_ ? fuse_add_direntry_plus(request_, at, left, name.c_str(), &entry, next)
                   : fuse_add_direntry(request_, at, left, name.c_str(), &entry.attr, next);
  }
  void Reply() { fuse_reply_buf(request_, page_.data(), used_); }

 private:
  fuse_req_t request_;
  bool plus_;
  std::vector<char> page_;
  std::size_t used_ = 0;
};

/// "." or "..": an entry that does not count as a lookup.
fuse_entry_param Dots(engine::vfs::Ino ino) {
  fuse_entry_param entry{};
  entry.attr.st_ino = ino;
  entry.attr.st_mode = S_IFDIR;
  return entry;
}

void ReadFolder(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t offset,
                fuse_file_info* file, bool plus) {
  FileService& service = ServiceOf(request);
  FolderPage page(request, size, plus);
  for (off_t at = offset; at >= 0; ++at) {
    if (at < 2) {
      const std::string name = at == 0 ? "." : "..";
      if (!page.HasRoomFor(name)) break;
      page.Add(name, Dots(at == 0 ? ino : service.tree.ParentIno(ino)), at + 1);
      continue;
    }
    const auto* child = service.tree.Entry(file->fh, static_cast<std::size_t>(at - 2));
    if (child == nullptr || !page.HasRoomFor(child->name)) break;
    if (!plus) {
      fuse_entry_param entry{};
      entry.attr.st_ino = std::numeric_limits<ino_t>::max();  // not known before a lookup
      entry.attr.st_mode = IsFolder(child->key) ? S_IFDIR : S_IFREG;
      page.Add(child->name, entry, at + 1);
      continue;
    }
    const auto found = service.tree.Lookup(ino, child->name, Now());
    if (found) page.Add(child->name, ToEntry(service, *found), at + 1);
    // Omits entries that disappeared since the folder was opened.
  }
  page.Reply();
}

void ReadDir(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t offset,
             fuse_file_info* file) {
  ReadFolder(request, ino, size, offset, file, false);
}

void ReadDirPlus(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t offset,
                 fuse_file_info* file) {
  ReadFolder(request, ino, size, offset, file, true);
}

/// Answers a request on this thread, or on a side thread if it may wait for data.
void Answer(fuse_req_t request, fuse_ino_t ino, std::function<void()> answer) {
  FileService& service = ServiceOf(request);
  if (service.aside && service.tree.MayWait(ino)) {
    service.aside(std::move(answer));
  } else {
    answer();
  }
}

using FileOperation = void (*)(fuse_req_t, fuse_ino_t, fuse_file_info*);
template <FileOperation operation>
void AnswerFile(fuse_req_t request, fuse_ino_t ino, fuse_file_info* file) {
  Answer(request, ino, [request, ino, own = *file]() mutable { operation(request, ino, &own); });
}

void AnswerLookup(fuse_req_t request, fuse_ino_t folder, const char* name) {
  Answer(request, folder,
         [request, folder, own = std::string(name)] { Lookup(request, folder, own.c_str()); });
}

void AnswerReadDirPlus(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t offset,
                       fuse_file_info* file) {
  Answer(request, ino, [request, ino, size, offset, own = *file]() mutable {
    ReadDirPlus(request, ino, size, offset, &own);
  });
}

fuse_lowlevel_ops MakeOperations() {
  fuse_lowlevel_ops operations{};
  operations.init = Init;
  operations.lookup = AnswerLookup;
  operations.forget = Forget;
  operations.forget_multi = ForgetMany;
  operations.getattr = GetAttr;
  operations.open = AnswerFile<Open>;
  operations.read = Read;
  operations.release = Release;
  operations.opendir = AnswerFile<OpenFolder>;
  operations.readdir = ReadDir;
  operations.readdirplus = AnswerReadDirPlus;
  operations.releasedir = ReleaseFolder;
  AddWriteOperations(operations);
  return operations;
}

}  // namespace

const fuse_lowlevel_ops& FileOperations() {
  static const fuse_lowlevel_ops operations = MakeOperations();
  return operations;
}

}  // namespace tessera::agents
