// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The messages that wire_fuzz decodes, in the order that the first byte of its inputs names.

#include <cstddef>

#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::fuzz {

template <typename... Messages>
struct Types {
  static constexpr std::size_t kCount = sizeof...(Messages);
};

using WireMessages =
    Types<wire::Device, wire::Mesh, wire::StepOptions, wire::Snapshot, wire::SnapshotChange,
          wire::OperatorLease, wire::NetworkFaults, wire::TxnInfo, wire::EventInfo,
          wire::SampleInfo, wire::PlanInfo, wire::HistoryInfo, wire::CandidateInfo,
          wire::CheckpointInfo, wire::ProposeReply, wire::CheckInfo, wire::DoctorReply,
          wire::SnapshotEvery, wire::HistoryRequest, wire::EventsRequest, wire::SamplesRequest,
          wire::ChangesRequest, wire::ChangesReply, wire::TimeRange, wire::StateDigestSides>;
inline constexpr std::size_t kNumWireMessages = WireMessages::kCount;

}  // namespace tessera::fuzz
