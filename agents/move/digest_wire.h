// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Digests of cells and of state in the messages between agents and registrar.

#include <vector>

#include "agents/move/cell_digests.h"
#include "agents/move/state_digests.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Appends one row per device.
void EncodeDigests(const std::vector<DeviceDigests>& in,
                   google::protobuf::RepeatedPtrField<wire::CellDigests>* out);
/// \error kInvalidArgument naming a device that is none
Result<std::vector<DeviceDigests>> DecodeDigests(
    const google::protobuf::RepeatedPtrField<wire::CellDigests>& in);

void Encode(const StateDigests& in, wire::StateDigestSides* out);
/// \error kInvalidArgument naming a device that is none, or a row of unequal lengths
Result<StateDigests> Decode(const wire::StateDigestSides& in);

}  // namespace tessera::agents
