// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/gpt_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Carries a collective's error through libtorch's autograd.
struct CollectiveError : std::runtime_error {
  explicit CollectiveError(Error cause)
      : std::runtime_error(cause.ToString()), error(std::move(cause)) {}
  Error error;
};

std::span<float> SpanOf(const Tensor& tensor) {
  TESSERA_DCHECK(tensor.is_contiguous() && tensor.scalar_type() == at::kFloat);
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

void ThrowIfError(Status status) {
  if (!status) throw CollectiveError(std::move(status).error());
}

Collective* GroupOf(AutogradContext* context) {
  return reinterpret_cast<Collective*>(context->saved_data["group"].toInt());
}

/// Megatron's f: identity forward, sum over the group backward. Stands before a matrix that is cut
/// by columns.
struct CopyToGroup : torch::autograd::Function<CopyToGroup> {
  static Tensor forward(AutogradContext* context, const Tensor& x, Collective* group) {
    context->saved_data["group"] = reinterpret_cast<std::int64_t>(group);
    return x.view_as(x);
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    Tensor sum = gradients[0].clone(at::MemoryFormat::Contiguous);
    ThrowIfError(GroupOf(context)->AllReduceSum(SpanOf(sum)));
    return {sum, Tensor()};
  }
};

/// Megatron's g: sum over the group forward, identity backward. Stands after a matrix that is cut
/// by rows. Works in place on `x`, a temporary.
struct ReduceFromGroup : torch::autograd::Function<ReduceFromGroup> {
  static Tensor forward(AutogradContext* context, Tensor x, Collective* group) {
    ThrowIfError(group->AllReduceSum(SpanOf(x)));
    context->mark_dirty({x});
    return x;
  }
  static tensor_list backward(AutogradContext*, tensor_list gradients) {
    return {gradients[0], Tensor()};
  }
};

struct Norm {
  Tensor weight, bias;
};

struct Block {
  Norm ln1, ln2;
  Tensor query, key, value, query_bias, key_bias, value_bias;
  Tensor proj, proj_bias, fc1, fc1_bias, fc2, fc2_bias;
};

class GptModelImpl final : public GptModel {
 public:
  GptModelImpl(const engine::GptConfig& config, CollectivePtr tp)
      : config_(config), tp_(std::move(tp)) {}

  /// Makes a leaf of every piece, its gradient a range of one flat buffer.
  Status Bind(const RankState& state) {
    std::int64_t total = 0;
    for (const ParameterPiece& piece : state.parameters) total += piece.box.num_elements();
    gradients_ = at::zeros({total}, at::kFloat);
    std::int64_t offset = 0;
    for (const ParameterPiece& piece : state.parameters) {
      const ptc::Shape shape = piece.box.shape();
      Tensor leaf = at::from_blob(piece.value.data(), shape, at::kFloat).set_requires_grad(true);
      leaf.mutable_grad() = gradients_.narrow(0, offset, piece.box.num_elements()).view(shape);
      offset += piece.box.num_elements();
      leaves_.push_back(std::move(leaf));
    }
    return Assemble(state);
  }

  Result<double> Accumulate(std::span<const std::uint8_t> tokens, double scale) override {
    try {
      return ForwardBackward(tokens, scale);
    } catch (const CollectiveError& error) {
      return error.error;
    } catch (const std::exception& exception) {
      const std::string text = exception.what();
      return Internal(text.substr(0, text.find('\n')));
    }
  }

  void ZeroGradients() override { gradients_.zero_(); }
  std::span<float> gradients() override { return SpanOf(gradients_); }

 private:
  Status Assemble(const RankState& state) {
    const std::int64_t d = config_.width;
    const std::int64_t parts = tp_->size();
    vocab_ = config_.vocab / parts;
    vocab_begin_ = vocab_ * tp_->rank();
    // The leaf of one piece, checked against the shape that the model needs.
    Status status;
    const auto take = [&](const std::string& name, std::size_t segment, std::size_t segments,
                          const ptc::Shape& shape) -> Tensor {
      const auto pieces = state.Find(name);
      if (pieces.size() != segments || pieces[segment].box.shape() != shape) {
        if (status) {
          status = InvalidArgument(fmt::format(
              "tensor '{}' has {} pieces{}, the model needs {} of {}", name, pieces.size(),
              pieces.size() > segment ? " of " + ptc::ToString(pieces[segment].box.shape()) : "",
              segments, ptc::ToString(shape)));
        }
        return {};
      }
      return leaves_[static_cast<std::size_t>(&pieces[segment] - state.parameters.data())];
    };
    const auto one = [&](const std::string& name, const ptc::Shape& shape) {
      return take(name, 0, 1, shape);
    };
    tok_emb_ = one("tok_emb.weight", {vocab_, d});
    pos_emb_ = one("pos_emb.weight", {config_.sequence, d});
    ln_f_ = {one("ln_f.weight", {d}), one("ln_f.bias", {d})};
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
      const std::string h = fmt::format("h.{}.", layer);
      Block block;
      block.ln1 = {one(h + "ln1.weight", {d}), one(h + "ln1.bias", {d})};
      block.ln2 = {one(h + "ln2.weight", {d}), one(h + "ln2.bias", {d})};
      Tensor* const weights[] = {&block.query, &block.key, &block.value};
      Tensor* const biases[] = {&block.query_bias, &block.key_bias, &block.value_bias};
      for (std::size_t i = 0; i < 3; ++i) {
        *weights[i] = take(h + "attn.qkv.weight", i, 3, {d / parts, d});
        *biases[i] = take(h + "attn.qkv.bias", i, 3, {d / parts});
      }
      block.proj = one(h + "attn.proj.weight", {d, d / parts});
      block.proj_bias = one(h + "attn.proj.bias", {d});
      block.fc1 = one(h + "mlp.fc1.weight", {config_.ffn / parts, d});
      block.fc1_bias = one(h + "mlp.fc1.bias", {config_.ffn / parts});
      block.fc2 = one(h + "mlp.fc2.weight", {d, config_.ffn / parts});
      block.fc2_bias = one(h + "mlp.fc2.bias", {d});
      blocks_.push_back(std::move(block));
    }
    causal_mask_ = at::full({config_.sequence, config_.sequence},
                            -std::numeric_limits<float>::infinity(), at::kFloat)
                       .triu_(1);
    return status;
  }

  Tensor CopyToTp(const Tensor& x) const {
    return tp_->size() == 1 ? x : CopyToGroup::apply(x, tp_.get());
  }
  Tensor ReduceFromTp(const Tensor& x) const {
    return tp_->size() == 1 ? x : ReduceFromGroup::apply(x, tp_.get());
  }
  Tensor LayerNorm(const Tensor& x, const Norm& norm) const {
    return at::layer_norm(x, {config_.width}, norm.weight, norm.bias, 1e-5);
  }

  double ForwardBackward(std::span<const std::uint8_t> tokens, double scale) {
    const std::int64_t window = config_.sequence + 1;
    TESSERA_CHECK(static_cast<std::int64_t>(tokens.size()) % window == 0);
    const std::int64_t batch = static_cast<std::int64_t>(tokens.size()) / window;
    const Tensor ids =
        at::from_blob(const_cast<std::uint8_t*>(tokens.data()), {batch, window}, at::kByte)
            .to(at::kLong);
    const Tensor inputs = ids.narrow(1, 0, config_.sequence);
    const Tensor targets = ids.narrow(1, 1, config_.sequence).reshape({-1});

    Tensor x = Embed(inputs);
    for (const Block& block : blocks_) {
      x = x + Attention(block, LayerNorm(x, block.ln1), batch);
      x = x + Mlp(block, LayerNorm(x, block.ln2));
    }
    x = LayerNorm(x, ln_f_).view({-1, config_.width});
    const Tensor logits = at::linear(CopyToTp(x), tok_emb_);  // [tokens, vocab / tp]
    const auto [loss, gradient] = CrossEntropy(logits.detach(), targets, scale);
    logits.backward(gradient);
    for (const Tensor& leaf : leaves_) {
      // Autograd adds in place to a gradient that is there; the step relies on it.
      TESSERA_DCHECK(leaf.grad().storage().data() == gradients_.storage().data());
    }
    return loss;
  }

  /// Each rank looks up its part of the vocabulary; the sum has every token.
  Tensor Embed(const Tensor& inputs) const {
    Tensor x;
    if (tp_->size() == 1) {
      x = at::embedding(tok_emb_, inputs);
    } else {
      const Tensor local = inputs - vocab_begin_;
      const Tensor here = local.ge(0).logical_and_(local.lt(vocab_));
      x = ReduceFromTp(at::embedding(tok_emb_, local * here) * here.unsqueeze(-1));
    }
    return x + pos_emb_;
  }

  Tensor Attention(const Block& block, const Tensor& x, std::int64_t batch) const {
    const std::int64_t heads = config_.heads / tp_->size();
    const std::int64_t head_width = config_.width / config_.heads;
    const Tensor input = CopyToTp(x);
    const auto project = [&](const Tensor& weight, const Tensor& bias) {
      return at::linear(input, weight, bias)
          .view({batch, config_.sequence, heads, head_width})
          .transpose(1, 2)
          .reshape({batch * heads, config_.sequence, head_width});
    };
    const Tensor query = project(block.query, block.query_bias);
    const Tensor key = project(block.key, block.key_bias);
    const Tensor value = project(block.value, block.value_bias);
    const double temperature = 1.0 / std::sqrt(static_cast<double>(head_width));
    const Tensor weights =
        at::baddbmm(causal_mask_, query, key.transpose(1, 2), 1, temperature).softmax(-1);
    const Tensor mixed = at::bmm(weights, value)
                             .view({batch, heads, config_.sequence, head_width})
                             .transpose(1, 2)
                             .reshape({batch, config_.sequence, heads * head_width});
    // The bias is whole on every rank: it is added once, after the sum.
    return ReduceFromTp(at::linear(mixed, block.proj)) + block.proj_bias;
  }

  Tensor Mlp(const Block& block, const Tensor& x) const {
    const Tensor hidden = at::gelu(at::linear(CopyToTp(x), block.fc1, block.fc1_bias));
    return ReduceFromTp(at::linear(hidden, block.fc2)) + block.fc2_bias;
  }

  /// Loss and gradient with respect to this rank's logits, over a vocabulary that is divided:
  /// softmax - onehot on the local slice.
  std::pair<double, Tensor> CrossEntropy(const Tensor& logits, const Tensor& targets,
                                         double scale) const {
    const bool alone = tp_->size() == 1;
    Tensor row_max = logits.amax(1);
    if (!alone) ThrowIfError(tp_->AllReduceMax(SpanOf(row_max)));
    const Tensor shifted = logits - row_max.unsqueeze(1);
    Tensor gradient = shifted.exp();
    const Tensor local = targets - vocab_begin_;
    const Tensor here = local.ge(0).logical_and_(local.lt(vocab_));
    const Tensor index = (local * here).unsqueeze(1);
    // Row 0: sum of exponentials; row 1: the target's logit, from the rank that has it.
    Tensor sums = at::stack({gradient.sum(1), shifted.gather(1, index).squeeze(1) * here});
    if (!alone) ThrowIfError(tp_->AllReduceSum(SpanOf(sums)));
    const double loss = (sums[0].log() - sums[1]).sum(at::kDouble).item<double>();
    gradient.mul_((scale / sums[0]).unsqueeze(1));
    gradient.scatter_add_(1, index, (here.to(at::kFloat) * -scale).unsqueeze(1));
    return {loss * scale, gradient};
  }

  const engine::GptConfig config_;
  const CollectivePtr tp_;
  Tensor gradients_;
  std::vector<Tensor> leaves_;  // in order of the state's parameters
  Tensor tok_emb_, pos_emb_, causal_mask_;
  Norm ln_f_;
  std::vector<Block> blocks_;
  std::int64_t vocab_ = 0, vocab_begin_ = 0;
};

}  // namespace

Result<std::unique_ptr<GptModel>> GptModel::Make(const engine::GptConfig& config,
                                                 const RankState& state, CollectivePtr tp) {
  auto model = std::make_unique<GptModelImpl>(config, std::move(tp));
  TESSERA_RETURN_IF_ERROR(model->Bind(state));
  return std::unique_ptr<GptModel>(std::move(model));
}

}  // namespace tessera::agents::train
