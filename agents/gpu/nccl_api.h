// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The part of NCCL that Tessera uses, declared here because it is looked up at run time: which
/// version there is. Names and values are those of the NCCL user guide (2.18 and later);
/// tests/agents/gpu/cuda_header_test compares them with nccl.h where that is installed.

namespace tessera::agents::nccl {

using Code = int;  // ncclResult_t
inline constexpr Code kSuccess = 0;

/// Every function: X(name, symbol of the library, parameters).
#define TESSERA_NCCL_FUNCTIONS(X) X(GetVersion, "ncclGetVersion", (int*))

/// Pointers to all of them. Every one returns a Code.
struct Functions {
#define TESSERA_NCCL_MEMBER(name, symbol, parameters) Code(*name) parameters = nullptr;
  TESSERA_NCCL_FUNCTIONS(TESSERA_NCCL_MEMBER)
#undef TESSERA_NCCL_MEMBER
};

}  // namespace tessera::agents::nccl
