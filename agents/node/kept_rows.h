// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a node keeps of the registrar's journal about its jobs, so that another node can become the
/// registrar when the first one is gone for good.

#include <cstdint>
#include <map>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class KeptRows {
 public:
  /// \pre the journal outlives it
  explicit KeptRows(engine::DurableStore& journal) : journal_(journal) {}
  /// \error those of the journal; kDataLoss naming a row
  Status Recover();
  /// Keeps the row, unless a later revision of it is here. An erased one stays, as a mark against
  /// older copies on other nodes.
  /// \error of the journal
  Status Keep(const wire::KeptRow& row);
  /// All of them.
  Result<wire::KeptRows> All() const;

 private:
  engine::DurableStore& journal_;
  std::map<std::string, std::int64_t> revisions_;  // by key
};

}  // namespace tessera::agents
