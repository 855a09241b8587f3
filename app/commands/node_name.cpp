// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/node_name.h"

#include <fmt/format.h>

#include "ptc/mesh.h"

namespace tessera::app {

Result<std::int32_t> parseNodeName(const std::string& name) {
  const auto device = ptc::ParseDevice(name + "g0");
  if (!device) return InvalidArgument(fmt::format("'{}' is not a node such as n1", name));
  return device->node;
}

}  // namespace tessera::app
