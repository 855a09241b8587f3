// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/handed_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptc/cells.h"
#include "ptc/digest.h"

namespace tessera::engine::vfs {

const HandedPiece* HandedState::Find(int tensor, const ptc::Box& cell) const {
  const auto& pieces = tensors[static_cast<std::size_t>(tensor)];
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const HandedPiece& piece) {
    return ptc::Contains(piece.box, cell);
  });
  return found == pieces.end() ? nullptr : &*found;
}

std::string HandedPath(int rank, Part part) {
  return fmt::format("ranks/{}/{}.safetensors.new", rank,
                     part == Part::kModel ? "model" : "optimizer");
}

HandedSet::HandedSet(JobInfo job) : job_(std::move(job)) {
  const auto devices = ptc::DevicesOf(job_.layout, job_.layout);
  const int count = static_cast<int>(job_.layout.collection().tensors().size());
  for (int t = 0; t < count; ++t) {
    for (ptc::Cell& cell : ptc::MakeCells(ptc::PiecesOf(job_.layout, job_.layout, devices, t))) {
      cells_.push_back({t, std::move(cell.box)});
    }
  }
}

Status HandedSet::Check(const HandedFile& file) const {
  for (const auto& [key, member] : files_) {
    const HandedFile& other = member.file;
    if (other.step != file.step) {
      return InvalidArgument(fmt::format("'{}' is of step {}, '{}' of step {}",
                                         HandedPath(file.rank, file.part), file.step,
                                         HandedPath(other.rank, other.part), other.step));
    }
    if (other.part == file.part) TESSERA_RETURN_IF_ERROR(CheckReplicas(file, other));
  }
  return OkStatus();
}

Status HandedSet::CheckReplicas(const HandedFile& file, const HandedFile& other) const {
  std::multimap<int, const HandedPiece*> of_tensor;
  for (const auto& [tensor, piece] : other.pieces) of_tensor.emplace(tensor, &piece);
  for (const auto& [tensor, piece] : file.pieces) {
    const auto& spec = job_.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
    const auto [begin, end] = of_tensor.equal_range(tensor);
    for (auto it = begin; it != end; ++it) {
      const HandedPiece& theirs = *it->second;
      const auto common = ptc::Intersect(piece.box, theirs.box);
      if (!common) continue;
      const auto digest = [&](const HandedPiece& side) {
        return ptc::DigestBox(spec.dtype, spec.shape, side.box, side.data, *common);
      };
      if (digest(piece) == digest(theirs)) continue;
      return InvalidArgument(fmt::format(
          "tensor '{}' {} is another in '{}' than in '{}'", spec.name, ToString(*common),
          HandedPath(file.rank, file.part), HandedPath(other.rank, other.part)));
    }
  }
  return OkStatus();
}

void HandedSet::Add(HandedFile file, std::shared_ptr<const void> alive) {
  const FileKey key{file.rank, file.part};
  files_.insert_or_assign(key, Member{std::move(file), std::move(alive)});
}

void HandedSet::Remove(const FileKey& key) { files_.erase(key); }

std::vector<HandedSet::FileKey> HandedSet::Keys() const {
  std::vector<FileKey> keys;
  for (const auto& [key, member] : files_) keys.push_back(key);
  return keys;
}

const HandedSet::Cell* HandedSet::FirstMissing() const {
  std::vector<std::vector<const ptc::Box*>> boxes(job_.layout.collection().tensors().size());
  for (const auto& [key, member] : files_) {
    for (const auto& [tensor, piece] : member.file.pieces) {
      boxes[static_cast<std::size_t>(tensor)].push_back(&piece.box);
    }
  }
  for (const Cell& cell : cells_) {
    const auto& there = boxes[static_cast<std::size_t>(cell.tensor)];
    if (std::none_of(there.begin(), there.end(),
                     [&](const ptc::Box* box) { return ptc::Contains(*box, cell.box); })) {
      return &cell;
    }
  }
  return nullptr;
}

bool HandedSet::complete() const { return !files_.empty() && FirstMissing() == nullptr; }

std::string HandedSet::Missing() const {
  const Cell* const cell = FirstMissing();
  if (cell == nullptr) return fmt::format("{} files", files_.size());
  const auto& spec = job_.layout.collection().tensors()[static_cast<std::size_t>(cell->tensor)];
  return fmt::format("{} of at most {} files; tensor '{}' {} is not there yet", files_.size(),
                     2 * job_.layout.mesh().num_ranks(), spec.name, ToString(cell->box));
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
