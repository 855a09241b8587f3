// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The hops of one round as messages.

#include <cstdint>
#include <vector>

#include "ptc/schedule/hops.h"
#include "ptc/schedule/schedule.h"

namespace tessera::ptc {

/// Puts together what goes between the same two devices, in the order of (tensor, cell), up to
/// `message_bytes` a message, and cuts what is larger; an element is never cut. Ordered by (step,
/// source, destination). \pre message_bytes >= 1
std::vector<Message> MakeMessages(const std::vector<Hop>& hops,
                                  const std::vector<std::size_t>& of_round, const Sites& sites,
                                  std::int64_t message_bytes);

}  // namespace tessera::ptc
