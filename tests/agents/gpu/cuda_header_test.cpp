// SPDX-License-Identifier: Apache-2.0
// The declarations of agents/gpu against the headers of CUDA and NCCL: values, layouts, parameters.
#include <QTest>
#include <cstddef>
#include <type_traits>

#include "agents/gpu/driver_api.h"
#include "agents/gpu/nccl_api.h"
#include "tests/support/test_main.h"

#ifdef TESSERA_HAS_CUDA_HEADERS
#include <cuda.h>
#include <nccl.h>

namespace {

namespace cuda = tessera::agents::cuda;
namespace nccl = tessera::agents::nccl;

/// Whether a value of one type is passed as one of the other: the same size, and both of pointers,
/// of integers or enums, or of structs.
template <typename A, typename B>
constexpr bool kSame =
    sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
    std::is_pointer_v<A> == std::is_pointer_v<B>&& std::is_class_v<A> == std::is_class_v<B>;

template <typename A, typename B>
struct Signatures : std::false_type {};
template <typename A, typename... As, typename B, typename... Bs>
requires(sizeof...(As) == sizeof...(Bs)) struct Signatures<A (*)(As...), B (*)(Bs...)>
    : std::bool_constant<kSame<A, B> && (kSame<As, Bs> && ...)> {
};

#define TESSERA_SAME(name, symbol) \
  static_assert(Signatures<decltype(cuda::Functions::name), decltype(&symbol)>::value, #symbol)
TESSERA_SAME(GetErrorName, cuGetErrorName);
TESSERA_SAME(GetErrorString, cuGetErrorString);
TESSERA_SAME(Init, cuInit);
TESSERA_SAME(DriverGetVersion, cuDriverGetVersion);
TESSERA_SAME(DeviceGetCount, cuDeviceGetCount);
TESSERA_SAME(DeviceGetName, cuDeviceGetName);
TESSERA_SAME(DeviceGetUuid, cuDeviceGetUuid);
TESSERA_SAME(DeviceTotalMem, cuDeviceTotalMem_v2);
TESSERA_SAME(DeviceGetAttribute, cuDeviceGetAttribute);
TESSERA_SAME(DeviceCanAccessPeer, cuDeviceCanAccessPeer);
TESSERA_SAME(PrimaryCtxRetain, cuDevicePrimaryCtxRetain);
TESSERA_SAME(PrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
TESSERA_SAME(CtxSetCurrent, cuCtxSetCurrent);
TESSERA_SAME(MemGetInfo, cuMemGetInfo_v2);
TESSERA_SAME(MemGetGranularity, cuMemGetAllocationGranularity);
TESSERA_SAME(MemCreate, cuMemCreate);
TESSERA_SAME(MemRelease, cuMemRelease);
TESSERA_SAME(MemExport, cuMemExportToShareableHandle);
TESSERA_SAME(MemImport, cuMemImportFromShareableHandle);
TESSERA_SAME(MemAddressReserve, cuMemAddressReserve);
TESSERA_SAME(MemAddressFree, cuMemAddressFree);
TESSERA_SAME(MemMap, cuMemMap);
TESSERA_SAME(MemUnmap, cuMemUnmap);
TESSERA_SAME(MemSetAccess, cuMemSetAccess);
TESSERA_SAME(MemAlloc, cuMemAlloc_v2);
TESSERA_SAME(MemFree, cuMemFree_v2);
TESSERA_SAME(MemHostAlloc, cuMemHostAlloc);
TESSERA_SAME(MemFreeHost, cuMemFreeHost);
TESSERA_SAME(StreamCreate, cuStreamCreate);
TESSERA_SAME(StreamDestroy, cuStreamDestroy_v2);
TESSERA_SAME(StreamSynchronize, cuStreamSynchronize);
TESSERA_SAME(StreamQuery, cuStreamQuery);
TESSERA_SAME(StreamWaitEvent, cuStreamWaitEvent);
TESSERA_SAME(EventCreate, cuEventCreate);
TESSERA_SAME(EventDestroy, cuEventDestroy_v2);
TESSERA_SAME(EventRecord, cuEventRecord);
TESSERA_SAME(EventQuery, cuEventQuery);
TESSERA_SAME(EventSynchronize, cuEventSynchronize);
TESSERA_SAME(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2);
TESSERA_SAME(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2);
TESSERA_SAME(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2);
TESSERA_SAME(MemsetD8Async, cuMemsetD8Async);
TESSERA_SAME(ModuleLoadData, cuModuleLoadData);
TESSERA_SAME(ModuleUnload, cuModuleUnload);
TESSERA_SAME(ModuleGetFunction, cuModuleGetFunction);
TESSERA_SAME(LaunchKernel, cuLaunchKernel);
#undef TESSERA_SAME

static_assert(sizeof(cuda::Uuid) == sizeof(CUuuid));
static_assert(sizeof(cuda::Location) == sizeof(CUmemLocation));
static_assert(sizeof(cuda::Access) == sizeof(CUmemAccessDesc));
static_assert(offsetof(cuda::Access, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(cuda::AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(cuda::AllocationProperties, requested_handles) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(cuda::AllocationProperties, location) ==
              offsetof(CUmemAllocationProp, location));
static_assert(offsetof(cuda::AllocationProperties, windows_only) ==
              offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(cuda::AllocationProperties, flags) ==
              offsetof(CUmemAllocationProp, allocFlags));

#define TESSERA_EQUAL(ours, theirs) \
  static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
TESSERA_EQUAL(cuda::kSuccess, CUDA_SUCCESS);
TESSERA_EQUAL(cuda::kInvalidValue, CUDA_ERROR_INVALID_VALUE);
TESSERA_EQUAL(cuda::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
TESSERA_EQUAL(cuda::kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
TESSERA_EQUAL(cuda::kNoDevice, CUDA_ERROR_NO_DEVICE);
TESSERA_EQUAL(cuda::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
TESSERA_EQUAL(cuda::kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
TESSERA_EQUAL(cuda::kPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
TESSERA_EQUAL(cuda::kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
TESSERA_EQUAL(cuda::kNotFound, CUDA_ERROR_NOT_FOUND);
TESSERA_EQUAL(cuda::kNotReady, CUDA_ERROR_NOT_READY);
TESSERA_EQUAL(cuda::kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
TESSERA_EQUAL(cuda::kPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
TESSERA_EQUAL(cuda::kUnknown, CUDA_ERROR_UNKNOWN);
TESSERA_EQUAL(cuda::kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
TESSERA_EQUAL(cuda::kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
TESSERA_EQUAL(cuda::kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
TESSERA_EQUAL(cuda::kVirtualMemorySupported,
              CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
TESSERA_EQUAL(cuda::kPosixHandlesSupported,
              CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
TESSERA_EQUAL(cuda::kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
TESSERA_EQUAL(cuda::kAllocationPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
TESSERA_EQUAL(cuda::kHandlePosixFd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
TESSERA_EQUAL(cuda::kAccessReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
TESSERA_EQUAL(cuda::kGranularityMinimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
TESSERA_EQUAL(cuda::kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
TESSERA_EQUAL(cuda::kEventNoTiming, CU_EVENT_DISABLE_TIMING);

TESSERA_EQUAL(nccl::kSuccess, ncclSuccess);
TESSERA_EQUAL(nccl::kInvalidArgument, ncclInvalidArgument);
TESSERA_EQUAL(nccl::kInvalidUsage, ncclInvalidUsage);
TESSERA_EQUAL(nccl::kRemoteError, ncclRemoteError);
TESSERA_EQUAL(nccl::kInProgress, ncclInProgress);
TESSERA_EQUAL(nccl::kByte, ncclUint8);
static_assert(sizeof(nccl::UniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(nccl::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(nccl::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(nccl::Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(nccl::Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(sizeof(nccl::Config) == offsetof(ncclConfig_t, minCTAs));
static_assert(nccl::Config().cga_cluster_size == NCCL_CONFIG_UNDEF_INT);
#undef TESSERA_EQUAL

#define TESSERA_SAME(name, symbol) \
  static_assert(Signatures<decltype(nccl::Functions::name), decltype(&symbol)>::value, #symbol)
TESSERA_SAME(GetVersion, ncclGetVersion);
TESSERA_SAME(GetUniqueId, ncclGetUniqueId);
TESSERA_SAME(CommInitRankConfig, ncclCommInitRankConfig);
TESSERA_SAME(CommGetAsyncError, ncclCommGetAsyncError);
TESSERA_SAME(CommAbort, ncclCommAbort);
TESSERA_SAME(GroupStart, ncclGroupStart);
TESSERA_SAME(GroupEnd, ncclGroupEnd);
TESSERA_SAME(Send, ncclSend);
TESSERA_SAME(Recv, ncclRecv);
#undef TESSERA_SAME

}  // namespace
#endif

class CudaHeaderTest : public QObject {
  Q_OBJECT
 private slots:
  void declarationsAreThoseOfTheHeaders() {
#ifdef TESSERA_HAS_CUDA_HEADERS
    // The assertions above have held, or this would not be compiled. The version is read, so that a
    // report says with what they were compared.
    qInfo("compared with CUDA %d and NCCL %d", CUDA_VERSION, NCCL_VERSION_CODE);
    QVERIFY(CUDA_VERSION >= 12000);
#else
    QSKIP("cuda.h or nccl.h is not installed here");
#endif
  }
};

TESSERA_TEST_APPLESS(CudaHeaderTest)
#include "cuda_header_test.moc"
