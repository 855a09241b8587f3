// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Streams and events of the emulation. Work is carried out as late as the interface allows: not
/// before somebody waits for it. A program that forgets to wait then finds old bytes.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "agents/gpu/driver_api.h"

namespace tessera::test::cuda_emulation {

namespace cuda = agents::cuda;

/// A queue and the thread that carries it out.
/// \threadsafety Any thread.
class Stream {
 public:
  using Work = std::function<cuda::Code()>;
  Stream(int device, std::chrono::microseconds latency);
  /// Carries out what is left.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  void Add(Work work);
  /// How much was ever added.
  std::int64_t added() const;
  /// Lets the first `count` pieces of work be carried out.
  void Demand(std::int64_t count);
  bool HasDone(std::int64_t count) const;
  /// Demands them and waits.
  /// \return the first error of the stream
  cuda::Code Wait(std::int64_t count);

 private:
  void Run();

  const int device_;
  const std::chrono::microseconds latency_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Work> work_;
  std::int64_t added_ = 0, demanded_ = 0, done_ = 0;
  cuda::Code error_ = cuda::kSuccess;
  bool ends_ = false;
  std::thread thread_;
};

/// A place in a stream.
struct Event {
  std::shared_ptr<Stream> stream;  // null: never recorded
  std::int64_t count = 0;
};

}  // namespace tessera::test::cuda_emulation
