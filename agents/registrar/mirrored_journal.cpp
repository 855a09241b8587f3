// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/mirrored_journal.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "agents/registrar/txn_row.h"

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

}  // namespace

bool IsMirrored(std::string_view key) {
  return key == kTxnKey || key == kRoundKey ||
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

std::int64_t MirroredJournal::GenerationOf(std::int64_t revision) {
  return revision >> kGenerationBit;
}

Status MirroredJournal::Recover() {
  TESSERA_TRY(const auto starts, journal_.Get(kStarts));
  const std::int64_t start = 1 + (starts ? std::strtoll(starts->c_str(), nullptr, 10) : 0);
  TESSERA_RETURN_IF_ERROR(journal_.Put(kStarts, std::to_string(start)));
  revision_ = (generation_ << kGenerationBit) + (start << kStartBit);
  TESSERA_TRY(auto rows, journal_.List(""));
  for (auto& [key, value] : rows) {
    if (IsMirrored(key)) rows_.insert_or_assign(key, std::move(value));
  }
  return OkStatus();
}

void MirroredJournal::OnRegister(std::int32_t node, const std::string& identity) {
  routes_[node] = identity;
  wire::ToNode message;
  wire::KeptRows& all = *message.mutable_keep_rows();
  all.set_revision(revision_);
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
  const auto shared = std::make_shared<const wire::ToNode>(std::move(message));
  for (const auto& [node, identity] : routes_) send_(identity, shared);
}

}  // namespace tessera::agents
