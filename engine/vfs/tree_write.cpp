// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inodes and handles of files that are written into the tree. incoming.h checks and stages them.

#include <fmt/format.h>

#include <utility>

#include "engine/vfs/tree.h"

namespace tessera::engine::vfs {
namespace {

Error NotWritable(std::string_view what) {
  return Error{ErrorCode::kUnimplemented,
               fmt::format("{}: only new files in ranks/R/ can be written", what),
               {}};
}

}  // namespace

Tree::Attributes Tree::IncomingOf(IncomingFilePtr file, Time now) {
  const std::lock_guard lock(mutex_);
  NodeKey key = file->key();
  const auto ino = inodes_.Youngest(key);
  if (ino && std::get<IncomingNode>(inodes_.Find(*ino)->body).file == file) return Counted(*ino);
  return Counted(inodes_.Add(std::move(key), now, IncomingNode{std::move(file)}));
}

Result<IncomingFilePtr> Tree::WritableAt(Ino ino) {
  const std::lock_guard lock(mutex_);
  const Node* node = inodes_.Find(ino);
  if (node == nullptr) return FailedPrecondition(fmt::format("inode {} is not in use", ino));
  const auto* incoming = std::get_if<IncomingNode>(&node->body);
  if (incoming == nullptr) {
    return NotWritable(fmt::format("inode {} cannot be written", ino));
  }
  return incoming->file;
}

/// Facts of the job now, even if a view of it is open.
Result<JobFactsPtr> Tree::FactsNow(const std::string& job, Time now) {
  TESSERA_TRY(const JobsPtr jobs, jobs_.Get(now));
  const auto found = jobs->find(job);
  if (found == jobs->end()) return NotFound(fmt::format("there is no job '{}'", job));
  return found->second;
}

Tree::Handle Tree::OpenIncoming(IncomingFilePtr file, bool writable) {
  incoming_.Open(*file);
  OpenFile open;
  open.incoming = std::move(file);
  open.writable = writable;
  const std::lock_guard lock(mutex_);
  files_.emplace(next_handle_, std::make_shared<const OpenFile>(std::move(open)));
  return next_handle_++;
}

Result<Tree::Created> Tree::Create(Ino folder, std::string_view name, Time now) {
  Tick(now);
  TESSERA_TRY(const NodeKey parent, FolderKey(folder));
  const auto key = IncomingNamed(parent, name);
  if (!key || !incoming_.takes()) {
    return NotWritable(fmt::format("'{}' cannot be created", name));
  }
  TESSERA_TRY(const JobFactsPtr facts, FactsNow(key->job, now));
  if (*key->rank >= facts->info.layout.mesh().num_ranks()) {
    return NotFound(fmt::format("job '{}' no longer has a rank {}", key->job, *key->rank));
  }
  TESSERA_TRY(IncomingFilePtr file, incoming_.Create(*key, facts));
  TESSERA_RETURN_IF_ERROR(incoming_.Resize(*file, 0));
  const Handle handle = OpenIncoming(file, true);
  return Created{IncomingOf(std::move(file), now), handle};
}

Result<Tree::Handle> Tree::OpenToWrite(Ino ino, bool truncate, Time now) {
  Tick(now);
  TESSERA_TRY(IncomingFilePtr file, WritableAt(ino));
  if (truncate) TESSERA_RETURN_IF_ERROR(incoming_.Resize(*file, 0));
  return OpenIncoming(std::move(file), true);
}

/// nullptr for a handle that is not open for writing.
IncomingFilePtr Tree::WrittenThrough(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(handle);
  return found == files_.end() || !found->second->writable ? nullptr : found->second->incoming;
}

Status Tree::Write(Handle handle, std::int64_t offset, std::span<const std::byte> bytes) {
  const IncomingFilePtr file = WrittenThrough(handle);
  if (!file) return InvalidArgument(fmt::format("handle {} is not open for writing", handle));
  return incoming_.Write(*file, offset, bytes);
}

void Tree::MakeRoomAhead(Handle handle) {
  if (const IncomingFilePtr file = WrittenThrough(handle)) incoming_.MakeRoomAhead(*file);
}

Result<Tree::Attributes> Tree::Resize(Ino ino, std::int64_t size) {
  TESSERA_TRY(const IncomingFilePtr file, WritableAt(ino));
  TESSERA_RETURN_IF_ERROR(incoming_.Resize(*file, size));
  return Attr(ino);
}

Status Tree::Flush(Handle handle, Time now) {
  const IncomingFilePtr file = WrittenThrough(handle);
  if (!file) return OkStatus();
  TESSERA_TRY(const JobFactsPtr facts, FactsNow(file->key().job, now));
  return incoming_.Flush(file, facts, now);
}

Status Tree::Unlink(Ino folder, std::string_view name) {
  TESSERA_TRY(const NodeKey parent, FolderKey(folder));
  const auto key = IncomingNamed(parent, name);
  if (!key) return NotWritable(fmt::format("'{}' cannot be removed", name));
  return incoming_.Remove(*key);
}

Status Tree::Rename(Ino folder, std::string_view from, std::string_view to, bool keep_target,
                    Time now) {
  TESSERA_TRY(const NodeKey parent, FolderKey(folder));
  const auto old_key = IncomingNamed(parent, from);
  const auto new_key = IncomingNamed(parent, to);
  if (!old_key || !new_key) {
    return NotWritable(fmt::format("'{}' cannot be renamed to '{}'", from, to));
  }
  const IncomingFilePtr file = incoming_.Find(*old_key);
  if (file && keep_target && incoming_.Find(*new_key)) {
    return AlreadyExists(fmt::format("'{}' exists", to));
  }
  TESSERA_TRY(const JobFactsPtr facts, FactsNow(old_key->job, now));
  TESSERA_RETURN_IF_ERROR(incoming_.Rename(*old_key, *new_key, facts, now));
  const std::lock_guard lock(mutex_);
  const auto ino = inodes_.Youngest(*old_key);
  if (ino) inodes_.Rename(*ino, *new_key);
  return OkStatus();
}

}  // namespace tessera::engine::vfs
