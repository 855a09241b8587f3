// SPDX-License-Identifier: Apache-2.0
#include "engine/search/group_traffic.h"

#include "engine/data/cursor.h"
#include "engine/search/workload.h"

namespace tessera::engine {
namespace {

using ptc::Axis;

/// All-reduces over tp of one micro-batch.
std::int64_t TensorBytes(const GptConfig& model, const PassWork& work, std::int64_t samples) {
  const auto reduces = static_cast<std::int64_t>(work.tensor_reduces);  // a whole number
  std::int64_t bytes = reduces * HiddenBytes(model, samples);
  if (work.has_loss) bytes += (kLossMaxBytes + kLossSumBytes) * samples * model.sequence;
  return bytes;
}

}  // namespace

std::int64_t GroupBytes(const JobSettings& settings, const ptc::MeshShape& shape,
                        const StepOptions& options, int rank, ptc::Axis axis) {
  if (shape[axis] == 1) return 0;
  const GptConfig& model = settings.model;
  const std::int64_t tp = shape[Axis::kTp], dp = shape[Axis::kDp], pp = shape[Axis::kPp];
  // Row-major over (pp, dp, tp): CheckMesh refuses ep and cp.
  const std::int64_t replica = rank / tp % dp, stage = rank / (tp * dp);
  const std::int64_t share = ShareOfBatch(GlobalBatchOn(settings, shape), replica, dp).size();
  const auto all_passes = PassesOf(share, MicroBatch(settings, shape, options));
  std::int64_t bytes = 0;
  switch (axis) {
    case Axis::kTp:
      for (const Passes& passes : all_passes) {
        if (passes.count == 0) continue;
        const PassWork work = WorkOf(model, tp, stage, pp, passes.samples);
        bytes += passes.count * TensorBytes(model, work, passes.samples);
      }
      return bytes;
    case Axis::kDp:
      bytes = ParametersOf(model, tp, stage, pp) * static_cast<std::int64_t>(sizeof(float));
      return options.zero ? 2 * bytes : bytes;
    case Axis::kPp:
      for (const Passes& passes : all_passes)
        bytes += 2 * passes.count * (pp - 1) * HiddenBytes(model, passes.samples);
      return model.tied_head ? bytes + 2 * TiedBytes(model, tp) : bytes;
    case Axis::kEp:
    case Axis::kCp:
      break;
  }
  return 0;
}

}  // namespace tessera::engine
