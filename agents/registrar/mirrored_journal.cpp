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

Status MirroredJournal::Put(std::string_view key, std::string_view value) {
  Status put = journal_.Put(key, value);
  if (put && IsMirrored(key)) Mirror(key, value);
  return put;
}

Status MirroredJournal::Erase(std::string_view key) {
  Status erased = journal_.Erase(key);
  if (erased && rows_.contains(key)) Mirror(key, std::nullopt);
  return erased;
}

void MirroredJournal::Mirror(std::string_view key, std::optional<std::string_view> value) {
  wire::ToNode message;
  wire::KeptRow& row = *message.mutable_keep_row();
  row.set_revision(++revision_);
  row.set_key(std::string(key));
  row.set_erased(!value.has_value());
  if (value) {
    row.set_value(std::string(*value));
    rows_.insert_or_assign(std::string(key), std::string(*value));
  } else {
    rows_.erase(rows_.find(key));
  }
  const auto shared = std::make_shared<const wire::ToNode>(std::move(message));
  for (const auto& [node, identity] : routes_) send_(identity, shared);
}

}  // namespace tessera::agents
