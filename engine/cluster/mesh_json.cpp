// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/mesh_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace tessera::engine {

nlohmann::ordered_json MeshObject(const ptc::MeshShape& mesh) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const ptc::Axis axis :
       {ptc::Axis::kDp, ptc::Axis::kTp, ptc::Axis::kPp, ptc::Axis::kEp, ptc::Axis::kCp}) {
    object[std::string(ptc::ToString(axis))] = mesh[axis];
  }
  return object;
}

nlohmann::ordered_json DeviceNames(const std::vector<ptc::DeviceId>& devices) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const ptc::DeviceId device : devices) names.push_back(ptc::ToString(device));
  return names;
}

}  // namespace tessera::engine
