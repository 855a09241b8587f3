// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// DeviceExchange by NCCL. A flow is cut into chunks, which are packed, sent, unpacked and
/// compared; all flows of a node send their next chunks at the same time.

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/gpu/nccl_group.h"
#include "engine/copy/device_exchange.h"

namespace tessera::agents {

/// Which devices take part, in the order of their ranks: the same in all processes.
struct ExchangeMembers {
  std::vector<ptc::DeviceId> all;
  std::map<ptc::DeviceId, int> local;  // those of this process, with their numbers in CUDA
  std::vector<engine::ExchangeEnds> flows = {};  // of these
};

/// Meets the other processes, waits for them, and connects the ends of each flow. The exchange runs
/// these flows only, and takes no more memory for it.
/// \param meeting of NcclGroup::NewMeeting
/// \pre !members.local.empty(); a flow is known at both ends
/// \error as CudaDevice::Open, NcclGroup::Join and NcclGroup::Run
Result<std::unique_ptr<engine::DeviceExchange>> JoinNcclExchange(const std::string& meeting,
                                                                 const ExchangeMembers& members,
                                                                 const std::stop_token& stop);

}  // namespace tessera::agents
