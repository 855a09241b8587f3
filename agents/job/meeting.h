// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the ranks of a view wait for each other before they build its groups.

#include "agents/job/tessera_job.h"
#include "agents/train/comm/rendezvous.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Comes back when every rank of `view` has called it. Groups wait only a minute for their members,
/// but a rank may read for longer before it is ready for them; whoever started it ends the wait, if
/// it does not come further. World size - 1 messages to rank 0, and one from it to all.
/// \error kCancelled where the attempt is abandoned; others of the rendezvous
Status MeetAll(const tessera_view& view, train::Rendezvous& rendezvous);

}  // namespace tessera::agents
