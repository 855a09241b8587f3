// SPDX-License-Identifier: Apache-2.0
/// \file
/// The functions of the emulated libcuda.so.1.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/gpu/driver_api.h"
#include "agents/gpu/kernels/cell_work.h"
#include "tests/support/cuda_emulation/memory.h"
#include "tests/support/cuda_emulation/settings.h"
#include "tests/support/cuda_emulation/streams.h"

namespace tessera::test::cuda_emulation {
namespace {

using agents::gpu::CellWork;
using cuda::Code;
constexpr Code kUnavailableDevice = 46;  // CUDA_ERROR_DEVICE_UNAVAILABLE
constexpr Code kAlreadyMapped = 208;

/// Tables of objects by the handle that programs have. A stale handle finds nothing.
template <typename Object, typename Handle>
class Table {
 public:
  Handle Add(Object object) {
    const std::lock_guard lock(mutex_);
    objects_.emplace(++next_, std::move(object));
    return std::bit_cast<Handle>(next_);
  }
  std::optional<Object> Find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(std::bit_cast<std::uintptr_t>(handle));
    return found == objects_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Object> Take(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.extract(std::bit_cast<std::uintptr_t>(handle));
    return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
  }
  std::vector<Object> All() const {
    const std::lock_guard lock(mutex_);
    std::vector<Object> out;
    for (const auto& [handle, object] : objects_) out.push_back(object);
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::uintptr_t next_ = 0x10;
  std::map<std::uintptr_t, Object> objects_;
};

struct Driver {
  const Settings settings = ReadSettings(std::getenv("TESSERA_CUDA_EMULATION"));
  std::atomic<bool> is_initialized = false;
  Memory memory{settings};
  Table<std::shared_ptr<Stream>, cuda::Stream> streams;
  Table<std::shared_ptr<Event>, cuda::Event> events;
  Table<int, cuda::Module> modules;      // device
  Table<int, cuda::Function> functions;  // device; there is one kernel
  std::vector<std::atomic<Code>> errors =
      std::vector<std::atomic<Code>>(kMostDevices);  // by device; sticky
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> calls_of_failing = 0;
  std::map<cuda::DevicePointer, std::pair<cuda::AllocationHandle, std::size_t>> plain;
  std::mutex mutex;  // of `plain`, `called` and `failed`
  std::set<std::string, std::less<>> called;
  std::string failed;

  std::string Called() const {
    std::string out;
    for (const std::string& symbol : called) out += (out.empty() ? "" : ":") + symbol;
    return out;
  }

  ~Driver() {
    if (settings.report.empty()) return;
    const Memory::Live live = memory.CountLive();
    if (std::FILE* file = std::fopen(settings.report.c_str(), "a")) {
      std::fprintf(file,
                   "allocations=%zu mappings=%zu reservations=%zu host=%zu streams=%zu events=%zu "
                   "modules=%zu calls=%lld failed=%s called=%s\n",
                   live.allocations, live.mappings, live.reservations, live.host,
                   streams.All().size(), events.All().size(), modules.All().size(),
                   static_cast<long long>(calls.load()), failed.c_str(), Called().c_str());
      std::fclose(file);
    }
  }
};

Driver& TheDriver() {
  static Driver driver;
  return driver;
}

thread_local int current = -1;  // device of the current context

/// A context is its device, so that the handle needs no table.
cuda::Context ContextOf(int device) {
  return std::bit_cast<cuda::Context>(static_cast<std::uintptr_t>(device + 1));
}
int DeviceOf(cuda::Context context) {
  return static_cast<int>(std::bit_cast<std::uintptr_t>(context)) - 1;
}

bool IsDevice(int device) { return device >= 0 && device < TheDriver().settings.devices; }

/// What each call begins with: the errors that the settings ask for.
Code Begin(std::string_view symbol, int device) {
  Driver& driver = TheDriver();
  const std::int64_t call = ++driver.calls;
  const auto& failure = driver.settings.failure;
  const bool fails = failure && (failure->symbol == "*" || failure->symbol == symbol) &&
                     ++driver.calls_of_failing == failure->call;
  {
    const std::lock_guard lock(driver.mutex);
    if (!driver.called.contains(symbol)) driver.called.emplace(symbol);
    if (fails) driver.failed = symbol;
  }
  if (fails) return failure->code;
  if (!driver.is_initialized) return cuda::kNotInitialized;
  if (const auto& vanishing = driver.settings.vanishing;
      vanishing && vanishing->device == device && call > vanishing->calls) {
    return kUnavailableDevice;
  }
  return cuda::kSuccess;
}

Code BeginInContext(std::string_view symbol) {
  const Code code = Begin(symbol, current);
  if (code != cuda::kSuccess) return code;
  if (!IsDevice(current)) return cuda::kInvalidContext;
  return TheDriver().errors[static_cast<std::size_t>(current)];
}

#define TESSERA_BEGIN(symbol) \
  if (const Code code = BeginInContext(symbol); code != cuda::kSuccess) return code

/// Does all work of a device fail from now on? That of an illegal access does, as on a GPU.
Code Remember(int device, Code code) {
  if (code != cuda::kSuccess) TheDriver().errors[static_cast<std::size_t>(device)] = code;
  return code;
}

/// Adds work to a stream of the current device.
Code Add(cuda::Stream handle, std::function<Code(int device)> work) {
  const auto stream = TheDriver().streams.Find(handle);
  if (!stream) return cuda::kInvalidHandle;
  const int device = (*stream)->device();
  (*stream)->Add([work = std::move(work), device] { return Remember(device, work(device)); });
  return cuda::kSuccess;
}

Code WaitForDevice(int device) {
  Code first = cuda::kSuccess;
  for (const auto& stream : TheDriver().streams.All()) {
    if (stream->device() != device) continue;
    const Code code = stream->Wait(stream->added());
    if (first == cuda::kSuccess) first = code;
  }
  return first;
}

/// The addresses of the kernel's argument as the emulation reaches them. Runs of a cell lie in
/// ascending order, so its first and last byte show whether all of it is inside.
bool Translate(int device, const CellWork& work, std::uint64_t begin, std::uint64_t last,
               std::uint64_t& first) {
  if (last < begin) return false;
  std::byte* const found =
      TheDriver().memory.Find(device, begin, static_cast<std::size_t>(last - begin + 1));
  if (found == nullptr) return false;
  first += reinterpret_cast<std::uint64_t>(found) - begin;
  return begin % static_cast<std::uint64_t>(work.unit) == 0;
}

Code RunCells(int device, CellWork work, std::int64_t threads) {
  if (work.begin >= work.end) return cuda::kSuccess;
  const auto at = [&work](std::int64_t byte) {
    agents::gpu::RunStarts starts = agents::gpu::StartsOf(work, byte / work.run_bytes);
    const auto inside = static_cast<std::uint64_t>(byte % work.run_bytes);
    return agents::gpu::RunStarts{starts.from + inside, starts.to + inside, starts.index + inside};
  };
  const agents::gpu::RunStarts begin = at(work.begin), last = at(work.end - 1);
  if (!Translate(device, work, begin.from, last.from, work.from.first)) return kIllegalAddress;
  if (work.to.first != 0 && !Translate(device, work, begin.to, last.to, work.to.first)) {
    return kIllegalAddress;
  }
  std::uint64_t* sum = nullptr;
  if (work.digest != 0) {
    sum = reinterpret_cast<std::uint64_t*>(
        TheDriver().memory.Find(device, work.digest, sizeof(std::uint64_t)));
    if (sum == nullptr) return kIllegalAddress;
  }
  const std::int64_t busy =
      std::min(threads, agents::gpu::NumSegments(work) * std::int64_t{work.group});
  for (std::int64_t thread = 0; thread < busy; ++thread) {
    const std::uint64_t part = agents::gpu::RunCellThread(work, thread, threads);
    if (sum != nullptr) std::atomic_ref(*sum) += part;
  }
  return cuda::kSuccess;
}

/// A pointer of the host: of AllocateHost or any other, since copies take both.
Code CopyBytes(std::byte* to, const std::byte* from, std::size_t size) {
  if (to == nullptr || from == nullptr) return kIllegalAddress;
  std::memmove(to, from, size);
  return cuda::kSuccess;
}

}  // namespace
}  // namespace tessera::test::cuda_emulation

using namespace tessera::test::cuda_emulation;  // NOLINT(google-build-using-namespace)
namespace cuda = tessera::agents::cuda;
using cuda::Code;

#define TESSERA_EXPORT extern "C" __attribute__((visibility("default")))

TESSERA_EXPORT void tessera_cuda_emulation_allow_host_access() {
  TheDriver().memory.AllowHostAccess();
}

// ---- for the emulated NCCL

TESSERA_EXPORT Code tessera_cuda_emulation_add(cuda::Stream stream, Code (*work)(void*, int),
                                               void* context) {
  return Add(stream, [=](int device) { return work(context, device); });
}

TESSERA_EXPORT void* tessera_cuda_emulation_find(int device, cuda::DevicePointer address,
                                                 std::size_t size) {
  return TheDriver().memory.Find(device, address, size);
}

// ---- errors, devices, contexts

TESSERA_EXPORT Code cuGetErrorName(Code code, const char** out) {
  *out = code == cuda::kSuccess ? "CUDA_SUCCESS" : "CUDA_ERROR_EMULATED";
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuGetErrorString(Code code, const char** out) {
  static const std::map<Code, const char*> texts = {
      {cuda::kSuccess, "no error"},
      {cuda::kInvalidValue, "invalid argument"},
      {cuda::kOutOfMemory, "out of memory"},
      {cuda::kNotInitialized, "initialization error"},
      {kUnavailableDevice, "CUDA-capable device(s) is/are busy or unavailable"},
      {cuda::kNoDevice, "no CUDA-capable device is detected"},
      {cuda::kInvalidDevice, "invalid device ordinal"},
      {cuda::kInvalidContext, "invalid device context"},
      {kAlreadyMapped, "resource already mapped"},
      {cuda::kInvalidHandle, "invalid resource handle"},
      {cuda::kNotFound, "named symbol not found"},
      {cuda::kNotReady, "device not ready"},
      {kIllegalAddress, "an illegal memory access was encountered"},
      {cuda::kNotSupported, "operation not supported"},
      {cuda::kUnknown, "unknown error"}};
  const auto found = texts.find(code);
  if (found == texts.end()) return cuda::kInvalidValue;
  *out = found->second;
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuInit(unsigned flags) {
  Driver& driver = TheDriver();
  if (!driver.settings.error.empty()) {
    std::fprintf(stderr, "emulated CUDA driver: TESSERA_CUDA_EMULATION: '%s' is not possible\n",
                 driver.settings.error.c_str());
    return cuda::kInvalidValue;
  }
  if (driver.settings.devices == 0) return cuda::kNoDevice;
  driver.is_initialized = flags == 0;
  const Code code = flags == 0 ? Begin("cuInit", -1) : cuda::kInvalidValue;
  if (code != cuda::kSuccess) driver.is_initialized = false;
  return code;
}

TESSERA_EXPORT Code cuDriverGetVersion(int* out) {
  if (const Code code = Begin("cuDriverGetVersion", -1); code != cuda::kSuccess) return code;
  *out = TheDriver().settings.version;
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuDeviceGetCount(int* out) {
  if (const Code code = Begin("cuDeviceGetCount", -1); code != cuda::kSuccess) return code;
  *out = TheDriver().settings.devices;
  return cuda::kSuccess;
}

#define TESSERA_BEGIN_OF_DEVICE(symbol, device)                                     \
  if (const Code code = Begin(symbol, device); code != cuda::kSuccess) return code; \
  if (!IsDevice(device)) return cuda::kInvalidDevice

TESSERA_EXPORT Code cuDeviceGetName(char* out, int size, cuda::DeviceNumber device) {
  TESSERA_BEGIN_OF_DEVICE("cuDeviceGetName", device);
  std::snprintf(out, static_cast<std::size_t>(size), "emulated CUDA device");
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuDeviceGetUuid_v2(cuda::Uuid* out, cuda::DeviceNumber device) {
  TESSERA_BEGIN_OF_DEVICE("cuDeviceGetUuid_v2", device);
  std::memset(out, 0, sizeof *out);
  out->bytes[0] = static_cast<char>(0xe0);
  out->bytes[15] = static_cast<char>(device);
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuDeviceTotalMem_v2(std::size_t* out, cuda::DeviceNumber device) {
  TESSERA_BEGIN_OF_DEVICE("cuDeviceTotalMem_v2", device);
  *out = TheDriver().settings.memory;
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuDeviceGetAttribute(int* out, cuda::Attribute which,
                                         cuda::DeviceNumber device) {
  TESSERA_BEGIN_OF_DEVICE("cuDeviceGetAttribute", device);
  switch (which) {
    case cuda::kMultiprocessors:
      *out = 4;
      return cuda::kSuccess;
    case cuda::kComputeMajor:
      *out = 9;
      return cuda::kSuccess;
    case cuda::kComputeMinor:
      *out = 0;
      return cuda::kSuccess;
    case cuda::kVirtualMemorySupported:
    case cuda::kPosixHandlesSupported:
      *out = 1;
      return cuda::kSuccess;
  }
  return cuda::kInvalidValue;
}

TESSERA_EXPORT Code cuDeviceCanAccessPeer(int* out, cuda::DeviceNumber device,
                                          cuda::DeviceNumber other) {
  TESSERA_BEGIN_OF_DEVICE("cuDeviceCanAccessPeer", device);
  if (!IsDevice(other)) return cuda::kInvalidDevice;
  const Settings& settings = TheDriver().settings;
  const bool can = settings.all_peers ||
                   settings.peers.contains({std::min(device, other), std::max(device, other)});
  *out = device != other && can ? 1 : 0;
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuDevicePrimaryCtxRetain(cuda::Context* out, cuda::DeviceNumber device) {
  TESSERA_BEGIN_OF_DEVICE("cuDevicePrimaryCtxRetain", device);
  *out = ContextOf(device);
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuDevicePrimaryCtxRelease_v2(cuda::DeviceNumber device) {
  TESSERA_BEGIN_OF_DEVICE("cuDevicePrimaryCtxRelease_v2", device);
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuCtxSetCurrent(cuda::Context context) {
  const int device = DeviceOf(context);
  if (const Code code = Begin("cuCtxSetCurrent", device); code != cuda::kSuccess) return code;
  if (context != nullptr && !IsDevice(device)) return cuda::kInvalidContext;
  current = device;
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuCtxSynchronize() {
  TESSERA_BEGIN("cuCtxSynchronize");
  return WaitForDevice(current);
}

// ---- memory

TESSERA_EXPORT Code cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  TESSERA_BEGIN("cuMemGetInfo_v2");
  *total = TheDriver().settings.memory;
  *free_bytes = *total - std::min(*total, TheDriver().memory.Used(current));
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuMemGetAllocationGranularity(std::size_t* out,
                                                  const cuda::AllocationProperties*, int) {
  TESSERA_BEGIN("cuMemGetAllocationGranularity");
  *out = kGranule;
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuMemCreate(cuda::AllocationHandle* out, std::size_t size,
                                const cuda::AllocationProperties* properties,
                                unsigned long long flags) {
  TESSERA_BEGIN("cuMemCreate");
  if (properties == nullptr || flags != 0 || properties->type != cuda::kAllocationPinned ||
      properties->location.type != cuda::kLocationDevice || !IsDevice(properties->location.id)) {
    return cuda::kInvalidValue;
  }
  return TheDriver().memory.Create(properties->location.id, size, out);
}

TESSERA_EXPORT Code cuMemRelease(cuda::AllocationHandle handle) {
  TESSERA_BEGIN("cuMemRelease");
  return TheDriver().memory.Release(handle);
}

TESSERA_EXPORT Code cuMemExportToShareableHandle(void* out, cuda::AllocationHandle handle, int type,
                                                 unsigned long long flags) {
  TESSERA_BEGIN("cuMemExportToShareableHandle");
  if (type != cuda::kHandlePosixFd || flags != 0) return cuda::kInvalidValue;
  return TheDriver().memory.Export(handle, static_cast<int*>(out));
}

TESSERA_EXPORT Code cuMemImportFromShareableHandle(cuda::AllocationHandle* out, void* handle,
                                                   int type) {
  TESSERA_BEGIN("cuMemImportFromShareableHandle");
  if (type != cuda::kHandlePosixFd) return cuda::kInvalidValue;
  return TheDriver().memory.Import(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)), out);
}

TESSERA_EXPORT Code cuMemAddressReserve(cuda::DevicePointer* out, std::size_t size, std::size_t,
                                        cuda::DevicePointer, unsigned long long) {
  TESSERA_BEGIN("cuMemAddressReserve");
  return TheDriver().memory.Reserve(size, out);
}

TESSERA_EXPORT Code cuMemAddressFree(cuda::DevicePointer address, std::size_t size) {
  TESSERA_BEGIN("cuMemAddressFree");
  return TheDriver().memory.Free(address, size);
}

TESSERA_EXPORT Code cuMemMap(cuda::DevicePointer address, std::size_t size, std::size_t offset,
                             cuda::AllocationHandle handle, unsigned long long flags) {
  TESSERA_BEGIN("cuMemMap");
  if (offset != 0 || flags != 0) return cuda::kInvalidValue;
  return TheDriver().memory.Map(address, size, handle);
}

// Waits for nothing: work that still uses the memory fails then.
TESSERA_EXPORT Code cuMemUnmap(cuda::DevicePointer address, std::size_t size) {
  TESSERA_BEGIN("cuMemUnmap");
  return TheDriver().memory.Unmap(address, size);
}

TESSERA_EXPORT Code cuMemSetAccess(cuda::DevicePointer address, std::size_t size,
                                   const cuda::Access* access, std::size_t count) {
  TESSERA_BEGIN("cuMemSetAccess");
  return TheDriver().memory.SetAccess(address, size, access, count);
}

TESSERA_EXPORT Code cuMemAlloc_v2(cuda::DevicePointer* out, std::size_t size) {
  TESSERA_BEGIN("cuMemAlloc_v2");
  Driver& driver = TheDriver();
  const std::size_t bytes = (size + kGranule - 1) / kGranule * kGranule;
  cuda::AllocationHandle handle = 0;
  if (const Code code = driver.memory.Create(current, bytes, &handle); code != cuda::kSuccess) {
    return code;
  }
  Code code = driver.memory.Reserve(bytes, out);
  if (code == cuda::kSuccess) code = driver.memory.Map(*out, bytes, handle);
  const cuda::Access access{{cuda::kLocationDevice, current}};
  if (code == cuda::kSuccess) code = driver.memory.SetAccess(*out, bytes, &access, 1);
  const std::lock_guard lock(driver.mutex);
  driver.plain.emplace(*out, std::pair(handle, bytes));
  return code;
}

TESSERA_EXPORT Code cuMemFree_v2(cuda::DevicePointer address) {
  TESSERA_BEGIN("cuMemFree_v2");
  Driver& driver = TheDriver();
  const std::lock_guard lock(driver.mutex);
  const auto found = driver.plain.extract(address);
  if (found.empty()) return cuda::kInvalidValue;
  WaitForDevice(current);
  const auto& [handle, bytes] = found.mapped();
  driver.memory.Unmap(address, bytes);
  driver.memory.Free(address, bytes);
  return driver.memory.Release(handle);
}

TESSERA_EXPORT Code cuMemHostAlloc(void** out, std::size_t size, unsigned) {
  TESSERA_BEGIN("cuMemHostAlloc");
  return TheDriver().memory.AllocateHost(size, out);
}

TESSERA_EXPORT Code cuMemFreeHost(void* address) {
  TESSERA_BEGIN("cuMemFreeHost");
  WaitForDevice(current);
  return TheDriver().memory.FreeHost(address);
}

// ---- streams and events

TESSERA_EXPORT Code cuStreamCreate(cuda::Stream* out, unsigned) {
  TESSERA_BEGIN("cuStreamCreate");
  Driver& driver = TheDriver();
  *out = driver.streams.Add(std::make_shared<Stream>(current, driver.settings.latency));
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuStreamDestroy_v2(cuda::Stream handle) {
  TESSERA_BEGIN("cuStreamDestroy_v2");
  return TheDriver().streams.Take(handle) ? cuda::kSuccess : cuda::kInvalidHandle;
}

TESSERA_EXPORT Code cuStreamSynchronize(cuda::Stream handle) {
  TESSERA_BEGIN("cuStreamSynchronize");
  const auto stream = TheDriver().streams.Find(handle);
  return stream ? (*stream)->Wait((*stream)->added()) : cuda::kInvalidHandle;
}

// Whoever asks wants it done: from the first question on it is carried out.
TESSERA_EXPORT Code cuStreamQuery(cuda::Stream handle) {
  TESSERA_BEGIN("cuStreamQuery");
  const auto stream = TheDriver().streams.Find(handle);
  if (!stream) return cuda::kInvalidHandle;
  const std::int64_t count = (*stream)->added();
  if ((*stream)->HasDone(count)) return (*stream)->Wait(count);
  (*stream)->Demand(count);
  return cuda::kNotReady;
}

TESSERA_EXPORT Code cuEventCreate(cuda::Event* out, unsigned) {
  TESSERA_BEGIN("cuEventCreate");
  *out = TheDriver().events.Add(std::make_shared<Event>());
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuEventDestroy_v2(cuda::Event handle) {
  TESSERA_BEGIN("cuEventDestroy_v2");
  return TheDriver().events.Take(handle) ? cuda::kSuccess : cuda::kInvalidHandle;
}

TESSERA_EXPORT Code cuEventRecord(cuda::Event handle, cuda::Stream stream_handle) {
  TESSERA_BEGIN("cuEventRecord");
  const auto event = TheDriver().events.Find(handle);
  const auto stream = TheDriver().streams.Find(stream_handle);
  if (!event || !stream) return cuda::kInvalidHandle;
  **event = {*stream, (*stream)->added()};
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuEventQuery(cuda::Event handle) {
  TESSERA_BEGIN("cuEventQuery");
  const auto event = TheDriver().events.Find(handle);
  if (!event) return cuda::kInvalidHandle;
  const Event& at = **event;
  if (!at.stream || at.stream->HasDone(at.count)) return cuda::kSuccess;
  at.stream->Demand(at.count);
  return cuda::kNotReady;
}

TESSERA_EXPORT Code cuEventSynchronize(cuda::Event handle) {
  TESSERA_BEGIN("cuEventSynchronize");
  const auto event = TheDriver().events.Find(handle);
  if (!event) return cuda::kInvalidHandle;
  return (*event)->stream ? (*event)->stream->Wait((*event)->count) : cuda::kSuccess;
}

TESSERA_EXPORT Code cuStreamWaitEvent(cuda::Stream handle, cuda::Event event_handle, unsigned) {
  TESSERA_BEGIN("cuStreamWaitEvent");
  const auto event = TheDriver().events.Find(event_handle);
  if (!event) return cuda::kInvalidHandle;
  return Add(handle, [at = **event](int) {
    return at.stream ? at.stream->Wait(at.count) : cuda::kSuccess;
  });
}

// ---- work

TESSERA_EXPORT Code cuMemcpyHtoDAsync_v2(cuda::DevicePointer to, const void* from, std::size_t size,
                                         cuda::Stream stream) {
  TESSERA_BEGIN("cuMemcpyHtoDAsync_v2");
  return Add(stream, [=](int device) {
    return CopyBytes(TheDriver().memory.Find(device, to, size), static_cast<const std::byte*>(from),
                     size);
  });
}

TESSERA_EXPORT Code cuMemcpyDtoHAsync_v2(void* to, cuda::DevicePointer from, std::size_t size,
                                         cuda::Stream stream) {
  TESSERA_BEGIN("cuMemcpyDtoHAsync_v2");
  return Add(stream, [=](int device) {
    return CopyBytes(static_cast<std::byte*>(to), TheDriver().memory.Find(device, from, size),
                     size);
  });
}

TESSERA_EXPORT Code cuMemcpyDtoDAsync_v2(cuda::DevicePointer to, cuda::DevicePointer from,
                                         std::size_t size, cuda::Stream stream) {
  TESSERA_BEGIN("cuMemcpyDtoDAsync_v2");
  return Add(stream, [=](int device) {
    Memory& memory = TheDriver().memory;
    return CopyBytes(memory.Find(device, to, size), memory.Find(device, from, size), size);
  });
}

TESSERA_EXPORT Code cuMemsetD8Async(cuda::DevicePointer to, unsigned char value, std::size_t size,
                                    cuda::Stream stream) {
  TESSERA_BEGIN("cuMemsetD8Async");
  return Add(stream, [=](int device) {
    std::byte* const found = TheDriver().memory.Find(device, to, size);
    if (found == nullptr) return kIllegalAddress;
    std::memset(found, value, size);
    return cuda::kSuccess;
  });
}

/// The image is not looked into: all images have the kernels of this tree.
TESSERA_EXPORT Code cuModuleLoadData(cuda::Module* out, const void* image) {
  TESSERA_BEGIN("cuModuleLoadData");
  if (image == nullptr) return cuda::kInvalidValue;
  *out = TheDriver().modules.Add(current);
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuModuleUnload(cuda::Module module) {
  TESSERA_BEGIN("cuModuleUnload");
  return TheDriver().modules.Take(module) ? cuda::kSuccess : cuda::kInvalidHandle;
}

TESSERA_EXPORT Code cuModuleGetFunction(cuda::Function* out, cuda::Module module,
                                        const char* name) {
  TESSERA_BEGIN("cuModuleGetFunction");
  const auto device = TheDriver().modules.Find(module);
  if (!device) return cuda::kInvalidHandle;
  if (std::string_view(name) != tessera::agents::gpu::kCellKernel) return cuda::kNotFound;
  *out = TheDriver().functions.Add(*device);
  return cuda::kSuccess;
}

TESSERA_EXPORT Code cuLaunchKernel(cuda::Function function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned, cuda::Stream stream,
                                   void** arguments, void** extra) {
  TESSERA_BEGIN("cuLaunchKernel");
  const auto device = TheDriver().functions.Find(function);
  if (!device || *device != current) return cuda::kInvalidHandle;
  const std::int64_t blocks = std::int64_t{grid_x} * grid_y * grid_z;
  const std::int64_t threads = std::int64_t{block_x} * block_y * block_z;
  if (arguments == nullptr || extra != nullptr || blocks == 0 || threads == 0 || threads > 1024 ||
      threads % 32 != 0) {
    return cuda::kInvalidValue;
  }
  const auto on_stream = TheDriver().streams.Find(stream);
  if (!on_stream || (*on_stream)->device() != current) return cuda::kInvalidHandle;
  // Arguments are copied at the launch.
  const auto work = *static_cast<const tessera::agents::gpu::CellWork*>(arguments[0]);
  return Add(stream, [work, all = blocks * threads](int on) { return RunCells(on, work, all); });
}
