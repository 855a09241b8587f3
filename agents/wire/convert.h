// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Converts between messages and the plain values of engine/cluster/snapshot.h. Decoding checks
/// every enum and range, so that bytes from a peer never abort a process.

#include <cstddef>
#include <utility>
#include <vector>

#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"
#include "engine/cluster/snapshot_change.h"
#include "ptc/base/result.h"

namespace tessera::agents {

inline constexpr std::uint32_t kProtocolMajor = 1;
inline constexpr std::uint32_t kProtocolMinor = 32;

void Encode(ptc::DeviceId device, wire::Device* out);
void Encode(const ptc::MeshShape& mesh, wire::Mesh* out);
void Encode(const engine::StepOptions& options, wire::StepOptions* out);
void Encode(engine::SnapshotEvery every, wire::SnapshotEvery* out);
void Encode(const engine::ClusterSnapshot& snapshot, wire::Snapshot* out);
void Encode(const engine::SnapshotChange& change, wire::SnapshotChange* out);
void Encode(const engine::NetworkFaults& lanes, wire::NetworkFaults* out);
void Encode(const engine::TxnStatus& txn, wire::TxnInfo* out);
void Encode(const engine::Event& event, wire::EventInfo* out);
void Encode(const engine::Sample& sample, wire::SampleInfo* out);
void Encode(const engine::PlanSummary& plan, wire::PlanInfo* out);
void Encode(const engine::HistoryEntry& entry, wire::HistoryInfo* out);
void Encode(const engine::Candidate& candidate, wire::CandidateInfo* out);
void Encode(const engine::CheckpointEntry& checkpoint, wire::CheckpointInfo* out);
void Encode(const engine::Proposal& proposal, wire::ProposeReply* out);
void Encode(const engine::Check& check, wire::CheckInfo* out);
void Encode(const std::vector<engine::Check>& checks, wire::DoctorReply* out);
void Encode(const engine::OperatorLease& lease, wire::OperatorLease* out);
void Encode(const Error& error, wire::ErrorReply* out);

Result<ptc::DeviceId> Decode(const wire::Device& in);
Result<ptc::MeshShape> Decode(const wire::Mesh& in);
Result<engine::StepOptions> Decode(const wire::StepOptions& in);
Result<engine::ClusterSnapshot> Decode(const wire::Snapshot& in);
Result<engine::SnapshotChange> Decode(const wire::SnapshotChange& in);
Result<engine::OperatorLease> Decode(const wire::OperatorLease& in);
Result<engine::NetworkFaults> Decode(const wire::NetworkFaults& in);
Result<engine::TxnStatus> Decode(const wire::TxnInfo& in);
Result<engine::Event> Decode(const wire::EventInfo& in);
Result<engine::Sample> Decode(const wire::SampleInfo& in);
Result<engine::PlanSummary> Decode(const wire::PlanInfo& in);
Result<engine::HistoryEntry> Decode(const wire::HistoryInfo& in);
Result<engine::Candidate> Decode(const wire::CandidateInfo& in);
Result<engine::CheckpointEntry> Decode(const wire::CheckpointInfo& in);
Result<engine::Proposal> Decode(const wire::ProposeReply& in);
Result<engine::Check> Decode(const wire::CheckInfo& in);
Result<std::vector<engine::Check>> Decode(const wire::DoctorReply& in);
Error Decode(const wire::ErrorReply& in);
Result<engine::SnapshotEvery> Decode(const wire::SnapshotEvery& in);
Result<engine::OnFailure> DecodeOnFailure(std::uint32_t value);
Result<engine::LossChoice> DecodeLossChoice(std::uint32_t value);
Result<engine::RecoverySource> DecodeRecoverySource(std::uint32_t value);

/// Decodes messages that have a Decode above, up to the first error.
template <typename T, typename Messages>
Result<std::vector<T>> DecodeAll(const Messages& messages) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(messages.size()));
  for (const auto& message : messages) {
    TESSERA_TRY(T value, Decode(message));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace tessera::agents
