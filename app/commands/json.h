// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The JSON that scripts rely on. Every document is one object on one line and begins with
/// `"version"`. Keys end in their unit (`_bytes`, `_seconds`, `_bytes_per_second`); bytes are
/// integers, digests and hashes are 16 hex digits, times are seconds since 1970. A mesh is an
/// object with all axes. What is unknown or absent is null. Within a version keys are only added.
/// The page json.md of the guide describes each document, and json_page_test compares it with what
/// verbs print. A .cpp that builds or reads a document includes nlohmann/json.hpp itself.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::wire {
class DigestReply;  // agents/wire/tessera/wire/control.proto
}

namespace tessera::app {

using Json = nlohmann::ordered_json;

Json toJson(const ptc::MeshShape& mesh);  // {"dp":2,"tp":2,"pp":1,"ep":1,"cp":1}
Json toJson(const std::vector<ptc::DeviceId>& devices);
Json toJson(const engine::ClusterSnapshot& snapshot);
Json toJson(const engine::SnapshotEvery& every);  // {"every_steps":20,"every_seconds":null}
Json toJson(const engine::CheckpointEntry& checkpoint);
/// \param now the registrar's clock, for the age of the job; 0: not known
Json toJson(const engine::JobStatus& job, double now = 0);
Json toJson(const engine::DecisionStatus& decision);
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

/// The version of the keys. A release in which a key is removed, renamed or gets another meaning
/// increments it.
inline constexpr int kJsonVersion = 1;

/// `document` with its version in front, as one line. Bytes that are not UTF-8 become U+FFFD.
/// \pre document.is_object()
std::string lineOf(const Json& document);
/// Prints lineOf(document) and flushes stdout.
void printLine(const Json& document);

}  // namespace tessera::app
