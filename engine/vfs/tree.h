// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The file tree over the state of jobs in terms of inodes and handles, as a kernel requests it,
/// but without a kernel. Sizes and offsets are bytes. names.h has the names; DESIGN.md explains why
/// a file never shows two steps.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/vfs/content.h"
#include "engine/vfs/inode_table.h"
#include "engine/vfs/job_facts.h"
#include "engine/vfs/names.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

struct TreeOptions {
  /// Greatest age of the cached list of jobs.
  std::chrono::milliseconds jobs_keep{100};
  /// How long a view is kept for a second lookup if the job's layout changed between lookup and
  /// open.
  std::chrono::milliseconds linger{2000};
  Incoming::Options incoming = {};
  /// The data of jobs with `has_data`; nullptr: their folders data/D are empty.
  std::shared_ptr<SampleSource> samples = {};
  /// Memory for files of data/D that are or were recently open, bytes.
  std::int64_t sample_bytes = std::int64_t{1} << 30;
};

/// \threadsafety Any thread, several at once. No lock is held during calls of the source.
class Tree {
 public:
  using Handle = std::uint64_t;

  struct Attributes {
    Ino ino = 0;
    bool folder = false;
    bool writable = false;  // by its owner; a folder: files can be created in it
    std::int64_t size = 0;  // of a writable file: at present
    Time born = {};
  };
  /// The result of a read. The fragments are valid as long as this object and the room of the read
  /// exist.
  struct Bytes {
    Fragments fragments;
    std::shared_ptr<const void> alive;
  };

  /// \param sink takes written state; nullptr: the tree is read-only
  Tree(std::shared_ptr<StateSource> source, Time now, TreeOptions options = {},
       std::shared_ptr<StateSink> sink = nullptr);

  /// Finds the entry `name` of a folder. Counts one lookup of it, until Forget.
  /// \error kNotFound; kFailedPrecondition if `folder` is no longer an inode; as StateSource::Jobs
  ///     and FilePlan::Make
  Result<Attributes> Lookup(Ino folder, std::string_view name, Time now);
  void Forget(Ino ino, std::uint64_t count);
  /// The same attributes as from Lookup. Only the size of a written file ever changes.
  /// \error kFailedPrecondition if there is no such inode
  Result<Attributes> Attr(Ino ino);

  /// Opens a file. The first open of a state file of a job pins a view, which later opens share.
  /// \error kFailedPrecondition if the view or the layout of the inode is gone, so that the name
  ///     must be looked up again; as StateSource::Pin
  Result<Handle> Open(Ino ino, Time now);
  /// Reads [offset, offset + room.size()), fewer bytes at the end. See Content::Read.
  Result<Bytes> Read(Handle handle, std::int64_t offset, std::span<std::byte> room);
  /// Closes a file. The last handle on a view releases the view.
  void Release(Handle handle);

  // ---- writing (tree_write.cpp). Each call fails with kUnimplemented if the tree is read-only.
  struct Created {
    Attributes attributes;
    Handle handle = 0;
  };
  /// Creates or truncates a file in the folder of a rank and opens it. Counts one lookup. Only
  /// ranks/R/model.safetensors.new and optimizer.safetensors.new hand state in; other files can be
  /// renamed to these.
  /// \error kUnimplemented for a name that cannot be written; kUnavailable while a transaction
  ///     takes its state; as Lookup
  Result<Created> Create(Ino folder, std::string_view name, Time now);
  /// Opens a written file again.
  /// \error kUnimplemented for an inode that cannot be written; as Incoming::Resize
  Result<Handle> OpenToWrite(Ino ino, bool truncate, Time now);
  /// \error as Incoming::Write; kInvalidArgument for a handle that is not open for writing
  Status Write(Handle handle, std::int64_t offset, std::span<const std::byte> bytes);
  /// See Incoming::MakeRoomAhead. Ignores a closed handle.
  void MakeRoomAhead(Handle handle);
  Result<Attributes> Resize(Ino ino, std::int64_t size);
  /// To be called at each close of a descriptor. See Incoming::Flush; it may last as long as a
  /// transaction. Does nothing for handles of other files.
  Status Flush(Handle handle, Time now);
  Status Unlink(Ino folder, std::string_view name);
  /// Renames inside one folder of a rank.
  /// \param keep_target fail instead of replacing an existing file
  /// \error kAlreadyExists; kUnimplemented for names that cannot be written; as Incoming::Rename
  Status Rename(Ino folder, std::string_view from, std::string_view to, bool keep_target, Time now);

  /// Lists the present names of a folder.
  /// \error as Lookup
  Result<Handle> OpenFolder(Ino ino, Time now);
  /// The entry at `index`, or nullptr past the last one.
  /// \pre the handle comes from OpenFolder and is not released
  const Child* Entry(Handle handle, std::size_t index);
  void ReleaseFolder(Handle handle);
  /// The inode of the parent folder of `ino`; for the root, the root.
  Ino ParentIno(Ino ino);
  /// Whether Lookup, Open or OpenFolder of this inode may wait for a data set that is remote or not
  /// yet indexed. Call them on a thread that no other request waits for. Attr and Read never wait.
  bool MayWait(Ino ino);

  /// Drops views and hand-ins whose time has passed. To be called about once per second.
  void Tick(Time now);
  /// Views that are held, inodes and handles in use.
  struct Usage {
    std::size_t views = 0;
    std::size_t inodes = 0;
    std::size_t handles = 0;
  };
  Usage usage();

 private:
  struct OpenFile {
    ContentPtr content;
    OpenViewPtr view;                    // nullptr for a text
    IncomingFilePtr incoming = nullptr;  // of a written file
    bool writable = false;
  };
  struct Lingering {
    OpenViewPtr view;
    Time until;
  };

  static bool Fits(const StateNode& node, const OpenViewPtr& held);
  Attributes AttributesOf(Ino ino, const Node& node) const;
  Result<NodeKey> FolderKey(Ino ino);
  Result<JobFactsPtr> FactsOf(const std::string& job, Time now);
  OpenViewPtr HeldView(const std::string& job);
  Attributes Counted(Ino ino);
  Attributes FolderOf(const NodeKey& key, Time now);
  Attributes TextOf(const NodeKey& key, ContentPtr text, Time now);
  Result<Attributes> ShareOf(const NodeKey& folder, std::string_view name, const JobFacts& facts,
                             Time now);
  Result<Attributes> StateOf(const NodeKey& key, const JobFacts& facts, Time now);
  std::optional<Ino> UsableState(const NodeKey& key, std::uint64_t layout_hash);
  std::shared_ptr<const FilePlan> PlanOfYoungest(const NodeKey& key, std::uint64_t layout_hash);
  Attributes IncomingOf(IncomingFilePtr file, Time now);
  Result<IncomingFilePtr> WritableAt(Ino ino);
  IncomingFilePtr WrittenThrough(Handle handle);
  Result<JobFactsPtr> FactsNow(const std::string& job, Time now);
  Handle OpenIncoming(IncomingFilePtr file, bool writable);
  Result<OpenViewPtr> Pinned(const std::string& job, Time now);
  Result<OpenFile> OpenState(Ino ino, Time now);
  Result<OpenFile> OpenShare(const ShareFilePtr& file, Time now);
  Error GoneAway(const Node& node, std::string_view why) const;

  const std::shared_ptr<StateSource> source_;
  const TreeOptions options_;
  JobsCache jobs_;
  Incoming incoming_;
  DataFolder data_;

  std::mutex mutex_;  // guards all below
  InodeTable inodes_;
  std::map<std::string, std::weak_ptr<const OpenView>> held_;  // by job
  std::map<std::string, Lingering> lingering_;                 // by job
  std::unordered_map<Handle, std::shared_ptr<const OpenFile>> files_;
  std::unordered_map<Handle, std::vector<Child>> folders_;
  Handle next_handle_ = 1;
};

}  // namespace tessera::engine::vfs
