// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The journal of a registrar whose role can move: the nodes of a job keep its rows, too.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Writes to the journal first, and then sends what a later registrar needs: the rows of jobs, of
/// the running transaction, of snapshots and checkpoints. The row of a transaction is sent before
/// its Prepare, over the same connections, so no participant has prepared what it could not tell. A
/// node that connects again gets all that it should have.
/// \threadsafety The thread of the journal.
class MirroredJournal : public engine::DurableStore {
 public:
  using Send = std::function<void(const std::string& identity, const wire::ToNode& message)>;
  /// The journal outlives it. `clock`: grows, also from one registrar to the next; for revisions.
  MirroredJournal(engine::DurableStore& journal, std::function<std::int64_t()> clock, Send send)
      : journal_(journal), clock_(std::move(clock)), send_(std::move(send)) {}
  /// Reads what an earlier registrar on this node has journaled.
  /// \error those of the journal
  Status Recover();
  void OnRegister(std::int32_t node, const std::string& identity);

  Status Put(std::string_view key, std::string_view value) override;
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) override {
    return journal_.PutIfAbsent(key, value);
  }
  Result<std::optional<std::string>> Get(std::string_view key) override {
    return journal_.Get(key);
  }
  Status Erase(std::string_view key) override;
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix) override {
    return journal_.List(prefix);
  }
  Status Reserve() override { return journal_.Reserve(); }

 private:
  struct Row {
    wire::KeptRow row;
    std::set<std::int32_t> nodes;  // that have had it, too
  };
  void Mirror(std::string_view key, std::optional<std::string_view> value);
  /// The nodes that need the row.
  std::set<std::int32_t> NodesFor(const std::string& key, const std::string& value) const;
  void SendRow(std::int32_t node, const wire::KeptRow& row) const;

  engine::DurableStore& journal_;
  const std::function<std::int64_t()> clock_;
  const Send send_;
  std::map<std::string, Row> rows_;
  std::map<std::int32_t, std::string> routes_;  // identities of connected nodes
  std::int64_t revision_ = 0;                   // the last one
};

}  // namespace tessera::agents
