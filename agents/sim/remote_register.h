// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A decision register on other machines: answers come later, not at all during an outage, and a
/// request that was sent takes effect even if its sender has died.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/decision/embedded.h"
#include "agents/sim/memory_store.h"
#include "agents/sim/process.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

/// Part of a process.
class RemoteRegister : public engine::DecisionRegister {
 public:
  /// What the machines have, and when they are out of reach.
  struct Servers {
    MemoryStore rows;
    Time down_from = 0, down_until = 0;
  };
  /// `servers` outlives all processes.
  RemoteRegister(SimWorld& sim, Process& process, Servers& servers)
      : sim_(sim), process_(process), servers_(servers) {}

  void Write(const std::string& job, std::int64_t slot, const engine::Decision& decision,
             Then<engine::Decision> then) override {
    Ask<engine::Decision>(
        [job, slot, decision](auto& rows, auto answer) {
          rows.Write(job, slot, decision, std::move(answer));
        },
        std::move(then));
  }
  void Read(const std::string& job, std::int64_t slot,
            Then<std::optional<engine::Decision>> then) override {
    Ask<std::optional<engine::Decision>>(
        [job, slot](auto& rows, auto answer) { rows.Read(job, slot, std::move(answer)); },
        std::move(then));
  }
  void FindLast(const std::string& job, Then<std::int64_t> then) override {
    Ask<std::int64_t>([job](auto& rows, auto answer) { rows.FindLast(job, std::move(answer)); },
                      std::move(then));
  }
  void Look(std::function<void(engine::RegisterStatus)> then) override { then({}); }

 private:
  /// \param request called with the rows and where the answer goes
  template <typename T, typename Request>
  void Ask(Request request, Then<T> then) {
    sim_.clock.After(sim_.Pick(1, kLongestWay),
                     [this, alive = std::weak_ptr(alive_), &sim = sim_, &servers = servers_,
                      request = std::move(request), then = std::move(then)]() mutable {
                       const Time now = sim.clock.now();
                       const bool is_down = now >= servers.down_from && now < servers.down_until;
                       Result<T> held = Unavailable("no answer");
                       // What arrived just before the outage is done, and only the answer is lost.
                       if (!is_down || sim.Chance(0.2)) {
                         EmbeddedRegister rows(servers.rows);
                         request(rows, [&](Result<T> answer) { held = std::move(answer); });
                       }
                       if (is_down) held = Unavailable("no answer");
                       if (alive.expired()) return;
                       process_.EnterLater(sim.Pick(1, kLongestWay),
                                           [alive, then = std::move(then), held = std::move(held)] {
                                             if (!alive.expired()) then(held);
                                           });
                     });
  }
  static constexpr Time kLongestWay = 200;

  SimWorld& sim_;
  Process& process_;
  Servers& servers_;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tessera::agents::sim
