// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The file tree over the state of jobs, as inodes and handles: what a kernel asks for, without a
/// kernel. Sizes and offsets are bytes. Which names there are: names.h; why a file never shows two
/// steps: DESIGN.md.

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
  /// How old what is known of jobs may be.
  std::chrono::milliseconds jobs_keep{100};
  /// How long a view waits to be looked up again when the job changed its layout between lookup and
  /// open.
  std::chrono::milliseconds linger{2000};
  Incoming::Options incoming = {};
  /// What jobs with `has_data` read; nullptr: their folders data/R hold nothing.
  std::shared_ptr<SampleSource> samples = {};
  /// Memory for files of data/R, open or opened lately.
  std::int64_t sample_bytes = std::int64_t{1} << 30;
};

/// \threadsafety Any thread, several at once. No lock is held while the source is asked.
class Tree {
 public:
  using Handle = std::uint64_t;

  struct Attributes {
    Ino ino = 0;
    bool folder = false;
    bool writable = false;  // to its owner; of a folder: files can be made in it
    std::int64_t size = 0;  // of a file that is writable: for now
    Time born = {};
  };
  /// What a read gave; the fragments are good as long as this and the room of the read.
  struct Bytes {
    Fragments fragments;
    std::shared_ptr<const void> alive;
  };

  /// \param sink takes what is written; nullptr: nothing can be
  Tree(std::shared_ptr<StateSource> source, Time now, TreeOptions options = {},
       std::shared_ptr<StateSink> sink = nullptr);

  /// The entry `name` of a folder; counts as one lookup of it, until Forget.
  /// \error kNotFound; kFailedPrecondition: `folder` is no inode any more; those of
  ///     StateSource::Jobs and FilePlan::Make
  Result<Attributes> Lookup(Ino folder, std::string_view name, Time now);
  void Forget(Ino ino, std::uint64_t count);
  /// What Lookup gave: nothing of an inode ever changes, but for the size of one that is written.
  /// \error kFailedPrecondition: no such inode
  Result<Attributes> Attr(Ino ino);

  /// The first open of any state file of a job pins a view of it, which the others share.
  /// \error kFailedPrecondition: the inode shows a view that is gone, or a layout that the job no
  ///     longer has: look it up again; those of StateSource::Pin
  Result<Handle> Open(Ino ino, Time now);
  /// The bytes [offset, offset + room.size()), less beyond the end: see Content::Read.
  Result<Bytes> Read(Handle handle, std::int64_t offset, std::span<std::byte> room);
  /// With the last handle on a view the view goes.
  void Release(Handle handle);

  // ---- writing (tree_write.cpp); all of it with kUnimplemented where nothing can be written
  struct Created {
    Attributes attributes;
    Handle handle = 0;
  };
  /// Makes a file in the folder of a rank and opens it, or empties the one that is there; counts as
  /// one lookup. Only ranks/R/model.safetensors.new and optimizer.safetensors.new hand anything in;
  /// others can be renamed to those.
  /// \error kUnimplemented for a name that nothing can be written to; kUnavailable while its state
  ///     is being taken; as Lookup
  Result<Created> Create(Ino folder, std::string_view name, Time now);
  /// \error kUnimplemented for an inode that cannot be written; as Incoming::Resize
  Result<Handle> OpenToWrite(Ino ino, bool truncate, Time now);
  /// \error as Incoming::Write; kInvalidArgument for a handle that is not open to write
  Status Write(Handle handle, std::int64_t offset, std::span<const std::byte> bytes);
  /// See Incoming::MakeRoomAhead. A handle that is gone is passed over.
  void MakeRoomAhead(Handle handle);
  Result<Attributes> Resize(Ino ino, std::int64_t size);
  /// At each close of a descriptor: see Incoming::Flush, which may take as long as a transaction.
  /// Nothing for handles of other files.
  Status Flush(Handle handle, Time now);
  Status Unlink(Ino folder, std::string_view name);
  /// Inside one folder of a rank; in the place of what is there, unless `keep_target`.
  /// \error kAlreadyExists for that; kUnimplemented for names that nothing can be written to; as
  ///     Incoming::Rename
  Status Rename(Ino folder, std::string_view from, std::string_view to, bool keep_target, Time now);

  /// The names in a folder as they are now. \error as Lookup
  Result<Handle> OpenFolder(Ino ino, Time now);
  /// \return nullptr behind the last. \pre the handle is one of OpenFolder and not released
  const Child* Entry(Handle handle, std::size_t index);
  void ReleaseFolder(Handle handle);
  /// Inode of the folder in which that of `ino` stands; the root's is the root.
  Ino ParentIno(Ino ino);
  /// Whether what is asked about the inode, but for attributes and reads, may wait for data that
  /// are far away or not yet gone through: not to be asked where others wait.
  bool MayWait(Ino ino);

  /// Lets go of what waits only for its time. To be called about once a second.
  void Tick(Time now);
  /// Views held, inodes and handles in use.
  struct Usage {
    std::size_t views = 0;
    std::size_t inodes = 0;
    std::size_t handles = 0;
  };
  Usage usage();

 private:
  struct OpenFile {
    ContentPtr content;
    OpenViewPtr view;                    // nullptr for texts
    IncomingFilePtr incoming = nullptr;  // of a file that is written
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
