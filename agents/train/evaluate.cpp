// SPDX-License-Identifier: Apache-2.0
#include "agents/train/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "agents/data/job_data.h"
#include "agents/train/batch_reader.h"
#include "agents/train/comm/collective.h"
#include "agents/train/model/gpt_model.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"
#include "engine/checkpoint/checkpoint.h"

namespace tessera::agents::train {
namespace {

/// Large enough to be fast. Small enough for many groups, whose spread shows what is chance.
constexpr std::int64_t kLargestBatch = 16;

Status Load(const checkpoint::Checkpoint& from, const ParameterPiece& piece) {
  const auto index = from.Find(piece.name);
  if (!index) {
    return NotFound(fmt::format("'{}' has no tensor '{}'", from.path(), piece.name));
  }
  const checkpoint::StoredTensor& stored = from.tensors()[static_cast<std::size_t>(*index)];
  const ptc::DType dtype = piece.bf16.empty() ? ptc::DType::kF32 : ptc::DType::kBF16;
  if (stored.shape != piece.shape || stored.dtype != dtype) {
    return InvalidArgument(fmt::format("'{}': tensor '{}' is {} [{}], the model has {} [{}]",
                                       from.path(), piece.name, ToString(stored.dtype),
                                       fmt::join(stored.shape, ", "), ToString(dtype),
                                       fmt::join(piece.shape, ", ")));
  }
  return from.Read(*index, piece.box,
                   piece.bf16.empty() ? std::as_writable_bytes(piece.value)
                                      : std::as_writable_bytes(piece.bf16));
}

/// Returns the largest batch that divides a pass.
std::int64_t BatchOf(std::int64_t samples) {
  std::int64_t batch = std::min(samples, kLargestBatch);
  while (samples % batch != 0) --batch;
  return batch;
}

}  // namespace

Result<Evaluation> Evaluate(engine::JobSettings settings, const std::string& path) {
  TESSERA_TRY(auto data, OpenJobData(settings));
  TESSERA_TRY(const auto parameters, checkpoint::Checkpoint::Open(path));
  settings.dropout = 0;
  settings.max_steps = 0;
  settings.at_change = engine::AtChange::kKeep;
  settings.global_batch = BatchOf(data.num_samples());
  TESSERA_TRY(const auto collection, engine::MakeCollection(settings, false));
  TESSERA_TRY(const auto mesh, ptc::DeviceMesh::Make({}, {ptc::DeviceId{}}));
  TESSERA_TRY(const auto layout, ptc::Layout::Make(mesh, collection));
  const PrivateState memory(layout, 0);
  TESSERA_TRY(const RankState state, BindState(memory.pieces()));
  for (const ParameterPiece& piece : state.parameters) {
    TESSERA_RETURN_IF_ERROR(Load(*parameters, piece));
  }
  const std::int64_t samples = data.num_samples(), group = settings.global_batch;
  const std::int64_t micro_batch = engine::MicroBatch(settings, ptc::MeshShape{}, {});
  TESSERA_TRY(const auto model, GptModel::Make(settings, state, MakeSelfGroup(), MakeSelfGroup()));
  model->BeginStep();
  BatchReader reader(std::make_shared<const engine::DataMix>(std::move(data)), settings.model,
                     AccessOf(settings));
  const auto start_reading = [&](std::int64_t first) {
    const engine::Cursor begin{.seed = settings.seed};
    reader.Start({engine::Advance(begin, first, samples), {0, group}});
  };
  Evaluation evaluation{.samples = samples, .group = group, .unread = parameters->UnreadFiles()};
  start_reading(0);
  for (std::int64_t first = 0; first < samples; first += group) {
    TESSERA_TRY(const Batch batch, reader.Wait());
    if (first + group < samples) start_reading(first + group);
    const std::size_t window = batch.tokens.size() / static_cast<std::size_t>(group);
    double loss = 0;
    for (std::int64_t begin = 0; begin < group; begin += micro_batch) {
      const std::int64_t count = std::min(micro_batch, group - begin);
      TESSERA_TRY(
          const double share,
          model->EvaluateLoss({.first_sample = first + begin,
                               .num_samples = count,
                               .tokens = std::span(batch.tokens)
                                             .subspan(static_cast<std::size_t>(begin) * window,
                                                      static_cast<std::size_t>(count) * window)}));
      loss += share;
    }
    evaluation.loss += loss * static_cast<double>(group) / static_cast<double>(samples);
    evaluation.losses.push_back(loss);
  }
  return evaluation;
}

}  // namespace tessera::agents::train
