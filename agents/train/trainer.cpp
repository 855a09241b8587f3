// SPDX-License-Identifier: Apache-2.0
#include "agents/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "agents/data/job_data.h"
#include "engine/data/cursor.h"

namespace tessera::agents::train {
namespace {

/// Whether every tensor-parallel rank holds the whole tensor.
bool IsReplicated(const ParameterPiece& piece) {
  return *ptc::Box::Whole(piece.shape) == piece.box;
}

}  // namespace

DataAccess AccessOf(const engine::JobSettings& settings) {
  DataAccess access;
  access.open = [settings](std::stop_token cancel) {
    return OpenJobData(settings, {.cancel = std::move(cancel)});
  };
  return access;
}

std::size_t StageMessageFloats(const engine::JobSettings& settings, const tessera_view& view) {
  ptc::MeshShape mesh;
  std::copy(std::begin(view.axis_size), std::end(view.axis_size), mesh.sizes.begin());
  if (mesh[ptc::Axis::kPp] == 1) return 0;
  return static_cast<std::size_t>(
      engine::MicroBatch(settings, mesh, {.micro_batch = view.micro_batch}) *
      settings.model.sequence * settings.model.width);
}

Trainer::Trainer(engine::JobSettings settings, engine::DataMix data, DataAccess access)
    : settings_(std::move(settings)),
      num_samples_(data.num_samples()),
      reader_(std::make_unique<BatchReader>(
          std::make_shared<const engine::DataMix>(std::move(data)), settings_.model,
          access.open ? std::move(access) : AccessOf(settings_))) {}

Result<Groups> Trainer::Bind(std::span<const tessera_piece> pieces, Groups groups,
                             std::int64_t micro_batch) {
  ptc::MeshShape mesh;
  mesh[ptc::Axis::kPp] = groups.pp->size();
  mesh[ptc::Axis::kDp] = groups.dp->size();
  mesh[ptc::Axis::kTp] = groups.tp->size();
  const engine::StepOptions options{.micro_batch = micro_batch};
  TESSERA_RETURN_IF_ERROR(engine::CheckMesh(settings_, mesh, options));
  TESSERA_TRY(RankState state, BindState(pieces));
  engine::JobSettings settings = settings_;
  settings.global_batch = engine::GlobalBatchOn(settings_, mesh);
  TESSERA_TRY(auto model, GptModel::Make(settings, state, groups.tp, groups.pp));
  TESSERA_TRY(auto updater, Updater::Make(state.parameters, groups.dp));
  global_batch_ = settings.global_batch;
  micro_batch_ = engine::MicroBatch(settings_, mesh, options);
  model_ = std::move(model);
  updater_ = std::move(updater);
  state_ = std::move(state);
  std::swap(groups_, groups);
  FindReplicatedGradients();
  schedule_ = engine::OneForwardOneBackward(groups_.pp->rank(), groups_.pp->size(),
                                            engine::NumMicroBatches(share().size(), micro_batch_));
  batch_.reset();  // it was read for the old share
  ahead_.reset();
  return groups;
}

void Trainer::FindReplicatedGradients() {
  replicated_.clear();
  replicated_copy_.clear();
  if (groups_.tp->size() == 1) return;
  std::span<float> gradients = model_->gradients();
  std::size_t elements = 0;
  for (const ParameterPiece& piece : state_.parameters) {
    if (IsReplicated(piece)) {
      replicated_.push_back(gradients.first(piece.size()));
      elements += piece.size();
    }
    gradients = gradients.subspan(piece.size());
  }
  replicated_copy_.resize(elements);
}

engine::BatchShare Trainer::share() const {
  return engine::ShareOfBatch(global_batch_, groups_.dp->rank(), groups_.dp->size());
}

engine::Cursor Trainer::cursor() const {
  const auto kept =
      engine::Cursor::FromArray({state_.cursor[0], state_.cursor[1], state_.cursor[2]});
  return is_changed_ ? engine::CursorAfterChange(kept, settings_.at_change) : kept;
}

bool Trainer::HasBatch() const { return batch_ && batch_->request == RequestAt(cursor()); }

Status Trainer::FetchBatch() {
  if (HasBatch()) return OkStatus();
  const BatchRequest request = RequestAt(cursor());
  if (!reads_data()) {
    batch_ = Batch{request, {}};
    return OkStatus();
  }
  const auto begin = std::chrono::steady_clock::now();
  batch_.reset();
  if (std::exchange(opens_anew_, false)) {
    reader_->StartAnew(request);
  } else {
    reader_->Start(request);
  }
  auto batch = reader_->Wait();
  waiting_ += std::chrono::steady_clock::now() - begin;
  if (!batch) return FailedToRead(batch.error());
  batch_ = std::move(*batch);
  data_problem_.clear();
  return OkStatus();
}

Status Trainer::FailedToRead(const Error& error) {
  data_problem_ = error.ToString();
  opens_anew_ = true;
  return error;
}

void Trainer::DropBatch() {
  batch_.reset();
  opens_anew_ = true;
}

void Trainer::StartReadAhead() {
  ahead_.reset();
  is_reading_ahead_ = false;
  const bool is_last_step = settings_.max_steps > 0 && step() + 1 >= settings_.max_steps;
  if (is_last_step) return;
  const BatchRequest request = RequestAt(engine::Advance(cursor(), global_batch_, num_samples_));
  if (reads_data()) {
    reader_->Start(request);
    is_reading_ahead_ = true;
  } else {
    ahead_ = Batch{request, {}};
  }
}

bool Trainer::FinishReadAhead() {
  if (!std::exchange(is_reading_ahead_, false)) return true;
  const auto begin = std::chrono::steady_clock::now();
  auto batch = reader_->Wait();
  waiting_ += std::chrono::steady_clock::now() - begin;
  if (!batch) {
    static_cast<void>(FailedToRead(batch.error()));
    return false;
  }
  ahead_ = std::move(*batch);
  return true;
}

Result<double> Trainer::RunMicroBatches() {
  const std::int64_t samples = share().size();
  // Samples are numbered through the whole run, across passes and data-parallel ranks.
  const std::int64_t first = *state_.step * global_batch_ + share().begin;
  const std::span<const std::int32_t> tokens = batch_->tokens;  // empty on middle stages
  const auto window = tokens.size() / static_cast<std::size_t>(samples);
  model_->BeginStep();
  double loss = 0;
  for (const engine::StageAction& action : schedule_) {
    if (action.kind == engine::StageAction::kBackward) {
      TESSERA_RETURN_IF_ERROR(model_->Backward());
      continue;
    }
    const std::int64_t begin = action.micro_batch * micro_batch_;
    const std::int64_t count = std::min(micro_batch_, samples - begin);
    TESSERA_TRY(
        const double part,
        model_->Forward({.first_sample = first + begin,
                         .num_samples = count,
                         .tokens = tokens.subspan(static_cast<std::size_t>(begin) * window,
                                                  static_cast<std::size_t>(count) * window)}));
    loss += part;
  }
  return loss;
}

Status Trainer::AverageReplicatedGradients() {
  if (replicated_copy_.empty()) return OkStatus();
  auto at = replicated_copy_.begin();
  for (const std::span<float> gradient : replicated_) {
    at = std::copy(gradient.begin(), gradient.end(), at);
  }
  TESSERA_RETURN_IF_ERROR(groups_.tp->AllReduceSum(replicated_copy_));
  const auto ranks = static_cast<float>(groups_.tp->size());
  auto from = replicated_copy_.cbegin();
  for (const std::span<float> gradient : replicated_) {
    for (float& value : gradient) value = *from++ / ranks;
  }
  return OkStatus();
}

Status Trainer::ReduceTiedEmbedding() {
  const std::span<float> mine = model_->tied_gradient();
  if (mine.empty()) return OkStatus();
  std::vector<float> other(mine.size());
  Collective& pp = *groups_.pp;
  const int last = pp.size() - 1;
  if (is_first_stage()) {
    TESSERA_RETURN_IF_ERROR(pp.Send(last, mine));
    TESSERA_RETURN_IF_ERROR(pp.Receive(last, other));
  } else {
    TESSERA_RETURN_IF_ERROR(pp.Receive(0, other));
    TESSERA_RETURN_IF_ERROR(pp.Send(0, mine));
  }
  // A sum of two has the same bits in either order: both stages get first + last.
  std::transform(mine.begin(), mine.end(), other.begin(), mine.begin(), std::plus<>());
  return OkStatus();
}

double Trainer::NormShare() const {
  if (groups_.dp->rank() != 0) return 0;
  const bool is_second_copy = !model_->tied_gradient().empty() && is_last_stage();
  double sum = 0;
  for (const ParameterPiece& piece : state_.parameters) {
    if (IsReplicated(piece) && groups_.tp->rank() != 0) continue;
    if (is_second_copy && piece.name == kTokenEmbedding) continue;
    sum += engine::SumOfSquares(piece.gradient);
  }
  return sum;
}

Result<tessera_record> Trainer::ComputeGradients() {
  TESSERA_RETURN_IF_ERROR(FetchBatch());
  StartReadAhead();
  TESSERA_TRY(const double loss, RunMicroBatches());
  const std::span<float> gradients = model_->gradients();
  TESSERA_RETURN_IF_ERROR(groups_.dp->AllReduceSum(gradients));
  TESSERA_RETURN_IF_ERROR(AverageReplicatedGradients());
  TESSERA_RETURN_IF_ERROR(ReduceTiedEmbedding());
  std::size_t offset = 0;
  for (const ParameterPiece& piece : state_.parameters) {
    const auto reduced = gradients.subspan(offset, piece.size());
    std::copy(reduced.begin(), reduced.end(), piece.gradient.begin());
    offset += piece.size();
  }

  tessera_record record{};
  record.norm2 = NormShare();
  if (is_last_stage() && groups_.tp->rank() == 0) {
    record.loss = loss;
    record.tokens = share().size() * settings_.model.sequence;
  }
  if (!FinishReadAhead()) record.request = TESSERA_PAUSE_DATA;
  record.found_inf = std::isfinite(record.norm2) && std::isfinite(loss) ? 0 : 1;
  return record;
}

Status Trainer::PrepareUpdate(double clip, bool skip) {
  prepared_.reset();
  if (skip) return OkStatus();
  const engine::UpdateCoefficients coefficients =
      engine::CoefficientsOf(settings_, *state_.step + 1, clip);
  TESSERA_RETURN_IF_ERROR(updater_.Prepare(coefficients));
  prepared_ = coefficients;
  return OkStatus();
}

void Trainer::CommitUpdate() {
  if (prepared_) updater_.Commit(*std::exchange(prepared_, std::nullopt));
  const auto next = engine::Advance(cursor(), global_batch_, num_samples_).ToArray();
  std::copy(next.begin(), next.end(), state_.cursor);
  is_changed_ = false;
  ++*state_.step;
  batch_ = std::exchange(ahead_, std::nullopt);
  data_wait_ = std::exchange(waiting_, {});
}

}  // namespace tessera::agents::train
