// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The write-once register that decides a transaction. A job has numbered slots. The first write to
/// a slot sets its value, which every read and every later write returns.

#include <cstdint>
#include <optional>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// The value of a slot.
struct Decision {
  bool commit = false;
  std::int64_t transaction = 0;
  std::int64_t epoch = 0;   // the new one, for a commit
  std::string layout_hash;  // of the new layout, for a commit
  std::int64_t step = 0;    // of the committed state
  friend bool operator==(const Decision&, const Decision&) = default;
};
/// The decision to abort.
Decision AbortOf(std::int64_t transaction);
std::string ToText(const Decision& decision);
/// Parses what ToText returns.
/// \error kDataLoss naming the text
Result<Decision> ParseDecision(const std::string& text);

class DecisionRegister {
 public:
  virtual ~DecisionRegister() = default;
  /// Writes `decision` if the slot is empty. Returns the value of the slot, which is durable.
  /// \error kUnavailable if the store is out of reach; the outcome is then unknown
  virtual Result<Decision> Write(const std::string& job, std::int64_t slot,
                                 const Decision& decision) = 0;
  /// The value of the slot, or nullopt.
  virtual Result<std::optional<Decision>> Read(const std::string& job, std::int64_t slot) = 0;
};

}  // namespace tessera::engine
