// SPDX-License-Identifier: Apache-2.0
#include "agents/train/evaluate.h"

#include <fmt/format.h>

#include <utility>

#include "agents/data/job_data.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"
#include "engine/checkpoint/checkpoint.h"

namespace tessera::agents::train {
namespace {

/// Large enough to be fast, small enough for differences between groups to tell chance from more.
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

/// The largest batch that goes into a pass without rest.
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
  Initialise(settings, state);  // step and cursor; the parameters follow
  for (const ParameterPiece& piece : state.parameters) {
    TESSERA_RETURN_IF_ERROR(Load(*parameters, piece));
  }
  const std::int64_t samples = data.num_samples();
  Trainer trainer(settings, std::move(data));
  if (auto bound = trainer.Bind(memory.pieces(), SelfGroups(), 0); !bound) return bound.error();
  Evaluation evaluation{.samples = samples, .group = settings.global_batch};
  const std::int64_t batches = samples / settings.global_batch;
  for (std::int64_t i = 0; i < batches; ++i) {
    TESSERA_TRY(const tessera_record record, trainer.ComputeGradients());
    evaluation.loss += record.loss / static_cast<double>(batches);
    evaluation.losses.push_back(record.loss);
    TESSERA_RETURN_IF_ERROR(trainer.PrepareUpdate(0, /*skip=*/true));
    trainer.CommitUpdate();
  }
  return evaluation;
}

}  // namespace tessera::agents::train
