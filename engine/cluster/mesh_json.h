// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Meshes in JSON documents.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ptc/mesh.h"

namespace tessera::engine {

/// {"dp":2,"tp":2,"pp":1,"ep":1,"cp":1}, with all axes.
nlohmann::ordered_json MeshObject(const ptc::MeshShape& mesh);
/// ["n0g0","n0g1"], in rank order.
nlohmann::ordered_json DeviceNames(const std::vector<ptc::DeviceId>& devices);

}  // namespace tessera::engine
