// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of a group of ranks: the one interface that the trainer knows, whatever carries
/// them.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::agents::train {

/// A group of ranks as one of them sees it.
///
/// All ranks of a group make the same calls in the same order. Every rank gets the same bits. A
/// call that fails leaves the group broken: every later call fails at once, on this rank and soon
/// on the others. Memory that is handed in is no longer touched once the call has returned, also
/// when it failed.
/// \error kCancelled after Abort or when the group is abandoned, kTimeout when a rank did not come,
///     kUnavailable when a rank is gone
/// \threadsafety One thread at a time; Abort may come from any.
class Collective {
 public:
  virtual ~Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  virtual Status AllReduceSum(std::span<float> values) = 0;
  virtual Status AllReduceMax(std::span<float> values) = 0;
  /// Puts every rank's bytes into `all`, in rank order.
  /// \pre all.size() == size() * mine.size(), equal sizes on all ranks
  virtual Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Sends to rank `to` of the group, which must Receive as many values. Messages between two ranks
  /// arrive in order. Returns when `values` may be changed; waits for the receiver only where
  /// kMaxInFlight messages to it are not yet taken, or the message is larger than what the group
  /// was made for. A group that is destroyed loses what has not been received.
  /// \pre to != rank(), GroupOptions.message_floats > 0
  virtual Status Send(int to, std::span<const float> values) = 0;
  /// The next message of rank `from`. \pre from != rank(), the sender sends values.size() values,
  /// GroupOptions.message_floats > 0
  virtual Status Receive(int from, std::span<float> values) = 0;
  static constexpr int kMaxInFlight = 2;
  /// Returns when every rank has come.
  Status Barrier();
  /// Breaks the group: a call that waits returns within tens of milliseconds.
  virtual void Abort() = 0;

 protected:
  Collective(int rank, int size) : rank_(rank), size_(size) {}

 private:
  const int rank_;
  const int size_;
};
using CollectivePtr = std::shared_ptr<Collective>;

/// What a group is told when it is made.
struct GroupOptions {
  std::string name;  // for messages: "dp-t0"
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // of one collective
  /// Of the messages that Send takes at once, at most; all ranks say the same. 0: none are sent.
  std::size_t message_floats = 0;
  /// Polled while a collective or a message waits; true breaks the group. May be empty. Called from
  /// any thread.
  std::function<bool()> abandoned = {};
};

/// A group of one rank.
CollectivePtr MakeSelfGroup();

}  // namespace tessera::agents::train
