// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A CUDA device of this process: its context, the kernels, and queues of work for threads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agents/gpu/cuda_driver.h"
#include "agents/gpu/kernels/cell_work.h"
#include "engine/copy/buffer_pool.h"
#include "ptc/base/result.h"

namespace tessera::agents {

class CudaDevice;

/// A stream with host memory that the device can reach. One thread uses it at a time.
class CudaQueue {
 public:
  /// Host memory of a queue, through which bytes pass between the device and other host memory.
  static constexpr std::size_t kStagingBytes = std::size_t{512} << 10;
  /// Digests that are under way.
  static constexpr int kSlots = 16;

  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue();

  std::span<std::byte> staging() const { return staging_.bytes; }
  /// Valid after Wait.
  /// \pre 0 <= slot && slot < kSlots
  std::uint64_t slot(int index) const {
    return reinterpret_cast<const std::uint64_t*>(slots_.bytes.data())[index];
  }
  /// Of the slot in the memory of the device.
  std::uint64_t SlotAddress(int index) const {
    return device_slots_ +
           static_cast<std::uint64_t>(turn_ * kSlots + index) * sizeof(std::uint64_t);
  }

  /// These begin work, in order, and return before it has ended.
  /// \error kUnavailable naming device and call
  Status Launch(const gpu::CellWork& work);
  /// Sets all slots to 0.
  Status ClearSlots();
  Status Clear(std::uint64_t address, std::int64_t size);
  /// Copies to host memory, which holds the bytes after Wait.
  Status Read(std::uint64_t address, std::span<std::byte> out);
  /// Waits for all of it.
  /// \error as Launch, of any work since the last wait
  Status Wait();
  /// The stream, for work that another library begins.
  cuda::Stream Use() {
    is_busy_ = true;
    return stream_;
  }
  /// Whether all of it has ended.
  /// \error as Wait
  Result<bool> IsDone() const;

 private:
  friend class CudaDevice;
  explicit CudaQueue(const CudaDevice& device) : device_(device) {}

  const CudaDevice& device_;
  cuda::Stream stream_ = nullptr;
  engine::HostBuffer staging_;
  engine::HostBuffer slots_;  // as of the last wait
  /// Of kTurns turns, because clearing them is a call. Atomics of all blocks would be slow over the
  /// bus.
  cuda::DevicePointer device_slots_ = 0;
  static constexpr int kTurns = 256;
  int turn_ = kTurns - 1;
  bool is_busy_ = false;      // work was begun since the last wait
  bool has_digests_ = false;  // that are not in slots_ yet
};

/// \threadsafety Any thread. Its functions make its context the current one of the thread.
class CudaDevice {
 public:
  /// The device is shared while anybody holds it.
  /// \error kUnavailable; kUnimplemented for a device that cannot share memory between processes,
  ///     or a program that was built without kernels
  static Result<std::shared_ptr<const CudaDevice>> Open(int number);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice();

  const CudaDriver& driver() const { return *driver_; }
  const CudaDeviceInfo& info() const { return info_; }
  /// Whether kernels of this device can use the memory of another one.
  bool Reaches(int other) const;
  /// Makes the context current on this thread.
  Status Enter() const;
  /// Waits until everything that this process has begun on the device has ended.
  /// \error kUnavailable
  Status Finish() const;
  /// As CudaDriver::Check, with the name of the device.
  Status Check(cuda::Code code, const char* call) const;

  /// A queue that no other thread uses, until the pointer is released.
  /// \error kUnavailable; kResourceExhausted
  using QueuePtr = std::unique_ptr<CudaQueue, std::function<void(CudaQueue*)>>;
  Result<QueuePtr> TakeQueue() const;
  /// Makes so many queues, and loads the kernels: the driver may do either only when all running
  /// work has ended, and that may wait for another device.
  /// \error as TakeQueue
  Status Warm(unsigned num_queues) const;
  /// Host memory that the devices of this process reach.
  /// \pre whoever holds it holds the device, too
  /// \error as TakeQueue
  Result<engine::HostBuffer> TakeHostBuffer(std::size_t size) const {
    return host_buffers_->Take(size);
  }

 private:
  friend class CudaQueue;
  static Result<std::shared_ptr<const CudaDevice>> OpenFirst(int number);
  CudaDevice(std::shared_ptr<const CudaDriver> driver, CudaDeviceInfo info);
  Status LoadKernels();

  const std::shared_ptr<const CudaDriver> driver_;
  const CudaDeviceInfo info_;
  cuda::Context context_ = nullptr;
  cuda::Module module_ = nullptr;
  cuda::Function cells_ = nullptr;
  int multiprocessors_ = 1;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<CudaQueue>> free_;  // under mutex_
  std::shared_ptr<engine::BufferPool> host_buffers_;
};

}  // namespace tessera::agents
