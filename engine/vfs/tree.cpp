// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/tree.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace tessera::engine::vfs {
namespace {

Error NoSuchInode(Ino ino) {
  return FailedPrecondition(fmt::format("inode {} is no longer in use", ino));
}

bool SameText(const ContentPtr& a, const ContentPtr& b) {
  return a == b ||
         static_cast<const TextContent&>(*a).text() == static_cast<const TextContent&>(*b).text();
}

}  // namespace

Tree::Tree(std::shared_ptr<StateSource> source, Time now, TreeOptions options,
           std::shared_ptr<StateSink> sink)
    : source_(std::move(source)),
      options_(options),
      jobs_(*source_, options.jobs_keep),
      incoming_(std::move(sink), options.incoming, options.samples),
      data_(options.samples, options.sample_bytes),
      inodes_(now) {}

OpenViewPtr Tree::HeldView(const std::string& job) {
  const auto held = held_.find(job);
  return held == held_.end() ? nullptr : held->second.lock();
}

Result<JobFactsPtr> Tree::FactsOf(const std::string& job, Time now) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto held = HeldView(job)) return held->facts;
  }
  TESSERA_TRY(const JobsPtr jobs, jobs_.Get(now));
  const auto found = jobs->find(job);
  if (found == jobs->end()) return NotFound(fmt::format("there is no job '{}'", job));
  return found->second;
}

Result<NodeKey> Tree::FolderKey(Ino ino) {
  const std::lock_guard lock(mutex_);
  const Node* node = inodes_.Find(ino);
  if (node == nullptr) return NoSuchInode(ino);
  if (!IsFolder(node->key)) return InvalidArgument(fmt::format("inode {} is not a folder", ino));
  return node->key;
}

Tree::Attributes Tree::AttributesOf(Ino ino, const Node& node) const {
  Attributes attributes{.ino = ino, .folder = IsFolder(node.key), .born = node.born};
  attributes.writable = node.key.kind == NodeKind::kRank && incoming_.takes();
  if (const auto* text = std::get_if<TextNode>(&node.body)) attributes.size = text->text->size();
  if (const auto* state = std::get_if<StateNode>(&node.body)) attributes.size = state->plan->size();
  if (const auto* incoming = std::get_if<IncomingNode>(&node.body)) {
    attributes.size = incoming->file->size();
    attributes.writable = true;
  }
  if (const auto* share = std::get_if<ShareNode>(&node.body)) attributes.size = share->file->size;
  return attributes;
}

Tree::Attributes Tree::Counted(Ino ino) {
  Node& node = *inodes_.Find(ino);
  ++node.lookups;
  return AttributesOf(ino, node);
}

Tree::Attributes Tree::FolderOf(const NodeKey& key, Time now) {
  const std::lock_guard lock(mutex_);
  const auto ino = inodes_.Youngest(key);
  return Counted(ino ? *ino : inodes_.Add(key, now, FolderNode{}));
}

Tree::Attributes Tree::TextOf(const NodeKey& key, ContentPtr text, Time now) {
  const std::lock_guard lock(mutex_);
  const auto ino = inodes_.Youngest(key);
  if (ino && SameText(std::get<TextNode>(inodes_.Find(*ino)->body).text, text)) {
    return Counted(*ino);
  }
  return Counted(inodes_.Add(key, now, TextNode{std::move(text)}));
}

std::optional<Ino> Tree::UsableState(const NodeKey& key, std::uint64_t layout_hash) {
  const auto ino = inodes_.Youngest(key);
  if (!ino) return std::nullopt;
  const auto& state = std::get<StateNode>(inodes_.Find(*ino)->body);
  const bool usable = state.latent
                          ? state.layout_hash == layout_hash
                          : !state.view.expired() && state.view.lock() == HeldView(key.job);
  return usable ? ino : std::nullopt;
}

std::shared_ptr<const FilePlan> Tree::PlanOfYoungest(const NodeKey& key,
                                                     std::uint64_t layout_hash) {
  const auto ino = inodes_.Youngest(key);
  if (!ino) return nullptr;
  const auto& state = std::get<StateNode>(inodes_.Find(*ino)->body);
  return state.layout_hash == layout_hash ? state.plan : nullptr;
}

Result<Tree::Attributes> Tree::ShareOf(const NodeKey& folder, std::string_view name,
                                       const JobFacts& facts, Time now) {
  TESSERA_TRY(ShareFilePtr file, data_.Find(folder, name, facts));
  const std::lock_guard lock(mutex_);
  const auto ino = inodes_.Youngest(file->key);
  if (ino && SameBytes(*std::get<ShareNode>(inodes_.Find(*ino)->body).file, *file)) {
    return Counted(*ino);
  }
  const NodeKey key = file->key;
  return Counted(inodes_.Add(key, now, ShareNode{std::move(file)}));
}

Result<Tree::Attributes> Tree::StateOf(const NodeKey& key, const JobFacts& facts, Time now) {
  std::shared_ptr<const FilePlan> plan;
  {
    const std::lock_guard lock(mutex_);
    if (const auto ino = UsableState(key, facts.layout_hash)) return Counted(*ino);
    plan = PlanOfYoungest(key, facts.layout_hash);
  }
  if (!plan) {
    TESSERA_TRY(FilePlan made, FilePlan::Make(facts.info, key.rank, key.state_file));
    plan = std::make_shared<const FilePlan>(std::move(made));
  }
  const std::lock_guard lock(mutex_);
  if (const auto ino = UsableState(key, facts.layout_hash)) return Counted(*ino);
  return Counted(inodes_.Add(key, now, StateNode{std::move(plan), facts.layout_hash}));
}

Result<Tree::Attributes> Tree::Lookup(Ino folder, std::string_view name, Time now) {
  Tick(now);
  TESSERA_TRY(const NodeKey parent, FolderKey(folder));
  if (name.empty()) return NotFound("a name is empty");
  if (const auto written = IncomingNamed(parent, name)) {
    if (IncomingFilePtr file = incoming_.Find(*written)) return IncomingOf(std::move(file), now);
  }
  JobFactsPtr facts;
  std::optional<NodeKey> key;
  if (parent.kind == NodeKind::kJobs) {
    key = NodeKey{NodeKind::kJob, std::string(name)};
  } else if (parent.kind == NodeKind::kRoot) {
    key = ChildNamed(parent, name, nullptr);
  }
  const std::string& job = key ? key->job : parent.job;
  if (!job.empty()) {
    TESSERA_TRY(facts, FactsOf(job, now));
  }
  if (parent.kind == NodeKind::kDataRank) return ShareOf(parent, name, *facts, now);
  if (!key) key = ChildNamed(parent, name, facts.get());
  if (!key) return NotFound(fmt::format("there is no '{}' in inode {}", name, folder));
  // The kernel may keep the folder of a rank open while the job shrinks.
  if (key->rank && *key->rank >= facts->info.layout.mesh().num_ranks()) {
    return NotFound(fmt::format("job '{}' no longer has a rank {}", key->job, *key->rank));
  }
  if (IsFolder(*key)) return FolderOf(*key, now);
  if (key->kind == NodeKind::kState) return StateOf(*key, *facts, now);
  return TextOf(*key, TextAt(key->kind, *facts), now);
}

void Tree::Forget(Ino ino, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  inodes_.Forget(ino, count);
}

Result<Tree::Attributes> Tree::Attr(Ino ino) {
  const std::lock_guard lock(mutex_);
  const Node* node = inodes_.Find(ino);
  if (node == nullptr) return NoSuchInode(ino);
  return AttributesOf(ino, *node);
}

Result<Tree::Handle> Tree::OpenFolder(Ino ino, Time now) {
  Tick(now);
  TESSERA_TRY(const NodeKey key, FolderKey(ino));
  std::vector<Child> children;
  if (key.kind == NodeKind::kJobs) {
    TESSERA_TRY(const JobsPtr jobs, jobs_.Get(now));
    std::set<std::string> names;
    for (const auto& [name, facts] : *jobs) names.insert(name);
    const std::lock_guard lock(mutex_);
    for (const auto& [name, view] : held_) {
      if (!view.expired()) names.insert(name);
    }
    for (const std::string& name : names) children.push_back({name, {NodeKind::kJob, name}});
  } else {
    JobFactsPtr facts;
    if (!key.job.empty()) {
      TESSERA_TRY(facts, FactsOf(key.job, now));
    }
    if (key.kind == NodeKind::kDataRank) {
      TESSERA_TRY(children, data_.Children(key, *facts));
    } else {
      children = ChildrenOf(key, facts.get());
      for (Child& child : incoming_.In(key)) children.push_back(std::move(child));
    }
  }
  const std::lock_guard lock(mutex_);
  folders_.emplace(next_handle_, std::move(children));
  return next_handle_++;
}

const Child* Tree::Entry(Handle handle, std::size_t index) {
  const std::lock_guard lock(mutex_);
  const auto found = folders_.find(handle);
  if (found == folders_.end() || index >= found->second.size()) return nullptr;
  return &found->second[index];
}

void Tree::ReleaseFolder(Handle handle) {
  const std::lock_guard lock(mutex_);
  folders_.erase(handle);
}

Ino Tree::ParentIno(Ino ino) {
  const std::lock_guard lock(mutex_);
  const Node* node = inodes_.Find(ino);
  return node == nullptr ? kRootIno : inodes_.Youngest(ParentOf(node->key)).value_or(kRootIno);
}

bool Tree::MayWait(Ino ino) {
  const std::lock_guard lock(mutex_);
  const Node* node = inodes_.Find(ino);
  return node != nullptr &&
         (node->key.kind == NodeKind::kDataRank || node->key.kind == NodeKind::kShare);
}

}  // namespace tessera::engine::vfs
