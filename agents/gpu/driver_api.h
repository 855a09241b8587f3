// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The part of the CUDA driver API that Tessera uses, declared here because it is looked up at run
/// time: a build needs no CUDA and a program starts without a driver. Names, values and layouts are
/// those of the driver API reference (CUDA 12 and 13); tests/agents/gpu/cuda_header_test compares
/// them with cuda.h where that is installed.

#include <cstddef>
#include <cstdint>

namespace tessera::agents::cuda {

using Code = int;  // CUresult
inline constexpr Code kSuccess = 0;
inline constexpr Code kInvalidValue = 1;
inline constexpr Code kOutOfMemory = 2;
inline constexpr Code kNotInitialized = 3;
inline constexpr Code kNoDevice = 100;
inline constexpr Code kInvalidDevice = 101;
inline constexpr Code kInvalidContext = 201;
inline constexpr Code kPeerAccessAlreadyEnabled = 704;
inline constexpr Code kInvalidHandle = 400;
inline constexpr Code kNotFound = 500;
inline constexpr Code kNotReady = 600;
inline constexpr Code kNotSupported = 801;
inline constexpr Code kPeerAccessUnsupported = 217;
inline constexpr Code kUnknown = 999;

using DeviceNumber = int;                // CUdevice
using DevicePointer = std::uint64_t;     // CUdeviceptr
using AllocationHandle = std::uint64_t;  // CUmemGenericAllocationHandle
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;

struct Uuid {
  char bytes[16];
};

/// CUdevice_attribute
enum Attribute : int {
  kMultiprocessors = 16,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kVirtualMemorySupported = 102,
  kPosixHandlesSupported = 103,
};

inline constexpr int kLocationDevice = 1;      // CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr int kAllocationPinned = 1;    // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int kHandlePosixFd = 1;       // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
inline constexpr int kAccessReadWrite = 3;     // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
inline constexpr int kGranularityMinimum = 0;  // CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventNoTiming = 2;

/// CUmemLocation
struct Location {
  int type = kLocationDevice;
  int id = 0;
};
/// CUmemAllocationProp
struct AllocationProperties {
  int type = kAllocationPinned;
  int requested_handles = kHandlePosixFd;
  Location location;
  void* windows_only = nullptr;
  struct {
    unsigned char compression = 0, rdma_capable = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};
/// CUmemAccessDesc
struct Access {
  Location location;
  int flags = kAccessReadWrite;
};

/// Every function: X(name, symbol of the library, parameters).
#define TESSERA_CUDA_FUNCTIONS(X)                                                                  \
  X(GetErrorName, "cuGetErrorName", (Code, const char**))                                          \
  X(GetErrorString, "cuGetErrorString", (Code, const char**))                                      \
  X(Init, "cuInit", (unsigned))                                                                    \
  X(DriverGetVersion, "cuDriverGetVersion", (int*))                                                \
  X(DeviceGetCount, "cuDeviceGetCount", (int*))                                                    \
  X(DeviceGetName, "cuDeviceGetName", (char*, int, DeviceNumber))                                  \
  X(DeviceGetUuid, "cuDeviceGetUuid_v2", (Uuid*, DeviceNumber))                                    \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", (std::size_t*, DeviceNumber))                           \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int*, Attribute, DeviceNumber))                   \
  X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int*, DeviceNumber, DeviceNumber))              \
  X(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context*, DeviceNumber))                        \
  X(PrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber))                             \
  X(CtxSetCurrent, "cuCtxSetCurrent", (Context))                                                   \
  X(CtxSynchronize, "cuCtxSynchronize", ())                                                        \
  X(MemGetInfo, "cuMemGetInfo_v2", (std::size_t*, std::size_t*))                                   \
  X(MemGetGranularity, "cuMemGetAllocationGranularity",                                            \
    (std::size_t*, const AllocationProperties*, int))                                              \
  X(MemCreate, "cuMemCreate",                                                                      \
    (AllocationHandle*, std::size_t, const AllocationProperties*, unsigned long long))             \
  X(MemRelease, "cuMemRelease", (AllocationHandle))                                                \
  X(MemExport, "cuMemExportToShareableHandle", (void*, AllocationHandle, int, unsigned long long)) \
  X(MemImport, "cuMemImportFromShareableHandle", (AllocationHandle*, void*, int))                  \
  X(MemAddressReserve, "cuMemAddressReserve",                                                      \
    (DevicePointer*, std::size_t, std::size_t, DevicePointer, unsigned long long))                 \
  X(MemAddressFree, "cuMemAddressFree", (DevicePointer, std::size_t))                              \
  X(MemMap, "cuMemMap",                                                                            \
    (DevicePointer, std::size_t, std::size_t, AllocationHandle, unsigned long long))               \
  X(MemUnmap, "cuMemUnmap", (DevicePointer, std::size_t))                                          \
  X(MemSetAccess, "cuMemSetAccess", (DevicePointer, std::size_t, const Access*, std::size_t))      \
  X(MemAlloc, "cuMemAlloc_v2", (DevicePointer*, std::size_t))                                      \
  X(MemFree, "cuMemFree_v2", (DevicePointer))                                                      \
  X(MemHostAlloc, "cuMemHostAlloc", (void**, std::size_t, unsigned))                               \
  X(MemFreeHost, "cuMemFreeHost", (void*))                                                         \
  X(StreamCreate, "cuStreamCreate", (Stream*, unsigned))                                           \
  X(StreamDestroy, "cuStreamDestroy_v2", (Stream))                                                 \
  X(StreamSynchronize, "cuStreamSynchronize", (Stream))                                            \
  X(StreamQuery, "cuStreamQuery", (Stream))                                                        \
  X(StreamWaitEvent, "cuStreamWaitEvent", (Stream, Event, unsigned))                               \
  X(EventCreate, "cuEventCreate", (Event*, unsigned))                                              \
  X(EventDestroy, "cuEventDestroy_v2", (Event))                                                    \
  X(EventRecord, "cuEventRecord", (Event, Stream))                                                 \
  X(EventQuery, "cuEventQuery", (Event))                                                           \
  X(EventSynchronize, "cuEventSynchronize", (Event))                                               \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (DevicePointer, const void*, std::size_t, Stream))    \
  X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void*, DevicePointer, std::size_t, Stream))          \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (DevicePointer, DevicePointer, std::size_t, Stream))  \
  X(MemsetD8Async, "cuMemsetD8Async", (DevicePointer, unsigned char, std::size_t, Stream))         \
  X(ModuleLoadData, "cuModuleLoadData", (Module*, const void*))                                    \
  X(ModuleUnload, "cuModuleUnload", (Module))                                                      \
  X(ModuleGetFunction, "cuModuleGetFunction", (Function*, Module, const char*))                    \
  X(LaunchKernel, "cuLaunchKernel",                                                                \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,       \
     void**, void**))

/// Pointers to all of them. Every one returns a Code.
struct Functions {
#define TESSERA_CUDA_MEMBER(name, symbol, parameters) Code(*name) parameters = nullptr;
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_MEMBER)
#undef TESSERA_CUDA_MEMBER
};

/// A library that emulates the driver exports this function, which a real one does not have. The
/// device memory of this process becomes readable and writable for its host code, as the CPU code
/// of the built-in job needs it. Without the call, such an access ends the process, as on a GPU.
inline constexpr const char* kAllowHostAccessSymbol = "tessera_cuda_emulation_allow_host_access";
using AllowHostAccess = void();

}  // namespace tessera::agents::cuda
