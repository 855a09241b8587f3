// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Digests of cells in the messages between agents and registrar.

#include <vector>

#include "agents/move/cell_digests.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// Appends one row per device.
void EncodeDigests(const std::vector<DeviceDigests>& in,
                   google::protobuf::RepeatedPtrField<wire::CellDigests>* out);

}  // namespace tessera::agents
