// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The write-once register that decides a transaction. A job has numbered slots. The first write to
/// a slot sets its value, which every read and every later write returns.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

/// One of the servers, or the file, in which the decisions are.
struct RegisterMember {
  std::string place = {};    // "https://10.0.0.1:2379", "/var/lib/tessera/registrar.db"
  std::string version = {};  // of the server; empty: unknown, or a file
  bool leads = false;
  double seconds = 0;        // until it answered
  std::string problem = {};  // empty: it answers
};
struct RegisterStatus {
  std::string store;  // "embedded", "etcd"
  std::vector<RegisterMember> members;
  std::string problem;  // why no decision can be written now; empty: it can
};

/// A store may be on other machines, so each answer comes to a callback: once, on the thread of the
/// caller, inside the call or later, but not after the end of the register.
/// \threadsafety One thread owns it.
class DecisionRegister {
 public:
  template <typename T>
  using Then = std::function<void(Result<T>)>;

  DecisionRegister() = default;
  DecisionRegister(const DecisionRegister&) = delete;
  DecisionRegister& operator=(const DecisionRegister&) = delete;
  virtual ~DecisionRegister() = default;

  /// Writes `decision` if the slot is empty. The answer is the value of the slot, which is durable.
  /// \error kUnavailable if the store is out of reach; the outcome is then unknown
  virtual void Write(const std::string& job, std::int64_t slot, const Decision& decision,
                     Then<Decision> then) = 0;
  /// The value of the slot, or nullopt. It includes every write that was answered before the call,
  /// whoever made it.
  virtual void Read(const std::string& job, std::int64_t slot,
                    Then<std::optional<Decision>> then) = 0;
  /// The last slot of the job that has a value; 0: none.
  virtual void FindLast(const std::string& job, Then<std::int64_t> then) = 0;
  /// Where the decisions are, and whether they can be written now.
  virtual void Look(std::function<void(RegisterStatus)> then) = 0;
};

}  // namespace tessera::engine
