// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/gpt_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "agents/train/model/gpt_model_block.h"
#include "agents/train/model/gpt_model_parallel.h"
#include "agents/train/model/gpt_model_vocabulary.h"
#include "engine/update/bfloat16.h"
#include "ptc/base/check.h"
#include "ptc/stages.h"

namespace tessera::agents::train {
namespace {

using at::Tensor;

/// Finds the leaves of a rank's pieces by name and checks their shapes against the model.
class Leaves {
 public:
  Leaves(const RankState& state, const std::vector<Tensor>& leaves)
      : state_(state), leaves_(leaves) {}

  /// Returns the leaf of piece `segment` of `segments`; an undefined tensor on an error.
  Tensor Take(const std::string& name, std::size_t segment, std::size_t segments,
              const ptc::Shape& shape) {
    const auto pieces = state_.Find(name);
    if (pieces.size() == segments && pieces[segment].box.shape() == shape) {
      return leaves_[static_cast<std::size_t>(&pieces[segment] - state_.parameters.data())];
    }
    if (status_) {
      status_ = InvalidArgument(fmt::format(
          "tensor '{}' has {} pieces{}, the model needs {} of {}", name, pieces.size(),
          pieces.size() > segment ? " of " + ptc::ToString(pieces[segment].box.shape()) : "",
          segments, ptc::ToString(shape)));
    }
    return {};
  }
  Tensor Take(const std::string& name, const ptc::Shape& shape) { return Take(name, 0, 1, shape); }

  Norm TakeNorm(const std::string& name, std::int64_t width) {
    return {Take(name + ".weight", {width}), Take(name + ".bias", {width})};
  }
  Linear TakeLinear(const std::string& name, std::size_t segment, std::size_t segments,
                    std::int64_t rows, std::int64_t columns) {
    return {Take(name + ".weight", segment, segments, {rows, columns}),
            Take(name + ".bias", segment, segments, {rows})};
  }
  /// Returns [share.rows, width]. A share without rows has no piece.
  Tensor TakeVocabulary(const std::string& name, const VocabularyShare& share, std::int64_t width) {
    if (share.rows == 0 && state_.Find(name).empty()) return at::empty({0, width}, at::kFloat);
    return Take(name, {share.rows, width});
  }

  /// The first error.
  Status status() const { return status_; }

 private:
  const RankState& state_;
  const std::vector<Tensor>& leaves_;
  Status status_;
};

class GptModelImpl final : public GptModel {
 public:
  GptModelImpl(const engine::JobSettings& settings, CollectivePtr tp, CollectivePtr pp)
      : settings_(settings),
        tp_(std::move(tp)),
        pp_(std::move(pp)),
        share_(ShareOf(settings.model.vocab, *tp_)),
        attention_mask_(AttentionMask(settings.model)) {}

  /// Makes a leaf of every piece. Its gradient is a range of one flat buffer.
  Status Bind(const RankState& state) {
    std::int64_t total = 0, total_bf16 = 0;
    for (const ParameterPiece& piece : state.parameters) {
      total += piece.box.num_elements();
      total_bf16 += static_cast<std::int64_t>(piece.bf16.size());
    }
    gradients_ = at::zeros({total}, at::kFloat);
    widened_ = at::empty({total_bf16}, at::kFloat);
    std::int64_t offset = 0, offset_widened = 0;
    for (const ParameterPiece& piece : state.parameters) {
      const ptc::Shape shape = piece.box.shape();
      const std::int64_t elements = piece.box.num_elements();
      Tensor leaf;
      if (piece.bf16.empty()) {
        leaf = at::from_blob(piece.value.data(), shape, at::kFloat);
      } else {
        leaf = at::from_blob(widened_.data_ptr<float>() + offset_widened, shape, at::kFloat);
        bf16_.push_back(piece.bf16);
        offset_widened += elements;
      }
      leaf.set_requires_grad(true);
      leaf.mutable_grad() = gradients_.narrow(0, offset, elements).view(shape);
      if (settings_.model.tied_head && piece.name == kTokenEmbedding && pp_->size() > 1) {
        tied_gradient_ = SpanOf(leaf.grad());
      }
      offset += elements;
      leaves_.push_back(std::move(leaf));
    }
    return Assemble(state);
  }

  void BeginStep() override {
    in_flight_.clear();
    gradients_.zero_();
    std::span<float> widened = SpanOf(widened_);
    for (const std::span<const std::uint16_t> piece : bf16_) {
      engine::WidenFromBf16(piece, widened.first(piece.size()));
      widened = widened.subspan(piece.size());
    }
  }

  Result<double> Forward(const MicroBatch& micro_batch) override {
    return Catching<double>([&] { return ForwardStage(micro_batch); });
  }
  Result<double> EvaluateLoss(const MicroBatch& micro_batch) override {
    return Catching<double>([&] {
      const at::NoGradGuard no_gradients;
      const double loss = ForwardStage(micro_batch);
      in_flight_.pop_back();
      return loss;
    });
  }
  Status Backward() override {
    return Catching<void>([&] {
      BackwardStage();
      return OkStatus();
    });
  }

  std::span<float> gradients() override { return SpanOf(gradients_); }
  std::span<float> tied_gradient() override { return tied_gradient_; }

 private:
  /// A micro-batch between its forward and its backward pass.
  struct InFlight {
    Tensor input;     // a leaf; undefined on the first stage
    Tensor output;    // activations, on the last stage logits
    Tensor gradient;  // of the loss with respect to the logits; only on the last stage
  };

  bool is_first() const { return pp_->rank() == 0; }
  bool is_last() const { return pp_->rank() == pp_->size() - 1; }

  template <typename T, typename Body>
  static Result<T> Catching(Body body) {
    try {
      return body();
    } catch (const CollectiveError& error) {
      return error.error;
    } catch (const std::exception& exception) {
      const std::string text = exception.what();
      return Internal(text.substr(0, text.find('\n')));
    }
  }

  Status Assemble(const RankState& state) {
    const engine::GptConfig& config = settings_.model;
    const std::int64_t d = config.width;
    const std::int64_t parts = tp_->size();
    const std::int64_t kv = d / config.heads * config.num_kv_heads() / parts;
    const std::size_t fc1_segments = config.gated_mlp ? 2 : 1;
    Leaves leaves(state, leaves_);
    if (is_first()) {
      tok_emb_ = leaves.TakeVocabulary(std::string(kTokenEmbedding), share_, d);
      pos_emb_ = leaves.Take("pos_emb.weight", {config.sequence, d});
    }
    if (is_last()) {
      head_ = leaves.TakeVocabulary(config.tied_head ? std::string(kTokenEmbedding) : "head.weight",
                                    share_, d);
      ln_f_ = leaves.TakeNorm("ln_f", d);
    }
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
      if (ptc::StageOfLayer(layer, config.layers, pp_->size()) != pp_->rank()) continue;
      const std::string h = fmt::format("h.{}.", layer);
      Block block;
      block.layer = layer;
      block.ln1 = leaves.TakeNorm(h + "ln1", d);
      block.ln2 = leaves.TakeNorm(h + "ln2", d);
      block.query = leaves.TakeLinear(h + "attn.qkv", 0, 3, d / parts, d);
      block.key = leaves.TakeLinear(h + "attn.qkv", 1, 3, kv, d);
      block.value = leaves.TakeLinear(h + "attn.qkv", 2, 3, kv, d);
      block.proj = {leaves.Take(h + "attn.proj.weight", {d, d / parts}),
                    leaves.Take(h + "attn.proj.bias", {d})};
      if (config.gated_mlp) {
        block.gate = leaves.TakeLinear(h + "mlp.fc1", 0, fc1_segments, config.ffn / parts, d);
      }
      block.up =
          leaves.TakeLinear(h + "mlp.fc1", fc1_segments - 1, fc1_segments, config.ffn / parts, d);
      block.fc2 = {leaves.Take(h + "mlp.fc2.weight", {d, config.ffn / parts}),
                   leaves.Take(h + "mlp.fc2.bias", {d})};
      blocks_.push_back(std::move(block));
    }
    return leaves.status();
  }

  double ForwardStage(const MicroBatch& micro_batch) {
    const engine::GptConfig& config = settings_.model;
    const std::int64_t batch = micro_batch.num_samples;
    const LayerContext context{.settings = settings_,
                               .tp = *tp_,
                               .attention_mask = attention_mask_,
                               .first_sample = micro_batch.first_sample,
                               .num_samples = batch};
    Tensor tokens;
    if (is_first() || is_last()) tokens = TokensOf(micro_batch);

    InFlight pass;
    Tensor x;
    if (is_first()) {
      x = Embed(tok_emb_, share_, tokens.narrow(1, 0, config.sequence), *tp_) + pos_emb_;
      x = Dropout(context, x, kEmbeddingSite, 0);
    } else {
      pass.input = at::empty({batch, config.sequence, config.width}, at::kFloat);
      ThrowIfError(pp_->Receive(pp_->rank() - 1, SpanOf(pass.input)));
      x = pass.input.set_requires_grad(true);
    }
    for (const Block& block : blocks_) x = Apply(block, context, x);

    double loss = 0;
    if (is_last()) {
      x = LayerNorm(x, ln_f_).view({-1, config.width});
      pass.output = at::linear(CopyToGroup(x, *tp_), head_);  // [tokens, share of the vocabulary]
      const Tensor targets = tokens.narrow(1, 1, config.sequence).reshape({-1});
      const double all_tokens = static_cast<double>(settings_.global_batch * config.sequence);
      Loss result = CrossEntropy(pass.output.detach(), share_, targets, 1.0 / all_tokens, *tp_);
      pass.gradient = std::move(result.gradient);
      loss = result.value;
    } else {
      ThrowIfError(pp_->Send(pp_->rank() + 1, SpanOf(x.detach())));
      pass.output = std::move(x);
    }
    in_flight_.push_back(std::move(pass));
    return loss;
  }

  void BackwardStage() {
    TESSERA_CHECK(!in_flight_.empty());
    InFlight pass = std::move(in_flight_.front());
    in_flight_.pop_front();
    if (!is_last()) {
      pass.gradient = at::empty(pass.output.sizes(), at::kFloat);
      ThrowIfError(pp_->Receive(pp_->rank() + 1, SpanOf(pass.gradient)));
    }
    pass.output.backward(pass.gradient);
    if (!is_first()) {
      ThrowIfError(pp_->Send(pp_->rank() - 1, SpanOf(pass.input.grad().contiguous())));
    }
    for (const Tensor& leaf : leaves_) {
      // Autograd must add in place to the gradient that exists: gradients() returns that memory.
      TESSERA_CHECK(leaf.grad().storage().data() == gradients_.storage().data());
    }
  }

  /// [samples, sequence + 1]
  Tensor TokensOf(const MicroBatch& micro_batch) const {
    const std::int64_t window = settings_.model.sequence + 1;
    TESSERA_CHECK(static_cast<std::int64_t>(micro_batch.tokens.size()) ==
                  micro_batch.num_samples * window);
    return at::from_blob(const_cast<std::int32_t*>(micro_batch.tokens.data()),
                         {micro_batch.num_samples, window}, at::kInt)
        .to(at::kLong);
  }

  const engine::JobSettings settings_;
  const CollectivePtr tp_, pp_;
  const VocabularyShare share_;
  const Tensor attention_mask_;
  Tensor gradients_;
  Tensor widened_;                                    // f32 copies of bf16 parameters
  std::vector<std::span<const std::uint16_t>> bf16_;  // the originals, in the same order
  std::vector<Tensor> leaves_;                        // in order of the state's parameters
  std::span<float> tied_gradient_;
  Tensor tok_emb_, pos_emb_, head_;
  Norm ln_f_;
  std::vector<Block> blocks_;
  std::deque<InFlight> in_flight_;
};

}  // namespace

Result<std::unique_ptr<GptModel>> GptModel::Make(const engine::JobSettings& settings,
                                                 const RankState& state, CollectivePtr tp,
                                                 CollectivePtr pp) {
  auto model = std::make_unique<GptModelImpl>(settings, std::move(tp), std::move(pp));
  TESSERA_RETURN_IF_ERROR(model->Bind(state));
  return std::unique_ptr<GptModel>(std::move(model));
}

}  // namespace tessera::agents::train
