// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The part of NCCL that Tessera uses, declared here because it is looked up at run time. Names and
/// values are those of the NCCL user guide (2.18 and later); tests/agents/gpu/cuda_header_test
/// compares them with nccl.h where that is installed.

#include <climits>
#include <cstddef>

#include "agents/gpu/driver_api.h"

namespace tessera::agents::nccl {

using Code = int;  // ncclResult_t
inline constexpr Code kSuccess = 0;
inline constexpr Code kInvalidArgument = 4;
inline constexpr Code kInvalidUsage = 5;
inline constexpr Code kRemoteError = 6;
inline constexpr Code kInProgress = 7;

using Communicator = struct CommunicatorObject*;  // ncclComm_t
using DataType = int;                             // ncclDataType_t
inline constexpr DataType kByte = 1;              // ncclUint8

/// ncclUniqueId: where the ranks of a communicator meet.
struct UniqueId {
  char internal[128];
};
/// The beginning of ncclConfig_t, without padding: NCCL reads all of `size`, and no more.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 0;  // of NCCL, whose layout this is
  int blocking = 0;      // calls return while they are under way, so that they can be aborted
  int cga_cluster_size = INT_MIN;  // NCCL_CONFIG_UNDEF_INT: as NCCL likes
};

/// Every function: X(name, symbol of the library, parameters).
#define TESSERA_NCCL_FUNCTIONS(X)                                                               \
  X(GetVersion, "ncclGetVersion", (int*))                                                       \
  X(GetUniqueId, "ncclGetUniqueId", (UniqueId*))                                                \
  X(CommInitRankConfig, "ncclCommInitRankConfig", (Communicator*, int, UniqueId, int, Config*)) \
  X(CommGetAsyncError, "ncclCommGetAsyncError", (Communicator, Code*))                          \
  X(CommAbort, "ncclCommAbort", (Communicator))                                                 \
  X(GroupStart, "ncclGroupStart", ())                                                           \
  X(GroupEnd, "ncclGroupEnd", ())                                                               \
  X(Send, "ncclSend", (const void*, std::size_t, DataType, int, Communicator, cuda::Stream))    \
  X(Recv, "ncclRecv", (void*, std::size_t, DataType, int, Communicator, cuda::Stream))

/// Pointers to all of them. Every one returns a Code.
struct Functions {
#define TESSERA_NCCL_MEMBER(name, symbol, parameters) Code(*name) parameters = nullptr;
  TESSERA_NCCL_FUNCTIONS(TESSERA_NCCL_MEMBER)
#undef TESSERA_NCCL_MEMBER
  const char* (*GetErrorString)(Code) = nullptr;
};

/// A library that emulates NCCL exports this function, which a real one does not have. It does
/// nothing.
inline constexpr const char* kEmulationSymbol = "tessera_nccl_emulation";
using Emulation = void();

}  // namespace tessera::agents::nccl
