// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agents/gpu/cell_plan.h"
#include "agents/gpu/kernels/image.h"
#include "agents/gpu/pinned_memory.h"

namespace tessera::agents {
namespace {

constexpr unsigned kBlockThreads = 256;
/// Blocks for each multiprocessor: enough to hide the latency of memory.
constexpr int kBlocksEach = 8;

}  // namespace

CudaQueue::~CudaQueue() {
  // Errors of the device have been reported by the work that met them.
  static_cast<void>(device_.Enter());
  const cuda::Functions& api = device_.driver().api();
  if (stream_ != nullptr) api.StreamDestroy(stream_);
  if (device_slots_ != 0) api.MemFree(device_slots_);
}

Status CudaQueue::ClearSlots() {
  if (turn_ + 1 < kTurns) {
    ++turn_;
    return OkStatus();
  }
  TESSERA_RETURN_IF_ERROR(
      Clear(device_slots_, kTurns * kSlots * std::int64_t{sizeof(std::uint64_t)}));
  turn_ = 0;
  return OkStatus();
}

Status CudaQueue::Launch(const gpu::CellWork& work) {
  TESSERA_RETURN_IF_ERROR(device_.Enter());
  const std::int64_t threads = gpu::NumSegments(work) * work.group;
  const std::int64_t blocks =
      std::clamp<std::int64_t>((threads + kBlockThreads - 1) / kBlockThreads, 1,
                               std::int64_t{device_.multiprocessors_} * kBlocksEach);
  gpu::CellWork argument = work;
  is_busy_ = true;
  has_digests_ |= work.digest != 0;
  void* arguments[] = {&argument};
  return device_.Check(
      device_.driver().api().LaunchKernel(device_.cells_, static_cast<unsigned>(blocks), 1, 1,
                                          kBlockThreads, 1, 1, 0, stream_, arguments, nullptr),
      "cuLaunchKernel");
}

Status CudaQueue::Clear(std::uint64_t address, std::int64_t size) {
  TESSERA_RETURN_IF_ERROR(device_.Enter());
  is_busy_ = true;
  return device_.Check(
      device_.driver().api().MemsetD8Async(address, 0, static_cast<std::size_t>(size), stream_),
      "cuMemsetD8Async");
}

Status CudaQueue::Read(std::uint64_t address, std::span<std::byte> out) {
  TESSERA_RETURN_IF_ERROR(device_.Enter());
  is_busy_ = true;
  return device_.Check(
      device_.driver().api().MemcpyDtoHAsync(out.data(), address, out.size(), stream_),
      "cuMemcpyDtoHAsync");
}

Status CudaQueue::Wait() {
  if (!is_busy_) return OkStatus();
  TESSERA_RETURN_IF_ERROR(device_.Enter());
  if (has_digests_) {
    TESSERA_RETURN_IF_ERROR(Read(SlotAddress(0), slots_.bytes));
  }
  TESSERA_RETURN_IF_ERROR(
      device_.Check(device_.driver().api().StreamSynchronize(stream_), "cuStreamSynchronize"));
  is_busy_ = has_digests_ = false;
  return OkStatus();
}

Result<bool> CudaQueue::IsDone() const {
  TESSERA_RETURN_IF_ERROR(device_.Enter());
  const cuda::Code code = device_.driver().api().StreamQuery(stream_);
  if (code == cuda::kNotReady) return false;
  TESSERA_RETURN_IF_ERROR(device_.Check(code, "cuStreamQuery"));
  return true;
}

CudaDevice::CudaDevice(std::shared_ptr<const CudaDriver> driver, CudaDeviceInfo info)
    : driver_(std::move(driver)),
      info_(std::move(info)),
      host_buffers_(std::make_shared<engine::BufferPool>(
          [this](std::size_t size) { return MakePinnedMemory(*this, size); })) {}

Result<std::shared_ptr<const CudaDevice>> CudaDevice::Open(int number) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<const CudaDevice>> open;
  const std::lock_guard lock(mutex);
  if (auto device = open[number].lock()) return device;
  TESSERA_TRY(std::shared_ptr<const CudaDevice> device, OpenFirst(number));
  open[number] = device;
  return device;
}

Result<std::shared_ptr<const CudaDevice>> CudaDevice::OpenFirst(int number) {
  TESSERA_TRY(const std::shared_ptr<const CudaDriver> driver, CudaDriver::Get());
  TESSERA_TRY(CudaDeviceInfo info, driver->Describe(number));
  if (!info.has_shareable_memory) {
    return Error{
        ErrorCode::kUnimplemented,
        fmt::format("CUDA device {} ({}) cannot share memory between processes", number, info.name),
        {}};
  }
  std::shared_ptr<CudaDevice> device(new CudaDevice(driver, std::move(info)));
  TESSERA_RETURN_IF_ERROR(device->Check(driver->api().PrimaryCtxRetain(&device->context_, number),
                                        "cuDevicePrimaryCtxRetain"));
  TESSERA_RETURN_IF_ERROR(device->LoadKernels());
  return device;
}

Status CudaDevice::LoadKernels() {
  TESSERA_RETURN_IF_ERROR(Enter());
  const cuda::Functions& api = driver_->api();
  if (!gpu::HasKernels() && !driver_->is_emulated()) {
    return Error{ErrorCode::kUnimplemented,
                 fmt::format("CUDA device {} ({}): this program was built without nvcc, so it has "
                             "no kernels (packaging/cuda says what to install)",
                             info_.number, info_.name),
                 {}};
  }
  TESSERA_RETURN_IF_ERROR(
      Check(api.ModuleLoadData(&module_, gpu::KernelImage().data()), "cuModuleLoadData"));
  TESSERA_RETURN_IF_ERROR(
      Check(api.ModuleGetFunction(&cells_, module_, gpu::kCellKernel), "cuModuleGetFunction"));
  return Check(api.DeviceGetAttribute(&multiprocessors_, cuda::kMultiprocessors, info_.number),
               "cuDeviceGetAttribute");
}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  static_cast<void>(Enter());
  free_.clear();
  host_buffers_.reset();
  if (module_ != nullptr) driver_->api().ModuleUnload(module_);
  driver_->api().PrimaryCtxRelease(info_.number);
}

bool CudaDevice::Reaches(int other) const {
  return other == info_.number ||
         std::find(info_.peers.begin(), info_.peers.end(), other) != info_.peers.end();
}

Status CudaDevice::Enter() const {
  return Check(driver_->api().CtxSetCurrent(context_), "cuCtxSetCurrent");
}

Status CudaDevice::Finish() const {
  TESSERA_RETURN_IF_ERROR(Enter());
  return Check(driver_->api().CtxSynchronize(), "cuCtxSynchronize");
}

Status CudaDevice::Check(cuda::Code code, const char* call) const {
  if (code == cuda::kSuccess) return OkStatus();
  return driver_->Check(code, fmt::format("device {} ({}): {}", info_.number, info_.name, call));
}

Status CudaDevice::Warm(unsigned num_queues) const {
  std::vector<QueuePtr> queues;
  for (unsigned i = 0; i < num_queues; ++i) {
    TESSERA_TRY(queues.emplace_back(), TakeQueue());
  }
  if (queues.empty()) return OkStatus();
  CudaQueue& queue = *queues.front();
  const ptc::Box one = *ptc::Box::Whole({1});
  const engine::CellView from(one, one, 1, queue.staging().data());
  const auto to = reinterpret_cast<std::uint64_t>(queue.staging().data() + 1);
  TESSERA_RETURN_IF_ERROR(queue.Launch(gpu::PackWork(from, {to, 0}, nullptr, 1, 0)));
  return queue.Wait();
}

Result<CudaDevice::QueuePtr> CudaDevice::TakeQueue() const {
  std::unique_ptr<CudaQueue> queue;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      queue = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!queue) {
    TESSERA_RETURN_IF_ERROR(Enter());
    const cuda::Functions& api = driver_->api();
    queue.reset(new CudaQueue(*this));
    TESSERA_RETURN_IF_ERROR(
        Check(api.StreamCreate(&queue->stream_, cuda::kStreamNonBlocking), "cuStreamCreate"));
    TESSERA_TRY(queue->staging_, MakePinnedMemory(*this, CudaQueue::kStagingBytes));
    TESSERA_TRY(queue->slots_, MakePinnedMemory(*this, CudaQueue::kSlots * sizeof(std::uint64_t)));
    TESSERA_RETURN_IF_ERROR(
        Check(api.MemAlloc(&queue->device_slots_,
                           CudaQueue::kTurns * CudaQueue::kSlots * sizeof(std::uint64_t)),
              "cuMemAlloc"));
  }
  return QueuePtr(queue.release(), [this](CudaQueue* used) {
    std::unique_ptr<CudaQueue> back(used);
    // Work may be left behind by an error.
    if (!back->Wait()) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(back));
  });
}

}  // namespace tessera::agents
