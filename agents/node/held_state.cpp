// SPDX-License-Identifier: Apache-2.0
#include "agents/node/held_state.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "agents/node/step_words.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

Result<bool> CheckHeldState(DeviceStore& devices, const RankTable& ranks,
                            const wire::StartJob& message, ptc::DeviceId id) {
  const DeviceStore::Device* device = devices.Find(id);
  const std::string name = ToString(id);
  if (ranks.Find({message.job(), id})) {
    return FailedPrecondition(fmt::format("the rank on {} is still ending", name));
  }
  if (!device || device->failed) return FailedPrecondition(fmt::format("{} failed", name));
  engine::ArenaHeader& header = device->arena->header();
  const auto step = static_cast<std::uint64_t>(message.step());
  const std::uint64_t end = header.end.load();
  const bool lags = message.decision().step() == message.step() && end + 1 == step &&
                    header.grads_step.load() == step;
  if (!device->table || device->table->job() != message.job() ||
      device->table->epoch() != message.epoch() || header.begin.load() != end ||
      (end != step && !lags)) {
    return FailedPrecondition(fmt::format("{} does not hold the state of epoch {} after step {}",
                                          name, message.epoch(), message.step()));
  }
  header.request.store(0);
  header.hold.store(0);
  if (!lags) {
    // The ranks have ended while this one waited for a hold, and not all have the decision. All
    // make the step again.
    if (header.decision_step.load() > step) header.decision_step.store(0);
    return false;
  }
  Store(message.decision(), header);
  return true;
}

}  // namespace tessera::agents
