// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collectives as steps of libtorch's autograd. For gpt_model*.cpp only: it includes libtorch.

#include <ATen/ATen.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "agents/train/comm/collective.h"

namespace tessera::agents::train {

/// Carries a collective's error through libtorch's autograd.
struct CollectiveError : std::runtime_error {
  explicit CollectiveError(Error cause)
      : std::runtime_error(cause.ToString()), error(std::move(cause)) {}
  Error error;
};
void ThrowIfError(Status status);

/// \pre contiguous floats
std::span<float> SpanOf(const at::Tensor& tensor);

/// Megatron's f: identity forward, sum over the group backward. Used before a matrix whose outputs
/// are cut.
at::Tensor CopyToGroup(const at::Tensor& x, Collective& group);

/// Megatron's g: sum over the group forward, identity backward. Used after a matrix whose inputs
/// are cut. Works in place on `x`, a temporary.
at::Tensor ReduceFromGroup(const at::Tensor& x, Collective& group);

}  // namespace tessera::agents::train
