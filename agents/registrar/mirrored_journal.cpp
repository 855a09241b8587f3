// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/mirrored_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "agents/registrar/txn_row.h"
#include "engine/history/unreadable_rows.h"
#include "ptc/base/utf8.h"

namespace tessera::agents {
namespace {

// `decision/` is in the register, `act/` matters to clients of this registrar only, and what is
// measured or recorded of steps can be measured and reported again.
constexpr std::array<std::string_view, 6> kPrefixes = {
    "job/",        "ended-job/",           "snapshot/",
    "checkpoint/", "checkpoint-schedule/", "checkpoint-lineage/"};
// A revision has the generation, the number of the process in it, and the number of the change.
// None of them is a time: clocks of machines differ.
constexpr int kGenerationBit = 48, kStartBit = 32;
constexpr const char* kStarts = "mirror-starts";
constexpr const char* kBehind = "mirror-behind";
constexpr const char* kNodes = "mirror-nodes";  // "0 1 2"

}  // namespace

bool IsMirrored(std::string_view key) {
  return key == kTxnKey || key == kRoundKey ||
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

std::int64_t MirroredJournal::GenerationOf(std::int64_t revision) {
  return revision >> kGenerationBit;
}

Status MirroredJournal::Recover(std::vector<std::string>* set_aside) {
  TESSERA_TRY(const auto starts, ReadNumber(kStarts, set_aside));
  const std::int64_t start = 1 + starts.value_or(0);
  TESSERA_RETURN_IF_ERROR(journal_.Put(kStarts, std::to_string(start)));
  revision_ = (generation_ << kGenerationBit) + (start << kStartBit);
  TESSERA_TRY(const auto behind, ReadNumber(kBehind, set_aside));
  behind_ = behind.value_or(revision_);
  if (!behind) {
    TESSERA_RETURN_IF_ERROR(journal_.Put(kBehind, std::to_string(behind_)));
    set_aside->push_back(
        "nodes get no further copies of the job table until `tesseractl registrar rebuild`");
  }
  TESSERA_RETURN_IF_ERROR(ReadNodes(set_aside));
  TESSERA_TRY(auto rows, journal_.List(""));
  for (auto& [key, value] : rows) {
    if (IsMirrored(key)) rows_.insert_or_assign(key, std::move(value));
  }
  return OkStatus();
}

Result<std::optional<std::int64_t>> MirroredJournal::ReadNumber(
    const std::string& key, std::vector<std::string>* set_aside) {
  TESSERA_TRY(const auto row, journal_.Get(key));
  if (!row) return std::optional<std::int64_t>(0);
  const auto number = engine::ParseNumberRow(key, *row);
  if (number) return std::optional(*number);
  TESSERA_TRY(std::string note,
              engine::SetAside(journal_, "registrar.db", key, *row, number.error()));
  set_aside->push_back(std::move(note));
  return std::optional<std::int64_t>();
}

Status MirroredJournal::ReadNodes(std::vector<std::string>* set_aside) {
  TESSERA_TRY(const auto row, journal_.Get(kNodes));
  std::istringstream numbers(row.value_or(std::string()));
  for (std::int32_t node = 0; numbers >> node;) nodes_.insert(node);
  if (numbers.eof()) return OkStatus();
  nodes_.clear();
  const Error why = DataLoss(
      fmt::format("journal row '{}' is '{}', not a list of numbers", kNodes, Escaped(*row)));
  TESSERA_TRY(std::string note, engine::SetAside(journal_, "registrar.db", kNodes, *row, why));
  set_aside->push_back(std::move(note));
  return OkStatus();
}

Status MirroredJournal::OnRegister(std::int32_t node, const std::string& identity,
                                   std::int64_t kept_revision) {
  routes_[node] = identity;
  TESSERA_RETURN_IF_ERROR(NoteNode(node));
  if (kept_revision > revision_) {
    behind_ = std::max(behind_, kept_revision);
    return journal_.Put(kBehind, std::to_string(behind_));
  }
  if (!is_behind()) SendAll(identity);
  return OkStatus();
}

Status MirroredJournal::NoteNode(std::int32_t node) {
  return nodes_.insert(node).second ? WriteNodes() : OkStatus();
}

Status MirroredJournal::Forget(std::int32_t node) {
  routes_.erase(node);
  if (nodes_.erase(node) == 0) return OkStatus();
  TESSERA_RETURN_IF_ERROR(WriteNodes());
  if (is_behind()) return OkStatus();
  ++revision_;
  for (const auto& [other, identity] : routes_) SendAll(identity);
  return OkStatus();
}

Status MirroredJournal::WriteNodes() {
  std::string text;
  for (const std::int32_t known : nodes_) text += std::to_string(known) + ' ';
  return journal_.Put(kNodes, text);
}

Status MirroredJournal::Outrun() {
  if (!is_behind()) return OkStatus();
  constexpr std::int64_t kStartMask = (std::int64_t{1} << (kGenerationBit - kStartBit)) - 1;
  const std::int64_t latest = std::max(behind_, revision_);
  const std::int64_t start = ((latest >> kStartBit) & kStartMask) + 1;
  TESSERA_RETURN_IF_ERROR(journal_.Put(kStarts, std::to_string(start)));
  TESSERA_RETURN_IF_ERROR(journal_.Erase(kBehind));
  revision_ = (generation_ << kGenerationBit) + (start << kStartBit);
  behind_ = 0;
  for (const auto& [node, identity] : routes_) SendAll(identity);
  NoteRevision();
  return OkStatus();
}

void MirroredJournal::NoteRevision() const {
  if (note_) note_(revision_);
}

void MirroredJournal::SendAll(const std::string& identity) const {
  wire::ToNode message;
  wire::KeptRows& all = *message.mutable_keep_rows();
  all.set_revision(revision_);
  all.set_registrar(node_);
  all.mutable_nodes()->Add(nodes_.begin(), nodes_.end());
  for (const auto& [key, value] : rows_) {
    wire::KeptRow& row = *all.add_rows();
    row.set_key(key);
    row.set_value(value);
  }
  send_(identity, std::make_shared<const wire::ToNode>(std::move(message)));
}

Status MirroredJournal::Write(std::span<const engine::RowChange> changes) {
  TESSERA_RETURN_IF_ERROR(journal_.Write(changes));
  for (const engine::RowChange& change : changes) {
    if (change.value ? IsMirrored(change.key) : rows_.contains(change.key)) Mirror(change);
  }
  return OkStatus();
}

void MirroredJournal::Mirror(const engine::RowChange& change) {
  const auto& [key, value] = change;
  wire::ToNode message;
  wire::KeptRow& row = *message.mutable_keep_row();
  row.set_revision(++revision_);
  row.set_key(key);
  row.set_erased(!value.has_value());
  if (value) {
    row.set_value(*value);
    rows_.insert_or_assign(key, *value);
  } else {
    rows_.erase(rows_.find(key));
  }
  if (is_behind()) return;
  const auto shared = std::make_shared<const wire::ToNode>(std::move(message));
  for (const auto& [node, identity] : routes_) send_(identity, shared);
  NoteRevision();
}

}  // namespace tessera::agents
