// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The write-once register that decides a transaction. A job has numbered slots; the first write to
/// a slot wins, and every read and later write returns that first value.

#include <cstdint>
#include <optional>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// What a decided slot holds.
struct Decision {
  bool commit = false;
  std::int64_t transaction = 0;
  std::int64_t epoch = 0;   // the new one, for a commit
  std::string layout_hash;  // of the new layout, for a commit
  std::int64_t step = 0;    // the version that is committed
  friend bool operator==(const Decision&, const Decision&) = default;
};
std::string ToText(const Decision& decision);
/// \error kDataLoss naming the text.
Result<Decision> ParseDecision(const std::string& text);

class DecisionRegister {
 public:
  virtual ~DecisionRegister() = default;
  /// Writes `decision` unless the slot holds one; returns what it holds, durably.
  /// \error kUnavailable if the store cannot be reached: the outcome is then unknown.
  virtual Result<Decision> Write(const std::string& job, std::int64_t slot,
                                 const Decision& decision) = 0;
  /// What the slot holds, or nullopt.
  virtual Result<std::optional<Decision>> Read(const std::string& job, std::int64_t slot) = 0;
};

}  // namespace tessera::engine
