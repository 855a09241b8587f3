// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/acts.h"

#include <algorithm>

#include "engine/history/unreadable_rows.h"

namespace tessera::agents {
namespace {

constexpr char kActs[] = "act/";

}  // namespace

Status Acts::Recover(const SetAside& set_aside) {
  TESSERA_TRY(const auto rows, journal_.List(kActs));
  std::vector<std::pair<std::int64_t, std::string>> acts;  // transaction, key
  for (const auto& [key, value] : rows) {
    const auto transaction = engine::ParseNumberRow(key, value);
    if (transaction) {
      acts.emplace_back(*transaction, key);
    } else {
      TESSERA_RETURN_IF_ERROR(set_aside(key, value, transaction.error()));
    }
  }
  std::ranges::sort(acts);
  const std::size_t num_old = acts.size() - std::min(acts.size(), kMost);
  std::vector<engine::RowChange> old;
  for (std::size_t i = 0; i < acts.size(); ++i) {
    if (i < num_old) {
      old.push_back({acts[i].second, std::nullopt});
    } else {
      order_.push_back(acts[i].second);
    }
  }
  return old.empty() ? OkStatus() : journal_.Write(old);
}

std::optional<std::int64_t> Acts::Find(const std::string& request_id) const {
  if (request_id.empty()) return std::nullopt;
  const std::string key = kActs + request_id;
  const auto row = journal_.Get(key);
  if (!row || !*row) return std::nullopt;
  const auto transaction = engine::ParseNumberRow(key, **row);
  return transaction ? std::optional(*transaction) : std::nullopt;
}

std::vector<engine::RowChange> Acts::RowsFor(const std::string& request_id,
                                             std::int64_t transaction) {
  if (request_id.empty()) return {};
  std::vector<engine::RowChange> rows = {{kActs + request_id, std::to_string(transaction)}};
  order_.push_back(rows.front().key);
  if (order_.size() > kMost) {
    rows.push_back({order_.front(), std::nullopt});
    order_.pop_front();
  }
  return rows;
}

}  // namespace tessera::agents
