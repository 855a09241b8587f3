// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/incoming.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/vfs/handed_cursor.h"

namespace tessera::engine::vfs {
namespace {

constexpr std::string_view kNew = ".new";

HandedSet::FileKey InSet(const NodeKey& key) { return {*key.rank, key.state_file}; }

NodeKey KeyOf(const std::string& job, const HandedSet::FileKey& file) {
  return {.kind = NodeKind::kIncoming, .job = job, .rank = file.first, .state_file = file.second};
}

/// The largest file that can be valid under this name or after a rename.
Result<std::int64_t> MaxBytes(const NodeKey& key, const JobInfo& job) {
  if (key.kind == NodeKind::kIncoming) return MaxHandedBytes(job, *key.rank, key.state_file);
  TESSERA_TRY(const std::int64_t model, MaxHandedBytes(job, *key.rank, StateFile::kModel));
  TESSERA_TRY(const std::int64_t optimizer, MaxHandedBytes(job, *key.rank, StateFile::kOptimizer));
  return std::max(model, optimizer);
}

std::string PathOf(const NodeKey& key) {
  return key.kind == NodeKind::kIncoming ? HandedPath(*key.rank, key.state_file)
                                         : fmt::format("ranks/{}/{}", *key.rank, key.scratch);
}

Error BeingTaken(const std::string& job) {
  return Unavailable(
      fmt::format("a transaction is taking the state that was handed in for '{}'", job));
}

}  // namespace

std::optional<NodeKey> IncomingNamed(const NodeKey& rank_folder, std::string_view name) {
  if (rank_folder.kind != NodeKind::kRank || name.empty()) return std::nullopt;
  if (ChildNamed(rank_folder, name, nullptr)) return std::nullopt;
  const bool is_new = name.ends_with(kNew);
  std::optional<NodeKey> key =
      is_new ? ChildNamed(rank_folder, name.substr(0, name.size() - kNew.size()), nullptr)
             : std::nullopt;
  if (key) {
    key->kind = NodeKind::kIncoming;
  } else {
    key = NodeKey{.kind = NodeKind::kScratch, .job = rank_folder.job, .rank = rank_folder.rank};
    key->scratch = name;
  }
  return key;
}

NodeKey IncomingFile::key() const {
  const std::lock_guard lock(mutex_);
  return key_;
}

std::int64_t IncomingFile::size() const {
  const std::lock_guard lock(mutex_);
  return bytes_ ? bytes_->size() : 0;
}

std::size_t IncomingFile::Read(std::int64_t offset, std::span<std::byte> out) const {
  const std::lock_guard lock(mutex_);
  if (!bytes_ || offset >= bytes_->size()) return 0;
  const auto from = bytes_->bytes().subspan(static_cast<std::size_t>(offset));
  const std::size_t count = std::min(from.size(), out.size());
  std::memcpy(out.data(), from.data(), count);
  return count;
}

Incoming::Incoming(std::shared_ptr<StateSink> sink, Options options,
                   std::shared_ptr<SampleSource> samples)
    : sink_(std::move(sink)),
      samples_(std::move(samples)),
      options_(options),
      budget_(std::make_shared<StagingBudget>(options.memory_bytes)) {}

Result<IncomingFilePtr> Incoming::Create(const NodeKey& key, const JobFactsPtr& facts) {
  TESSERA_TRY(const std::int64_t limit, MaxBytes(key, facts->info));
  TESSERA_TRY(auto bytes, StagedBytes::Make(budget_, limit));
  const std::lock_guard lock(mutex_);
  // A file of another layout can never be staged.
  if (const auto old = files_.find(key);
      old != files_.end() && old->second->facts_->layout_hash != facts->layout_hash) {
    if (const Status removed = RemoveLocked(key); !removed) return removed.error();
  }
  IncomingFilePtr& file = files_[key];
  if (!file) file = std::make_shared<IncomingFile>(key, facts, std::move(bytes));
  return file;
}

void Incoming::Open(IncomingFile& file) {
  const std::lock_guard lock(file.mutex_);
  ++file.handles_;
}

Status Incoming::MakeWritable(IncomingFile& file) {
  const std::lock_guard lock(mutex_);
  const std::lock_guard own(file.mutex_);
  switch (file.state_) {
    case IncomingFile::State::kWritten:
      return OkStatus();
    case IncomingFile::State::kFixed:
      return BeingTaken(file.key_.job);
    case IncomingFile::State::kGone:
      return FailedPrecondition(fmt::format("'{}' was removed", PathOf(file.key_)));
    case IncomingFile::State::kStaged:
      break;
  }
  const auto round = rounds_.find(file.key_.job);
  if (round != rounds_.end()) round->second.set.Remove(InSet(file.key_));
  file.state_ = IncomingFile::State::kWritten;
  file.again_ = true;
  return OkStatus();
}

Status Incoming::Write(IncomingFile& file, std::int64_t offset, std::span<const std::byte> bytes) {
  TESSERA_RETURN_IF_ERROR(MakeWritable(file));
  const std::lock_guard lock(file.mutex_);
  if (file.state_ != IncomingFile::State::kWritten) return BeingTaken(file.key_.job);
  return file.bytes_->Write(offset, bytes);
}

Status Incoming::Resize(IncomingFile& file, std::int64_t size) {
  TESSERA_RETURN_IF_ERROR(MakeWritable(file));
  const std::lock_guard lock(file.mutex_);
  if (file.state_ != IncomingFile::State::kWritten) return BeingTaken(file.key_.job);
  return file.bytes_->Resize(size);
}

void Incoming::MakeRoomAhead(IncomingFile& file) {
  std::shared_ptr<StagedBytes> bytes;
  std::span<std::byte> room;
  {
    const std::lock_guard lock(file.mutex_);
    if (file.state_ != IncomingFile::State::kWritten) return;
    bytes = file.bytes_;
    room = bytes->RoomAhead();
  }
  StagedBytes::Touch(room);
}

Status Incoming::Flush(const IncomingFilePtr& file, const JobFactsPtr& now, Time time) {
  {
    const std::lock_guard lock(file->mutex_);
    file->touched_ = time;
    if (file->state_ != IncomingFile::State::kWritten || file->bytes_->size() == 0 ||
        file->key_.kind == NodeKind::kScratch) {
      return OkStatus();
    }
    file->state_ = IncomingFile::State::kFixed;
  }
  return HandIn(file, now, time);
}

Status Incoming::Rename(const NodeKey& from, const NodeKey& to, const JobFactsPtr& now, Time time) {
  const IncomingFilePtr file = Find(from);
  if (!file) return NotFound(fmt::format("'{}' does not exist", PathOf(from)));
  if (from == to) return OkStatus();
  TESSERA_RETURN_IF_ERROR(MakeWritable(*file));
  const bool hands_in = to.kind == NodeKind::kIncoming;
  {
    const std::lock_guard lock(mutex_);
    if (files_.contains(to)) TESSERA_RETURN_IF_ERROR(RemoveLocked(to));
    files_.erase(from);
    files_[to] = file;
    const std::lock_guard own(file->mutex_);
    file->key_ = to;
    file->touched_ = time;
    if (hands_in) file->state_ = IncomingFile::State::kFixed;
  }
  if (!hands_in) return OkStatus();
  Status done = HandIn(file, now, time);
  if (done) return done;
  const std::lock_guard lock(mutex_);
  files_.erase(to);
  files_[from] = file;
  const std::lock_guard own(file->mutex_);
  file->key_ = from;
  return done;
}

/// \pre the file is fixed. After an error it can be written again.
Status Incoming::HandIn(const IncomingFilePtr& file, const JobFactsPtr& now, Time time) {
  const std::string job = file->key().job;
  const Result<bool> staged = Stage(file, now, time);
  if (!staged) {
    BackToWritten(*file);
    sink_->NoteRefused(job, staged.error().ToString());
    return staged.error();
  }
  if (!*staged) return OkStatus();
  Status taken = TakeIfComplete(job);
  if (!taken) BackToWritten(*file);
  return taken;
}

Result<bool> Incoming::Stage(const IncomingFilePtr& file, const JobFactsPtr& now, Time time) {
  const NodeKey key = file->key();
  if (now->layout_hash != file->facts_->layout_hash) {
    return FailedPrecondition(fmt::format("'{}' was created for layout {}, job '{}' has {} now",
                                          PathOf(key), ptc::Hex16(file->facts_->layout_hash),
                                          key.job, ptc::Hex16(now->layout_hash)));
  }
  // A fixed file is not written to, so its bytes are read and digested without a lock.
  const std::shared_ptr<StagedBytes> bytes = file->bytes_;
  const HandedCellsPtr cells = CellsFor(key.job, *now);
  TESSERA_TRY(HandedFile handed, ReadHandedFile(now->info, *cells, *key.rank, key.state_file,
                                                bytes->bytes(), PathOf(key)));
  TESSERA_RETURN_IF_ERROR(CheckHandedCursor(handed, now->info, samples_.get(), PathOf(key)));
  const std::lock_guard lock(mutex_);
  if (Round* const taken = TakenWithout(key, handed, *now)) {
    TESSERA_RETURN_IF_ERROR(taken->set.Check(handed));
    taken->set.Add(std::move(handed), nullptr);
    taken->touched = time;
    Drop(key);
    return false;
  }
  TESSERA_TRY(Round* const round, RoundFor(*file, handed, now, cells));
  TESSERA_RETURN_IF_ERROR(round->set.Check(handed));
  round->set.Add(std::move(handed), bytes);
  round->touched = time;
  const std::lock_guard own(file->mutex_);
  file->state_ = round->taking ? IncomingFile::State::kFixed : IncomingFile::State::kStaged;
  file->again_ = false;
  return true;
}

/// The hand-in that was taken last, if this file is a part of it that has not been written yet.
/// nullptr if the file belongs to a hand-in that waits, or begins one: a file that is written once
/// more after its state was taken hands the same state in again.
Incoming::Round* Incoming::TakenWithout(const NodeKey& key, const HandedFile& handed,
                                        const JobFacts& now) {
  const auto taken = taken_.find(key.job);
  if (taken == taken_.end() || taken->second.layout_hash != now.layout_hash ||
      taken->second.set.step() != handed.step || taken->second.set.Contains(InSet(key))) {
    return nullptr;
  }
  const auto round = rounds_.find(key.job);
  const bool again = round != rounds_.end() && !round->second.set.empty() &&
                     round->second.set.step() == handed.step;
  return again ? nullptr : &taken->second;
}

HandedCellsPtr Incoming::CellsFor(const std::string& job, const JobFacts& now) const {
  {
    const std::lock_guard lock(mutex_);
    const auto round = rounds_.find(job);
    if (round != rounds_.end() && round->second.layout_hash == now.layout_hash) {
      return round->second.set.cells();
    }
  }
  return std::make_shared<const HandedCells>(now.info.layout);
}

Result<Incoming::Round*> Incoming::RoundFor(const IncomingFile& file, const HandedFile& handed,
                                            const JobFactsPtr& now, const HandedCellsPtr& cells) {
  const std::string& job = file.key_.job;
  const auto round = rounds_.find(job);
  if (round != rounds_.end()) {
    const HandedSet& set = round->second.set;
    const bool other_layout = round->second.layout_hash != now->layout_hash;
    if (round->second.taking) {
      const bool joins =
          !other_layout && set.step() == handed.step && !set.Contains(InSet(file.key_));
      if (joins) return &round->second;
      return BeingTaken(job);
    }
    // A file that is rewritten with another step begins a new hand-in.
    const bool other_step = !set.empty() && set.step() != handed.step && file.again_;
    if (!other_layout && !other_step) return &round->second;
    DropRound(job);
  }
  return &rounds_.emplace(job, Round(*now, cells)).first->second;
}

Status Incoming::TakeIfComplete(const std::string& job) {
  HandedStatePtr state;
  {
    const std::lock_guard lock(mutex_);
    const auto found = rounds_.find(job);
    if (found == rounds_.end() || found->second.taking || !found->second.set.complete()) {
      return OkStatus();
    }
    found->second.taking = true;
    SetStates(found->second, IncomingFile::State::kFixed);
    state = found->second.set.State();
  }
  const Status taken = sink_->Take(std::move(state));
  const std::lock_guard lock(mutex_);
  Round& round = rounds_.at(job);
  round.taking = false;
  if (taken) {
    round.set.ReleaseBytes();
    taken_.insert_or_assign(job, round);
    DropRound(job);
  } else {
    SetStates(round, IncomingFile::State::kStaged);
  }
  return taken;
}

void Incoming::SetStates(const Round& round, IncomingFile::State state) {
  for (const auto& [key, file] : files_) {
    if (key.job != round.set.job().name || !round.set.Contains(InSet(key))) continue;
    const std::lock_guard own(file->mutex_);
    file->state_ = state;
  }
}

void Incoming::BackToWritten(IncomingFile& file) {
  const std::lock_guard lock(mutex_);
  const auto round = rounds_.find(file.key_.job);
  if (round != rounds_.end() && !round->second.taking) {
    round->second.set.Remove(InSet(file.key_));
  }
  const std::lock_guard own(file.mutex_);
  if (file.state_ != IncomingFile::State::kGone) file.state_ = IncomingFile::State::kWritten;
}

void Incoming::Release(const IncomingFilePtr& file) {
  const std::lock_guard lock(mutex_);
  {
    const std::lock_guard own(file->mutex_);
    if (--file->handles_ > 0 || file->state_ != IncomingFile::State::kWritten ||
        file->key_.kind == NodeKind::kScratch) {
      return;
    }
  }
  Drop(file->key_);
}

Status Incoming::Remove(const NodeKey& key) {
  const std::lock_guard lock(mutex_);
  return RemoveLocked(key);
}

Status Incoming::RemoveLocked(const NodeKey& key) {
  const auto found = files_.find(key);
  if (found == files_.end()) {
    return NotFound(fmt::format("'{}' does not exist", PathOf(key)));
  }
  {
    const std::lock_guard own(found->second->mutex_);
    if (found->second->state_ == IncomingFile::State::kFixed) return BeingTaken(key.job);
  }
  const auto round = rounds_.find(key.job);
  if (round != rounds_.end()) round->second.set.Remove(InSet(key));
  Drop(key);
  return OkStatus();
}

void Incoming::Drop(const NodeKey& key) {
  const auto found = files_.find(key);
  if (found == files_.end()) return;
  {
    const std::lock_guard own(found->second->mutex_);
    found->second->state_ = IncomingFile::State::kGone;
    found->second->bytes_.reset();
  }
  files_.erase(found);
}

void Incoming::DropRound(const std::string& job) {
  const auto round = rounds_.find(job);
  for (const auto& file : round->second.set.Keys()) Drop(KeyOf(job, file));
  rounds_.erase(round);
}

IncomingFilePtr Incoming::Find(const NodeKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(key);
  return found == files_.end() ? nullptr : found->second;
}

std::vector<Child> Incoming::In(const NodeKey& rank_folder) const {
  std::vector<Child> children;
  if (rank_folder.kind != NodeKind::kRank) return children;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, file] : files_) {
    if (ParentOf(key) != rank_folder) continue;
    const std::string path = PathOf(key);
    children.push_back({path.substr(path.rfind('/') + 1), key});
  }
  return children;
}

void Incoming::Tick(Time now) {
  std::vector<std::pair<std::string, std::string>> late;  // job and why
  {
    const std::lock_guard lock(mutex_);
    for (auto& [job, round] : rounds_) {
      if (round.taking || now - round.touched < options_.patience) continue;
      late.emplace_back(job, round.set.Missing());
    }
    for (const auto& [job, missing] : late) DropRound(job);
    std::erase_if(
        taken_, [&](const auto& taken) { return now - taken.second.touched >= options_.patience; });
    DropForgottenScratch(now);
  }
  for (const auto& [job, missing] : late) {
    sink_->NoteRefused(
        job,
        fmt::format("no file was written for {} s: {}",
                    std::chrono::duration_cast<std::chrono::seconds>(options_.patience).count(),
                    missing));
  }
}

void Incoming::DropForgottenScratch(Time now) {
  std::vector<NodeKey> forgotten;
  for (const auto& [key, file] : files_) {
    const std::lock_guard own(file->mutex_);
    if (key.kind == NodeKind::kScratch && file->handles_ == 0 &&
        now - file->touched_ >= options_.patience) {
      forgotten.push_back(key);
    }
  }
  for (const NodeKey& key : forgotten) Drop(key);
}

}  // namespace tessera::engine::vfs
