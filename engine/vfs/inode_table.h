// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The inodes that the kernel knows, and their numbers.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

#include "engine/vfs/content.h"
#include "engine/vfs/data_folder.h"
#include "engine/vfs/incoming.h"
#include "engine/vfs/job_facts.h"
#include "engine/vfs/names.h"

namespace tessera::engine::vfs {

using Ino = std::uint64_t;
inline constexpr Ino kRootIno = 1;

/// A view with open files.
struct OpenView {
  StateViewPtr view;
  JobFactsPtr facts;  // of the view
};
using OpenViewPtr = std::shared_ptr<const OpenView>;

struct FolderNode {};
/// The text of an inode never changes; a new text gets a new inode.
struct TextNode {
  ContentPtr text;
};
/// Shows one view only. It is latent until it is opened for the first time, and stale once all
/// files of its view are closed. Its size never changes.
struct StateNode {
  std::shared_ptr<const FilePlan> plan;
  std::uint64_t layout_hash = 0;  // of the plan's layout
  bool latent = true;
  std::weak_ptr<const OpenView> view = {};  // set unless latent
};
/// The samples of an inode never change; other samples get a new inode.
struct ShareNode {
  ShareFilePtr file;
};
/// A file that is being written: the only kind whose content changes.
struct IncomingNode {
  IncomingFilePtr file;
};
using NodeBody = std::variant<FolderNode, TextNode, StateNode, ShareNode, IncomingNode>;

struct Node {
  NodeKey key;
  Time born = {};
  NodeBody body;
  std::uint64_t lookups = 0;  // that the kernel has not forgotten
};

/// \threadsafety One thread at a time.
class InodeTable {
 public:
  /// Adds the root, which stays.
  explicit InodeTable(Time now);
  /// nullptr for a number that is not in use. Valid until Forget.
  Node* Find(Ino ino);
  /// The youngest inode of a path.
  std::optional<Ino> Youngest(const NodeKey& key) const;
  /// Adds an inode with a number that was never used before.
  /// \pre lookups of it follow
  Ino Add(NodeKey key, Time now, NodeBody body);
  /// Gives the file of an inode another name.
  void Rename(Ino ino, NodeKey key);
  /// Subtracts `count` lookups and removes the inode if none is left.
  void Forget(Ino ino, std::uint64_t count);
  std::size_t size() const { return nodes_.size(); }

 private:
  std::unordered_map<Ino, Node> nodes_;
  std::map<NodeKey, Ino> youngest_;
  Ino next_ = kRootIno;
};

}  // namespace tessera::engine::vfs
