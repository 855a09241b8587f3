// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The journal of a registrar whose role can move: the nodes keep copies of what it says about
/// jobs.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Whether nodes keep rows with this key.
bool IsMirrored(std::string_view key);

/// Writes to the journal first, and then sends the change to all connected nodes: rows of jobs, of
/// the running transaction, of snapshots and checkpoints. The row of a transaction is sent before
/// its Prepare, over the same connections, so no participant has prepared what it could not tell. A
/// node that registers gets all rows. So what a node has is what the registrar had at some
/// revision, and of two copies the one of the later revision is right.
/// \threadsafety The thread of the journal.
class MirroredJournal : public engine::DurableStore {
 public:
  using Send = std::function<void(const std::string& identity,
                                  const std::shared_ptr<const wire::ToNode>& message)>;
  /// The journal outlives it.
  /// \param node on which the registrar runs
  /// \param note gets each revision after it was sent to the nodes; may be absent
  MirroredJournal(engine::DurableStore& journal, std::int64_t generation, std::int32_t node,
                  Send send, std::function<void(std::int64_t revision)> note = {})
      : journal_(journal),
        generation_(generation),
        node_(node),
        send_(std::move(send)),
        note_(std::move(note)) {}
  /// Reads what an earlier process has journaled. Revisions of this one are later. Rows that cannot
  /// be read are set aside, and `set_aside` gets a sentence about each. Nodes count again when they
  /// register. This journal counts as behind if it is unknown whether it is.
  /// \error those of the journal
  Status Recover(std::vector<std::string>* set_aside);
  /// `kept_revision`: of the node's copy. A later one than this journal has ever had shows that
  /// this journal was lost or replaced by an old copy. Then the nodes get nothing, because the next
  /// registrar may need what they have, until the table is rebuilt. That holds across restarts.
  /// \error of the journal
  Status OnRegister(std::int32_t node, const std::string& identity, std::int64_t kept_revision);
  /// A takeover does not wait for the copy of this node any more. If it registers again it counts
  /// again.
  /// \error of the journal
  Status Forget(std::int32_t node);
  /// Whether nodes have later copies.
  bool is_behind() const { return behind_ > 0; }
  /// The table was rebuilt from what nodes hold: their copies are replaced from now on.
  /// \error of the journal
  Status Outrun();
  /// Of a registrar's generation, which is the first part of a revision.
  static std::int64_t GenerationOf(std::int64_t revision);

  Status Write(std::span<const engine::RowChange> changes) override;
  Result<std::string> PutIfAbsent(std::string_view key, std::string_view value) override {
    return journal_.PutIfAbsent(key, value);
  }
  Result<std::optional<std::string>> Get(std::string_view key) override {
    return journal_.Get(key);
  }
  Result<std::vector<std::pair<std::string, std::string>>> List(std::string_view prefix) override {
    return journal_.List(prefix);
  }
  Status Reserve() override { return journal_.Reserve(); }
  Status CheckPlace() const override { return journal_.CheckPlace(); }

 private:
  void Mirror(const engine::RowChange& change);
  void SendAll(const std::string& identity) const;
  /// 0 if the row is missing, nullopt if it was set aside.
  Result<std::optional<std::int64_t>> ReadNumber(const std::string& key,
                                                 std::vector<std::string>* set_aside);
  Status ReadNodes(std::vector<std::string>* set_aside);
  Status NoteNode(std::int32_t node);
  Status WriteNodes();
  void NoteRevision() const;

  engine::DurableStore& journal_;
  const std::int64_t generation_;
  const std::int32_t node_;
  const Send send_;
  const std::function<void(std::int64_t revision)> note_;
  std::map<std::string, std::string, std::less<>> rows_;
  std::map<std::int32_t, std::string> routes_;  // identities of nodes that have registered
  std::set<std::int32_t> nodes_;                // that have ever registered
  std::int64_t revision_ = 0;                   // of the last change
  std::int64_t behind_ = 0;                     // the latest revision of a node; 0: none is later
};

}  // namespace tessera::agents
