// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Inode numbers: which are in use, what they mean, and when they go.

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

/// A view that files are open on.
struct OpenView {
  StateViewPtr view;
  JobFactsPtr facts;  // of the view
};
using OpenViewPtr = std::shared_ptr<const OpenView>;

struct FolderNode {};
/// Its text never changes: another text is another inode.
struct TextNode {
  ContentPtr text;
};
/// Shows one view in its life: latent until it is first opened, and stale, for ever, once all files
/// of its view were closed. Its size is the same all along.
struct StateNode {
  std::shared_ptr<const FilePlan> plan;
  std::uint64_t layout_hash = 0;  // of which the plan was made
  bool latent = true;
  std::weak_ptr<const OpenView> view = {};  // set where not latent
};
/// Other samples under its name are another inode.
struct ShareNode {
  ShareFilePtr file;
};
/// The one kind whose content changes: what somebody writes.
struct IncomingNode {
  IncomingFilePtr file;
};
using NodeBody = std::variant<FolderNode, TextNode, StateNode, ShareNode, IncomingNode>;

struct Node {
  NodeKey key;
  Time born = {};
  NodeBody body;
  std::uint64_t lookups = 0;  // how often the kernel was told of it and has not forgotten it
};

/// \threadsafety One thread at a time.
class InodeTable {
 public:
  /// With the root, which stays.
  explicit InodeTable(Time now);
  /// nullptr for a number that is not in use. Good until Forget.
  Node* Find(Ino ino);
  /// The youngest inode of a path.
  std::optional<Ino> Youngest(const NodeKey& key) const;
  /// Takes a number that was never used before. \pre lookups of it follow
  Ino Add(NodeKey key, Time now, NodeBody body);
  /// The file of an inode has another name now.
  void Rename(Ino ino, NodeKey key);
  /// The kernel has forgotten `count` lookups of it; with the last the inode goes.
  void Forget(Ino ino, std::uint64_t count);
  std::size_t size() const { return nodes_.size(); }

 private:
  std::unordered_map<Ino, Node> nodes_;
  std::map<NodeKey, Ino> youngest_;
  Ino next_ = kRootIno;
};

}  // namespace tessera::engine::vfs
