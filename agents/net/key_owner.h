// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whose a public key is, and what its owner may do. Rights come from the cluster's folder of
/// allowed keys, never from what a peer says about itself.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::agents {

enum class Role {
  kViewer,    // sees the cluster and its history, changes nothing and reads no state of jobs
  kOperator,  // acts, and reads the state of jobs
  kNode       // speaks for one node, and for no other
};

struct KeyOwner {
  std::string name;  // of the key's file
  Role role = Role::kViewer;
  std::int32_t node = -1;  // of a node
  friend bool operator==(const KeyOwner&, const KeyOwner&) = default;
};

/// By public key.
using KeyOwners = std::map<std::string, KeyOwner>;

/// "viewer", "operator", "node 3".
std::string RoleText(const KeyOwner& owner);
/// Parses what RoleText returns; the name stays empty.
/// \error kInvalidArgument naming the text
Result<KeyOwner> ParseRole(std::string_view text);

}  // namespace tessera::agents
