// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The options that say in which etcd cluster transactions are decided.

#include <string>
#include <vector>

#include "agents/decision/etcd_place.h"
#include "app/commands/options.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// `--etcd` and those that need it.
std::vector<OptionSpec> etcdOptions();
/// Files become absolute. Without `--etcd` the place has no endpoints.
/// \param prefix of the keys, if none is given
/// \error kInvalidArgument naming the option; kNotFound naming a file
Result<agents::EtcdPlace> readEtcd(const Arguments& arguments, const std::string& prefix);

}  // namespace tessera::app
