// SPDX-License-Identifier: Apache-2.0
/// \file
/// Opening, reading and closing files of the tree, and the life of views.

#include <fmt/format.h>

#include <utility>

#include "engine/vfs/tree.h"

namespace tessera::engine::vfs {

Error Tree::GoneAway(const Node& node, std::string_view why) const {
  return FailedPrecondition(
      fmt::format("a file of job '{}' must be looked up again: {}", node.key.job, why));
}

/// Whether the node shows, or can show, the view of its job that is held.
bool Tree::Fits(const StateNode& node, const OpenViewPtr& held) {
  return node.latent ? node.layout_hash == held->facts->layout_hash : node.view.lock() == held;
}

Result<OpenViewPtr> Tree::Pinned(const std::string& job, Time now) {
  TESSERA_TRY(StateViewPtr view, source_->Pin(job));
  const auto jobs = jobs_.Get(now);
  JobFactsPtr known;
  if (jobs) {
    if (const auto found = (*jobs)->find(job); found != (*jobs)->end()) known = found->second;
  }
  JobFactsPtr facts = MakeFacts(view->info(), known);
  jobs_.Update(facts);
  auto fresh = std::make_shared<const OpenView>(OpenView{std::move(view), std::move(facts)});

  const std::lock_guard lock(mutex_);
  if (auto held = HeldView(job)) return held;  // another thread was faster
  held_[job] = fresh;
  return fresh;
}

Result<Tree::OpenFile> Tree::OpenState(Ino ino, Time now) {
  std::string job;
  std::shared_ptr<const FilePlan> plan;
  OpenViewPtr view;
  {
    const std::lock_guard lock(mutex_);
    const Node* node = inodes_.Find(ino);
    if (node == nullptr) return FailedPrecondition(fmt::format("inode {} is not in use", ino));
    const auto& state = std::get<StateNode>(node->body);
    if (!state.latent && state.view.expired()) return GoneAway(*node, "its view was closed");
    job = node->key.job;
    plan = state.plan;
    view = HeldView(job);
  }
  if (!view) {
    TESSERA_TRY(view, Pinned(job, now));
  }
  OpenViewPtr replaced;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    Node* node = inodes_.Find(ino);
    if (node == nullptr) return FailedPrecondition(fmt::format("inode {} is not in use", ino));
    auto& state = std::get<StateNode>(node->body);
    auto& lingering = lingering_[job];
    replaced = std::move(lingering.view);
    if (!Fits(state, view)) {
      lingering = {view, now + options_.linger};
      return GoneAway(*node, "the job has another layout now");
    }
    lingering_.erase(job);
    state.latent = false;
    state.view = view;
  }
  TESSERA_TRY(ContentPtr content, StateContent::Make(std::move(plan), view->view));
  return OpenFile{std::move(content), std::move(view)};
}

Result<Tree::OpenFile> Tree::OpenShare(const ShareFilePtr& file, Time now) {
  TESSERA_TRY(const JobFactsPtr facts, FactsOf(file->key.job, now));
  TESSERA_TRY(ContentPtr content, data_.Open(file, *facts));
  return OpenFile{std::move(content), nullptr};
}

Result<Tree::Handle> Tree::Open(Ino ino, Time now) {
  Tick(now);
  if (auto written = WritableAt(ino)) return OpenIncoming(std::move(*written), false);
  OpenFile file;
  ShareFilePtr share;
  bool is_state = false;
  {
    const std::lock_guard lock(mutex_);
    const Node* node = inodes_.Find(ino);
    if (node == nullptr) return FailedPrecondition(fmt::format("inode {} is not in use", ino));
    if (IsFolder(node->key)) return InvalidArgument(fmt::format("inode {} is a folder", ino));
    is_state = node->key.kind == NodeKind::kState;
    if (const auto* text = std::get_if<TextNode>(&node->body)) file.content = text->text;
    if (const auto* samples = std::get_if<ShareNode>(&node->body)) share = samples->file;
  }
  if (share) {
    TESSERA_TRY(file, OpenShare(share, now));
  }
  if (is_state) {
    TESSERA_TRY(file, OpenState(ino, now));
  }
  const std::lock_guard lock(mutex_);
  files_.emplace(next_handle_, std::make_shared<const OpenFile>(std::move(file)));
  return next_handle_++;
}

Result<Tree::Bytes> Tree::Read(Handle handle, std::int64_t offset, std::span<std::byte> room) {
  std::shared_ptr<const OpenFile> file;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(handle);
    if (found == files_.end()) return InvalidArgument(fmt::format("handle {} is not open", handle));
    file = found->second;
  }
  if (offset < 0) return InvalidArgument(fmt::format("offset {} is negative", offset));
  if (file->incoming) {
    const auto read = room.first(file->incoming->Read(offset, room));
    return Bytes{{read}, std::move(file)};
  }
  TESSERA_TRY(Fragments fragments, file->content->Read(offset, room));
  return Bytes{std::move(fragments), std::move(file)};
}

void Tree::Release(Handle handle) {
  std::shared_ptr<const OpenFile> closed;  // destroyed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(handle);
    if (found == files_.end()) return;
    closed = std::move(found->second);
    files_.erase(found);
  }
  if (closed->incoming) incoming_.Release(closed->incoming);
}

void Tree::Tick(Time now) {
  incoming_.Tick(now);
  std::vector<OpenViewPtr> late;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  for (auto it = lingering_.begin(); it != lingering_.end();) {
    if (it->second.until > now) {
      ++it;
      continue;
    }
    late.push_back(std::move(it->second.view));
    it = lingering_.erase(it);
  }
  std::erase_if(held_, [](const auto& held) { return held.second.expired(); });
}

Tree::Usage Tree::usage() {
  const std::lock_guard lock(mutex_);
  Usage usage{.inodes = inodes_.size(), .handles = files_.size() + folders_.size()};
  for (const auto& [job, view] : held_) {
    if (!view.expired()) ++usage.views;
  }
  return usage;
}

}  // namespace tessera::engine::vfs
