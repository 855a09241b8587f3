// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The plan that agents carry out when bytes may be passed on: they cross to a node once.

#include "ptc/layout.h"
#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

/// `plan` with cells that several devices of one node get from other hosts relayed (RelayedHops):
/// each crosses the network once, in slices, and moves that are `forwarded` bring the slices from
/// the device that received them to the others of its node. Each target element is still written
/// once, so `bytes.moved()` stays; network bytes become host bytes, and no port is busy for longer
/// than the busiest one was. Sums, busiest port, estimate and hash are those of the new moves.
///
/// What is forwarded goes when all else has arrived and has been verified. Where that would take
/// longer than sending all of it straight, and where nothing can be relayed, `plan` itself.
/// \pre `plan` is MakePlan(from, to, topology), without conversions of dtypes
Plan RelayPlan(const Plan& plan, const Layout& from, const Layout& to, const Topology& topology);

}  // namespace tessera::ptc
