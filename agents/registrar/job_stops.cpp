// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_stops.h"

namespace tessera::agents {

void JobStops::Send(std::int32_t node, const std::string& job, bool forget,
                    const Extent& extent) const {
  wire::ToNode message;
  message.mutable_stop_job()->set_job(job);
  message.mutable_stop_job()->set_forget(forget);
  message.mutable_stop_job()->set_origin(extent.origin);
  message.mutable_stop_job()->set_below_epoch(extent.below_epoch);
  static_cast<void>(SendTo(node, message));
}

void JobStops::EndRanks(std::int32_t node, const Job& job) const {
  Send(node, job.name, false, {.origin = job.start});
}

void JobStops::Free(std::int32_t node, const std::string& job, const Extent& extent) const {
  Send(node, job, true, extent);
}

void JobStops::Stop(const Job& job, bool forget) {
  for (const auto& [number, node] : members_.nodes()) {
    Send(number, job.name, forget, {.origin = job.start});
  }
  rendezvous_.Forget(job.name);
}

// Only jobs that are known to be over. A node may hold the only copy of the state of a job that
// this registrar does not know.
void JobStops::Resend(std::int32_t node,
                      const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) const {
  for (const wire::NodeJob& row : jobs) {
    if (!jobs_.HasEnded(row.job(), row.origin())) continue;
    Free(node, row.job(), {.origin = row.origin()});
  }
}

}  // namespace tessera::agents
