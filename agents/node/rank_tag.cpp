// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_tag.h"

#include <fmt/format.h>

#include <sstream>

namespace tessera::agents {

std::string TagOf(const RankId& id, const Attempt& started) {
  return fmt::format("{} {} {} {}", id.job, ToString(id.device), started.epoch, started.attempt);
}

Result<std::pair<RankId, Attempt>> ParseTag(const std::string& tag) {
  std::istringstream in(tag);
  std::string job, device;
  Attempt started;
  if (!(in >> job >> device >> started.epoch >> started.attempt)) {
    return DataLoss(fmt::format("rank tag '{}' is not 'job device epoch attempt'", tag));
  }
  TESSERA_TRY(const ptc::DeviceId id, ptc::ParseDevice(device));
  return std::pair{RankId{job, id}, started};
}

}  // namespace tessera::agents
