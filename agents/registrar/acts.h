// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which request of a client began which transaction, so that a repeated request begins no second
/// one, even if an earlier agent of this node received the first.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Rows `act/REQUEST` of the journal. The newest kMost are kept: a client repeats a request for
/// minutes at most.
class Acts {
 public:
  static constexpr std::size_t kMost = 500;

  /// `journal` outlives the object.
  explicit Acts(engine::DurableStore& journal) : journal_(journal) {}

  using SetAside =
      std::function<Status(const std::string& key, const std::string& value, const Error& why)>;
  /// Reads the rows, and erases old ones. Rows that cannot be read are given to `set_aside`.
  /// \error those of the journal and of `set_aside`
  Status Recover(const SetAside& set_aside);
  /// The transaction that the request began. nullopt: none.
  std::optional<std::int64_t> Find(const std::string& request_id) const;
  /// The changes that note the request, to be written with the rows of its transaction. They erase
  /// the oldest row.
  std::vector<engine::RowChange> RowsFor(const std::string& request_id, std::int64_t transaction);

 private:
  engine::DurableStore& journal_;
  std::deque<std::string> order_;  // keys, oldest first
};

}  // namespace tessera::agents
