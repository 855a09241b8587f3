// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_stops.h"

namespace tessera::agents {

void JobStops::Send(std::int32_t node, const std::string& job, bool forget) const {
  wire::ToNode message;
  message.mutable_stop_job()->set_job(job);
  message.mutable_stop_job()->set_forget(forget);
  static_cast<void>(SendTo(node, message));
}

void JobStops::Stop(const std::string& name, bool forget) {
  for (const auto& [number, node] : members_.nodes()) Send(number, name, forget);
  rendezvous_.Forget(name);
}

// Only jobs that are known to be over. A node may hold the only copy of the state of a job that
// this registrar does not know.
void JobStops::Resend(std::int32_t node,
                      const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) const {
  for (const wire::NodeJob& row : jobs) {
    if (jobs_.HasEnded(row.job())) Send(node, row.job(), true);
  }
}

}  // namespace tessera::agents
