// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where an etcd cluster is, and which of its keys belong to one cluster of Tessera.

#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

struct EtcdPlace {
  std::vector<std::string> endpoints;  // "https://10.0.0.1:2379", the client URLs of its members
  std::string prefix;                  // of all keys: "/tessera/local-3f9a2c"
  /// PEM files, for https; see HttpTls.
  std::string authorities = {}, certificate = {}, key = {};
  friend bool operator==(const EtcdPlace&, const EtcdPlace&) = default;
};

/// Checks the form. Plain http is for the loopback only.
/// \error kInvalidArgument naming the value
Status CheckEtcdPlace(const EtcdPlace& place);

}  // namespace tessera::agents
