// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/acts.h"

#include <algorithm>
#include <cstdlib>

namespace tessera::agents {
namespace {

constexpr char kActs[] = "act/";

std::int64_t NumberOf(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

}  // namespace

Status Acts::Recover() {
  TESSERA_TRY(auto rows, journal_.List(kActs));
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return NumberOf(row.second); });
  const std::size_t num_old = rows.size() - std::min(rows.size(), kMost);
  std::vector<engine::RowChange> old;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < num_old) {
      old.push_back({rows[i].first, std::nullopt});
    } else {
      order_.push_back(rows[i].first);
    }
  }
  return old.empty() ? OkStatus() : journal_.Write(old);
}

std::optional<std::int64_t> Acts::Find(const std::string& request_id) const {
  if (request_id.empty()) return std::nullopt;
  const auto row = journal_.Get(kActs + request_id);
  if (!row || !*row) return std::nullopt;
  return NumberOf(**row);
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
