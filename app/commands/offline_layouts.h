// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The two layouts of a plan without a cluster, and the devices they lie on.

#include "app/commands/model_source.h"
#include "ptc/layout.h"
#include "ptc/topology/topology.h"

namespace tessera::app {

struct OfflineLayouts {
  ptc::Topology topology;
  ptc::Layout from, to;
  std::vector<ptc::DeviceId> idle;  // could be used and are not
  std::vector<ptc::DeviceId> lost;  // failed: what they hold cannot be read
};

/// `--stages RULE`.
OptionSpec stagesOption();
/// Options of a change: --from, --to, --topology, --devices, --lose, --lost, --pin,
/// --stages.
std::vector<OptionSpec> offlineLayoutOptions();

/// Lays the model on both meshes. The old one takes the first devices of the topology, or those
/// after `on`, in the order of its ranks; the new one is placed where most bytes already lie, on
/// all of them or those after `on` (--devices) but for what --lose and --lost take away; --pin
/// takes them in their order. Without --topology there are as many nodes of 8 devices as the larger
/// mesh needs. \error kInvalidArgument naming option and text, and as ApplyRules and Layout::Make;
/// kNotFound
Result<OfflineLayouts> readOfflineLayouts(const Arguments& arguments, const ModelSource& source);

}  // namespace tessera::app
