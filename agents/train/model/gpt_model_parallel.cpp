// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/gpt_model_parallel.h"

#include <torch/csrc/autograd/custom_function.h>

#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct Copy : torch::autograd::Function<Copy> {
  static Tensor forward(AutogradContext* context, const Tensor& x, Collective* group) {
    context->saved_data["group"] = reinterpret_cast<std::int64_t>(group);
    return x.view_as(x);
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    auto* group = reinterpret_cast<Collective*>(context->saved_data["group"].toInt());
    Tensor sum = gradients[0].clone(at::MemoryFormat::Contiguous);
    ThrowIfError(group->AllReduceSum(SpanOf(sum)));
    return {sum, Tensor()};
  }
};

struct Reduce : torch::autograd::Function<Reduce> {
  static Tensor forward(AutogradContext* context, Tensor x, Collective* group) {
    ThrowIfError(group->AllReduceSum(SpanOf(x)));
    context->mark_dirty({x});
    return x;
  }
  static tensor_list backward(AutogradContext*, tensor_list gradients) {
    return {gradients[0], Tensor()};
  }
};

}  // namespace

void ThrowIfError(Status status) {
  if (!status) throw CollectiveError(std::move(status).error());
}

std::span<float> SpanOf(const Tensor& tensor) {
  TESSERA_CHECK(tensor.is_contiguous() && tensor.scalar_type() == at::kFloat);
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

Tensor CopyToGroup(const Tensor& x, Collective& group) {
  return group.size() == 1 ? x : Copy::apply(x, &group);
}

Tensor ReduceFromGroup(const Tensor& x, Collective& group) {
  return group.size() == 1 ? x : Reduce::apply(x, &group);
}

}  // namespace tessera::agents::train
