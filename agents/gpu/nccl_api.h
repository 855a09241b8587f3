// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The part of NCCL that Tessera uses, declared here because it is looked up at run time. Names and
/// values are those of the NCCL user guide (2.18 and later); tests/agents/gpu/cuda_header_test
/// compares them with nccl.h where that is installed.

#include <cstddef>

#include "agents/gpu/driver_api.h"

namespace tessera::agents::nccl {

using Code = int;  // ncclResult_t
inline constexpr Code kSuccess = 0;
inline constexpr Code kUnhandledCudaError = 1;
inline constexpr Code kSystemError = 2;
inline constexpr Code kInternalError = 3;
inline constexpr Code kInvalidArgument = 4;
inline constexpr Code kInvalidUsage = 5;
inline constexpr Code kRemoteError = 6;
inline constexpr Code kInProgress = 7;

using Communicator = struct CommunicatorObject*;
struct UniqueId {
  char bytes[128];
};
inline constexpr int kUint8 = 1;  // ncclDataType_t

/// Every function: X(name, symbol of the library, parameters).
#define TESSERA_NCCL_FUNCTIONS(X)                                                       \
  X(GetVersion, "ncclGetVersion", (int*))                                               \
  X(GetUniqueId, "ncclGetUniqueId", (UniqueId*))                                        \
  X(CommInitRank, "ncclCommInitRank", (Communicator*, int, UniqueId, int))              \
  X(CommDestroy, "ncclCommDestroy", (Communicator))                                     \
  X(CommAbort, "ncclCommAbort", (Communicator))                                         \
  X(CommGetAsyncError, "ncclCommGetAsyncError", (Communicator, Code*))                  \
  X(GroupStart, "ncclGroupStart", ())                                                   \
  X(GroupEnd, "ncclGroupEnd", ())                                                       \
  X(Send, "ncclSend", (const void*, std::size_t, int, int, Communicator, cuda::Stream)) \
  X(Recv, "ncclRecv", (void*, std::size_t, int, int, Communicator, cuda::Stream))

/// Pointers to all of them. Every one returns a Code.
struct Functions {
#define TESSERA_NCCL_MEMBER(name, symbol, parameters) Code(*name) parameters = nullptr;
  TESSERA_NCCL_FUNCTIONS(TESSERA_NCCL_MEMBER)
#undef TESSERA_NCCL_MEMBER
};

}  // namespace tessera::agents::nccl
