// SPDX-License-Identifier: Apache-2.0
#include "agents/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/data/cursor.h"
#include "engine/update/adamw.h"
#include "engine/update/schedule.h"

namespace tessera::agents::train {
namespace {

/// Samples of one forward and backward pass. More make matrix products no faster, and hold more
/// activations.
constexpr std::int64_t kMicroBatch = 8;

engine::Cursor CursorOf(const RankState& state) {
  return engine::Cursor::FromArray({state.cursor[0], state.cursor[1], state.cursor[2]});
}

}  // namespace

Trainer::Trainer(engine::JobSettings settings, engine::TextDataset dataset)
    : settings_(std::move(settings)), dataset_(std::move(dataset)) {}

Result<Groups> Trainer::Bind(std::span<const tessera_piece> pieces, Groups groups) {
  if (settings_.global_batch % groups.dp->size() != 0) {
    return InvalidArgument(fmt::format("global batch {} is not divisible by dp = {}",
                                       settings_.global_batch, groups.dp->size()));
  }
  TESSERA_TRY(RankState state, BindState(pieces));
  TESSERA_TRY(auto model, GptModel::Make(settings_.model, state, groups.tp));
  model_ = std::move(model);
  state_ = std::move(state);
  return std::exchange(groups_, std::move(groups));
}

Result<std::vector<std::uint8_t>> Trainer::ReadBatch() const {
  const std::int64_t share = settings_.global_batch / groups_.dp->size();
  const std::int64_t first = share * groups_.dp->rank();
  TESSERA_TRY(const auto samples,
              engine::SamplesAt(CursorOf(state_), first, first + share, dataset_.num_samples()));
  const auto window = static_cast<std::size_t>(settings_.model.sequence + 1);
  std::vector<std::uint8_t> tokens(samples.size() * window);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    TESSERA_RETURN_IF_ERROR(
        dataset_.Read(samples[i], std::span(tokens).subspan(i * window, window)));
  }
  return tokens;
}

double Trainer::NormShare(std::span<const float> gradients) const {
  if (groups_.dp->rank() != 0) return 0;
  double sum = 0;
  std::size_t offset = 0;
  for (const ParameterPiece& piece : state_.parameters) {
    const std::size_t count = piece.gradient.size();
    // A piece that is its whole tensor is held by every tensor-parallel rank.
    const bool is_replicated = *ptc::Box::Whole(piece.shape) == piece.box;
    if (!is_replicated || groups_.tp->rank() == 0) {
      sum += engine::SumOfSquares(gradients.subspan(offset, count));
    }
    offset += count;
  }
  return sum;
}

Result<tessera_record> Trainer::ComputeGradients() {
  TESSERA_TRY(const auto tokens, ReadBatch());
  const auto window = static_cast<std::size_t>(settings_.model.sequence + 1);
  const auto micro_batch = static_cast<std::size_t>(kMicroBatch) * window;
  // Divided by the tokens of the whole job: gradients just add up over micro-batches and ranks.
  const std::int64_t all_tokens = settings_.global_batch * settings_.model.sequence;
  const double scale = 1.0 / static_cast<double>(all_tokens);
  model_->ZeroGradients();
  double loss = 0;
  for (std::size_t begin = 0; begin < tokens.size(); begin += micro_batch) {
    const auto part =
        std::span(tokens).subspan(begin, std::min(micro_batch, tokens.size() - begin));
    TESSERA_TRY(const double share, model_->Accumulate(part, scale));
    loss += share;
  }
  const std::span<float> gradients = model_->gradients();
  TESSERA_RETURN_IF_ERROR(groups_.dp->AllReduceSum(gradients));
  std::size_t offset = 0;
  for (const ParameterPiece& piece : state_.parameters) {
    const auto reduced = gradients.subspan(offset, piece.gradient.size());
    std::copy(reduced.begin(), reduced.end(), piece.gradient.begin());
    offset += piece.gradient.size();
  }

  tessera_record record{};
  record.norm2 = NormShare(gradients);
  if (groups_.tp->rank() == 0) {
    record.loss = loss;
    record.tokens = all_tokens / groups_.dp->size();
  }
  record.found_inf = std::isfinite(record.norm2) && std::isfinite(loss) ? 0 : 1;
  return record;
}

void Trainer::Update(double clip, bool skip) {
  const std::int64_t step = *state_.step + 1;
  if (!skip) {
    const engine::CosineSchedule schedule{.peak = settings_.learning_rate,
                                          .floor = settings_.min_learning_rate,
                                          .warmup_steps = settings_.warmup_steps,
                                          .cosine_steps = settings_.cosine_steps};
    const engine::AdamWSettings adamw{.beta1 = settings_.beta1,
                                      .beta2 = settings_.beta2,
                                      .epsilon = settings_.epsilon,
                                      .weight_decay = settings_.weight_decay};
    const double learning_rate = schedule.LearningRate(step);
    const auto with_decay = engine::MakeAdamW(adamw, step, learning_rate, clip, true);
    const auto without_decay = engine::MakeAdamW(adamw, step, learning_rate, clip, false);
    for (const ParameterPiece& piece : state_.parameters) {
      engine::AdamW(piece.decays() ? with_decay : without_decay, piece.value, piece.exp_avg,
                    piece.exp_avg_sq, piece.gradient);
    }
  }
  const auto cursor =
      engine::Advance(CursorOf(state_), settings_.global_batch, dataset_.num_samples()).ToArray();
  std::copy(cursor.begin(), cursor.end(), state_.cursor);
  *state_.step = step;
}

}  // namespace tessera::agents::train
