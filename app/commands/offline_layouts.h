// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The two layouts of a plan without a cluster, and their devices.

#include "app/commands/model_source.h"
#include "ptc/layout.h"
#include "ptc/topology/topology.h"

namespace tessera::app {

struct OfflineLayouts {
  ptc::Topology topology;
  ptc::Layout from, to;
  std::vector<ptc::DeviceId> idle;  // available but unused
  std::vector<ptc::DeviceId> lost;  // failed: their state cannot be read
};

/// `--stages RULE`.
OptionSpec stagesOption();
/// Options of a change: --from, --to, --topology, --devices, --lose, --lost, --pin,
/// --stages.
std::vector<OptionSpec> offlineLayoutOptions();

/// Makes the layouts of the model on both meshes. The old mesh uses the first devices of the
/// topology, or those after `on`, in rank order. The new mesh is placed where most bytes already
/// are, on all devices or those after `on` (or --devices), without those of --lose and --lost; with
/// --pin it uses them in their order. Without --topology there are as many nodes of 8 devices as
/// the larger mesh needs.
/// \error kInvalidArgument naming option and text, and as ApplyRules and Layout::Make; kNotFound
Result<OfflineLayouts> readOfflineLayouts(const Arguments& arguments, const ModelSource& source);

}  // namespace tessera::app
