// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a node keeps of the registrar's journal, so that another node can become the registrar when
/// the first one is gone for good.

#include <string>
#include <vector>

#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A copy of all rows at one revision, which is one row of the node's journal: it is never in
/// between.
/// \threadsafety The loop's thread.
class KeptRows {
 public:
  /// \pre the journal outlives it
  explicit KeptRows(engine::DurableStore& journal) : journal_(journal) {}
  /// A copy that cannot be read is set aside: the registrar sends the next one. `set_aside` gets a
  /// sentence about it.
  /// \error those of the journal
  Status Recover(std::vector<std::string>* set_aside);
  /// Makes the next change. Earlier ones are ignored.
  /// \return false if changes between are missing: the node needs all rows
  /// \error of the journal
  Result<bool> Keep(const wire::KeptRow& row);
  /// Replaces all rows, unless those here are of a later revision.
  /// \error of the journal
  Status Replace(const wire::KeptRows& rows);
  const wire::KeptRows& all() const { return all_; }

 private:
  Status Journal(wire::KeptRows rows);

  engine::DurableStore& journal_;
  wire::KeptRows all_;
};

}  // namespace tessera::agents
