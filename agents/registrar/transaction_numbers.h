// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The numbers of transactions, pauses and attempts: each is used once, also across restarts.

#include <cstdint>

#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

class TransactionNumbers {
 public:
  /// `journal` outlives the object.
  explicit TransactionNumbers(engine::DurableStore& journal) : journal_(journal) {}

  static constexpr char kKey[] = "next_number";  // its row

  /// The number that the next call of Next returns.
  /// \error those of the journal; kDataLoss if the row is no number
  Result<std::int64_t> Upcoming() const;
  /// \error those of the journal; the number is then not used
  Result<std::int64_t> Next();
  /// Next returns only numbers above `number` from now on.
  Status SkipTo(std::int64_t number);

 private:
  engine::DurableStore& journal_;
};

}  // namespace tessera::agents
