// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The hops of one round as messages.

#include <cstdint>
#include <vector>

#include "ptc/schedule/hops.h"
#include "ptc/schedule/schedule.h"

namespace tessera::ptc {

/// Coalesces the hops between the same two devices, in the order of (tensor, cell), into messages
/// of up to `message_bytes`. Larger hops are cut, but never inside an element. The result is
/// ordered by (step, source, destination).
/// \pre message_bytes >= 1
std::vector<Message> MakeMessages(const std::vector<Hop>& hops,
                                  const std::vector<std::size_t>& of_round, const Sites& sites,
                                  std::int64_t message_bytes);

}  // namespace tessera::ptc
