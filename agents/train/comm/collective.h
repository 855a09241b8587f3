// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives of a group of ranks: the only interface to them that the trainer uses.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "agents/train/comm/patience.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

/// A group of ranks, as one of them sees it.
///
/// All ranks of a group make the same calls in the same order. Every rank gets the same bits. A
/// call that fails breaks the group: every later call fails at once on this rank, and soon on the
/// others. A call never touches the memory that it was given after it has returned, even if it
/// failed.
/// \error kCancelled after Abort or when the group is abandoned, kTimeout when a rank does not
///     join, kUnavailable when a rank is lost
/// \threadsafety One thread at a time; any thread may call Abort.
class Collective {
 public:
  virtual ~Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  virtual Status AllReduceSum(std::span<float> values) = 0;
  virtual Status AllReduceMax(std::span<float> values) = 0;
  /// Copies the bytes of every rank into `all`, in rank order.
  /// \pre all.size() == size() * mine.size(), equal sizes on all ranks
  virtual Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Sends to rank `to` of the group, which must call Receive for as many values. Messages between
  /// two ranks arrive in order. Returns when `values` may be changed. Waits for the receiver only
  /// if kMaxInFlight messages to it are not yet received, or if the message is larger than
  /// message_floats. A group that is destroyed loses messages that are not yet received.
  /// \pre to != rank(), GroupOptions.message_floats > 0
  virtual Status Send(int to, std::span<const float> values) = 0;
  /// Receives the next message of rank `from`.
  /// \pre from != rank(), the sender sends values.size() values, GroupOptions.message_floats > 0
  virtual Status Receive(int from, std::span<float> values) = 0;
  static constexpr int kMaxInFlight = 2;
  /// Returns when every rank has called it.
  Status Barrier();
  /// Breaks the group. A waiting call returns within tens of milliseconds.
  virtual void Abort() = 0;

 protected:
  Collective(int rank, int size) : rank_(rank), size_(size) {}

 private:
  const int rank_;
  const int size_;
};
using CollectivePtr = std::shared_ptr<Collective>;

/// How a group is made.
struct GroupOptions {
  std::string name;  // for messages: "dp-t0"
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // of connecting
  std::shared_ptr<const Patience> patience = {};  // of one collective; nullptr: `timeout`
  /// The largest message that Send takes without waiting; equal on all ranks. 0: the group sends no
  /// messages.
  std::size_t message_floats = 0;
  /// Polled while a call waits; true breaks the group. May be empty. Called from any thread.
  std::function<bool()> abandoned = {};

  std::chrono::milliseconds limit() const { return patience ? patience->limit() : timeout; }
};

/// Returns a group of one rank.
CollectivePtr MakeSelfGroup();
/// Returns rank `rank` of a group of `size` ranks whose others do not exist: every call fails.
CollectivePtr MakeLoneGroup(int rank, int size);

}  // namespace tessera::agents::train
