// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/shown_layout.h"

#include <algorithm>

namespace tessera::ui {
namespace {

std::optional<JobPlace> placeOf(const ptc::MeshShape& shape,
                                const std::vector<ptc::DeviceId>& devices,
                                const engine::StepOptions& options) {
  auto mesh = ptc::DeviceMesh::Make(shape, devices);
  if (!mesh) return {};
  return JobPlace{std::move(*mesh), options};
}

}  // namespace

const engine::JobStatus* ShownLayout::jobStatus() const {
  const auto found = std::ranges::find(cluster->jobs, job, &engine::JobStatus::name);
  return found == cluster->jobs.end() ? nullptr : &*found;
}

void ShownLayout::placeJob() {
  now.reset();
  next.reset();
  const engine::JobStatus* status = jobStatus();
  if (status == nullptr) return;
  now = placeOf(status->mesh, status->devices, status->options);
  const auto& txn = cluster->transaction;
  if (source == LayoutSource::Draft || (source == LayoutSource::Lesson && !txn)) {
    if (plan && plan->job == job) next = placeOf(plan->to_mesh, plan->to_devices, plan->to_options);
    return;
  }
  if (!txn || txn->job != job || engine::IsFinal(txn->phase)) return;
  now = placeOf(txn->from_mesh, txn->from_devices, txn->from_options);
  next = placeOf(txn->to_mesh, txn->to_devices, txn->to_options);
}

}  // namespace tessera::ui
