// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/panel_states.h"

#include <fmt/format.h>

#include "engine/model/job_layout.h"
#include "tests/ui/sample_clusters.h"

namespace tessera::test {

engine::vfs::Jobs StatesOf(const engine::ClusterSnapshot& snapshot) {
  engine::vfs::Jobs jobs;
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-mini");
  for (const engine::JobStatus& job : snapshot.jobs) {
    const auto mesh = ptc::DeviceMesh::Make(job.mesh, job.devices);
    const auto tensors = engine::TensorsOf(settings, job.options.zero);
    if (!mesh || !tensors) continue;
    const auto layout = engine::MakeLayout(*tensors, *mesh);
    if (!layout) continue;
    jobs[job.name] = engine::vfs::MakeFacts(
        {job.name, job.epoch, job.timeline, job.step, *layout, engine::ToJson(settings)}, nullptr);
  }
  return jobs;
}

engine::vfs::JobFactsPtr BigState(std::int64_t layers, const ptc::MeshShape& shape) {
  std::vector<ptc::TensorSpec> specs;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (int i = 0; i < 36; ++i) {
      ptc::TensorSpec spec;
      spec.name = fmt::format("h.{}.w{}", layer, i);
      spec.shape = {4096, 1024};
      spec.role = i % 4 == 0 ? ptc::TensorRole::kParam : ptc::TensorRole::kExpAvg;
      spec.place = ptc::StagePlace::kLayer;
      spec.layer = layer;
      spec.rule.dims.resize(2);
      spec.rule.dims[static_cast<std::size_t>(i % 2)].axes = {ptc::Axis::kTp};
      specs.push_back(std::move(spec));
    }
  }
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t d = 0; d < shape.num_ranks(); ++d) devices.push_back({d / 8, d % 8});
  auto layout = ptc::Layout::Make(*ptc::DeviceMesh::Make(shape, devices),
                                  *ptc::Collection::Make(std::move(specs), layers));
  return engine::vfs::MakeFacts({kJob, 3, 0, 1284, *layout}, nullptr);
}

}  // namespace tessera::test
