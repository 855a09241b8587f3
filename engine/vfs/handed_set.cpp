// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/handed_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::engine::vfs {

const HandedPiece* HandedState::Find(int tensor, const ptc::Box& cell) const {
  const auto& pieces = tensors[static_cast<std::size_t>(tensor)];
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const HandedPiece& piece) {
    return ptc::Contains(piece.box, cell);
  });
  return found == pieces.end() ? nullptr : &*found;
}

std::string HandedPath(int rank, StateFile file) {
  return fmt::format("ranks/{}/{}.safetensors.new", rank,
                     file == StateFile::kModel ? "model" : "optimizer");
}

HandedSet::HandedSet(JobInfo job, HandedCellsPtr cells)
    : job_(std::move(job)),
      cells_(std::move(cells)),
      held_(cells_->cells().size()),
      num_missing_(held_.size()) {}

Status HandedSet::Check(const HandedFile& file) const {
  const std::string path = HandedPath(file.rank, file.state_file);
  if (!empty() && step() != file.step) {
    const HandedFile& other = files_.begin()->second.file;
    const std::string waits = HandedPath(other.rank, other.state_file);
    return InvalidArgument(fmt::format(
        "'{}' is of step {}, '{}' of step {}, whose hand-in is not complete ({}): write '{}' for "
        "step {} to begin a new one",
        path, file.step, waits, other.step, Missing(), waits, file.step));
  }
  for (const auto& [cell, digest] : file.cells) {
    if (held_[cell].num_files == 0 || held_[cell].digest == digest) continue;
    const HandedCells::Cell& differs = cells_->cells()[cell];
    const HandedFile& other = *FileWith(cell);
    const auto& specs = job_.layout.collection().tensors();
    const std::string first = HandedPath(other.rank, other.state_file);
    const std::string remedy =
        taken_ ? fmt::format(
                     "whose step {} the job has taken over: to hand in other state, write "
                     "'{}' first",
                     other.step, first)
               : fmt::format("write equal replicas, or remove '{}'", first);
    return InvalidArgument(fmt::format("tensor '{}' {} differs between '{}' and '{}'{} {}",
                                       specs[static_cast<std::size_t>(differs.tensor)].name,
                                       ToString(differs.box), path, first, taken_ ? "," : ":",
                                       remedy));
  }
  return OkStatus();
}

const HandedFile* HandedSet::FileWith(std::size_t cell) const {
  for (const auto& [key, member] : files_) {
    const auto& cells = member.file.cells;
    const auto at = std::ranges::lower_bound(cells, cell, {}, &HandedFile::Cell::cell);
    if (at != cells.end() && at->cell == cell) return &member.file;
  }
  return nullptr;
}

void HandedSet::Add(HandedFile file, std::shared_ptr<const void> alive) {
  for (const auto& [cell, digest] : file.cells) {
    if (held_[cell].num_files++ > 0) continue;
    held_[cell].digest = digest;
    --num_missing_;
  }
  const FileKey key{file.rank, file.state_file};
  if (taken_) file.pieces.clear();  // they point into bytes that nobody keeps
  files_.insert_or_assign(key, Member{std::move(file), std::move(alive)});
}

void HandedSet::Remove(const FileKey& key) {
  const auto found = files_.find(key);
  if (found == files_.end()) return;
  for (const auto& [cell, digest] : found->second.file.cells) {
    if (--held_[cell].num_files == 0) ++num_missing_;
  }
  files_.erase(found);
}

void HandedSet::ReleaseBytes() {
  taken_ = true;
  for (auto& [key, member] : files_) {
    member.file.pieces.clear();
    member.alive.reset();
  }
}

std::vector<HandedSet::FileKey> HandedSet::Keys() const {
  std::vector<FileKey> keys;
  for (const auto& [key, member] : files_) keys.push_back(key);
  return keys;
}

std::string HandedSet::Missing() const {
  const auto missing = std::ranges::find(held_, 0, &Held::num_files);
  if (missing == held_.end()) return fmt::format("{} files", files_.size());
  const HandedCells::Cell& cell =
      cells_->cells()[static_cast<std::size_t>(missing - held_.begin())];
  const auto& spec = job_.layout.collection().tensors()[static_cast<std::size_t>(cell.tensor)];
  return fmt::format("{} of at most {} files; tensor '{}' {} is missing", files_.size(),
                     2 * job_.layout.mesh().num_ranks(), spec.name, ToString(cell.box));
}

HandedStatePtr HandedSet::State() const {
  auto state = std::make_shared<HandedState>(HandedState{job_.name, step(), job_.layout, {}, {}});
  state->tensors.resize(job_.layout.collection().tensors().size());
  for (const auto& [key, member] : files_) {
    for (const auto& [tensor, piece] : member.file.pieces) {
      state->tensors[static_cast<std::size_t>(tensor)].push_back(piece);
    }
    state->alive.push_back(member.alive);
  }
  return state;
}

}  // namespace tessera::engine::vfs
