// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/inode_table.h"

#include <utility>

namespace tessera::engine::vfs {

InodeTable::InodeTable(Time now) { Find(Add({}, now, FolderNode{}))->lookups = 1; }

Node* InodeTable::Find(Ino ino) {
  const auto found = nodes_.find(ino);
  return found == nodes_.end() ? nullptr : &found->second;
}

std::optional<Ino> InodeTable::Youngest(const NodeKey& key) const {
  const auto found = youngest_.find(key);
  return found == youngest_.end() ? std::nullopt : std::optional(found->second);
}

Ino InodeTable::Add(NodeKey key, Time now, NodeBody body) {
  const Ino ino = next_++;
  youngest_[key] = ino;
  nodes_.emplace(ino, Node{std::move(key), now, std::move(body)});
  return ino;
}

void InodeTable::Rename(Ino ino, NodeKey key) {
  Node& node = nodes_.at(ino);
  const auto youngest = youngest_.find(node.key);
  if (youngest != youngest_.end() && youngest->second == ino) youngest_.erase(youngest);
  youngest_[key] = ino;
  node.key = std::move(key);
}

void InodeTable::Forget(Ino ino, std::uint64_t count) {
  const auto found = nodes_.find(ino);
  if (found == nodes_.end() || ino == kRootIno) return;
  if (count < found->second.lookups) {
    found->second.lookups -= count;
    return;
  }
  const auto youngest = youngest_.find(found->second.key);
  if (youngest != youngest_.end() && youngest->second == ino) youngest_.erase(youngest);
  nodes_.erase(found);
}

}  // namespace tessera::engine::vfs
