// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The JSON that scripts rely on: bytes are integers, times seconds, hashes 16 hex digits. Keys are
/// only ever added.

#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

using Json = nlohmann::ordered_json;

Json toJson(const ptc::MeshShape& mesh);  // {"dp":2,"tp":2,"pp":1}; ep and cp where above 1
Json toJson(const std::vector<ptc::DeviceId>& devices);
Json toJson(const engine::ClusterSnapshot& snapshot);
Json toJson(const engine::JobStatus& job);
Json toJson(const engine::TxnStatus& txn);
Json toJson(const engine::PlanSummary& plan);
/// `busiest_port` and `bandwidths` of a plan.
Json portOf(const engine::PlanCertificate& certificate);
Json bandwidthsOf(const engine::PlanCertificate& certificate);
Json toJson(const engine::HistoryEntry& entry);
Json toJson(const engine::StepOptions& options);  // {"zero":false,"micro_batch":0}
Json toJson(const engine::Proposal& proposal);
Json toJson(const engine::Check& check);
Json toJson(const engine::Sample& sample);
Json toJson(const engine::Event& event);
Json toJson(const wire::DigestReply& digest);

/// Prints one line.
void printLine(const Json& json);

}  // namespace tessera::app
