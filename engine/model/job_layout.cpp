// SPDX-License-Identifier: Apache-2.0
#include "engine/model/job_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::engine {

using ptc::Axis;
using ptc::StageRule;

Result<ptc::RuledTensors> TensorsOf(const JobSettings& settings, bool zero) {
  if (settings.program) {
    return ptc::ApplyRules(settings.program->tensors, settings.program->rules, zero);
  }
  TESSERA_TRY(ptc::CollectionPtr tensors, MakeCollection(settings, zero));
  return ptc::RuledTensors{std::move(tensors), {}};
}

Result<StageRule> StagesOn(const StageRule& rule, const ptc::MeshShape& mesh) {
  const std::int64_t stages = mesh[Axis::kPp];
  if (rule.kind != StageRule::Kind::kExplicit) return rule;
  if (stages == 1) return StageRule{};
  const auto last = std::ranges::max_element(rule.stage_of_layer);
  constexpr std::int64_t kMostStages = 65536;  // as many as an axis may have
  if (last != rule.stage_of_layer.end() && *last >= kMostStages) {
    return InvalidArgument(fmt::format("stage {} of a layer is above {}", *last, kMostStages - 1));
  }
  const std::int64_t listed = last == rule.stage_of_layer.end() ? 1 : *last + 1;
  if (listed == stages) return rule;
  return InvalidArgument(fmt::format(
      "stages {} are for pp = {}, the mesh has pp = {}: pp can be {}", ptc::ToString(rule), listed,
      stages, listed == 1 ? "1" : fmt::format("1 or {}", listed)));
}

Result<ptc::Layout> MakeLayout(const ptc::RuledTensors& job, ptc::DeviceMesh mesh) {
  TESSERA_TRY(StageRule stages, StagesOn(job.stages, mesh.shape()));
  return ptc::Layout::Make(std::move(mesh), job.tensors, std::move(stages));
}

Status CheckRunnable(const JobSettings& settings, const ptc::Layout& layout) {
  if (settings.program || layout.stage_rule() == StageRule{}) return OkStatus();
  return InvalidArgument(fmt::format(
      "stages are {}: the built-in trainer runs uniform stages only, one range of layers each",
      ptc::ToString(layout.stage_rule())));
}

}  // namespace tessera::engine
