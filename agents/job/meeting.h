// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Makes the ranks of a view wait for each other before they build its groups.

#include "agents/job/tessera_job.h"
#include "agents/train/comm/rendezvous.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Returns when every rank of `view` has called it. Groups wait only a minute for their members,
/// but a rank may read data for longer before it is ready. The registrar abandons an attempt
/// without progress, which ends the wait. Rank 0 reads an entry of every other rank, and then
/// writes an entry that the others read.
/// \error kCancelled if the attempt is abandoned; others of the rendezvous
Status MeetAll(const tessera_view& view, train::Rendezvous& rendezvous);

}  // namespace tessera::agents
