// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The devices of a change meet before it begins, while the ranks train, so that cells can go from
/// device to device in the pause. One node makes the place where they meet, and tells the others
/// through the registrar, as ranks do it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/net/timers.h"
#include "agents/node/node_world.h"
#include "agents/node/prepared_change.h"
#include "agents/node/rendezvous_relay.h"
#include "agents/node/uplink.h"
#include "engine/copy/device_exchange.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class DeviceMeeting {
 public:
  /// \pre all outlive this part
  DeviceMeeting(const PreparedChange& change, std::int32_t node, const NodeWorld& world,
                Timers& timers, RendezvousRelay& rendezvous, const Uplink& uplink)
      : change_(change),
        node_(node),
        world_(world),
        timers_(timers),
        rendezvous_(rendezvous),
        uplink_(uplink) {}
  DeviceMeeting(const DeviceMeeting&) = delete;
  DeviceMeeting& operator=(const DeviceMeeting&) = delete;

  /// `done` runs once, unless this part ends before: when the devices have met, or will not. Also
  /// inside the call. Idempotent.
  /// \pre the change is allocated
  void Begin(std::function<void()> done);
  /// Whether `done` has run, or nothing was begun.
  bool is_over() const { return is_over_; }
  /// Null: the devices have not met, and cells go over lanes.
  const std::shared_ptr<engine::DeviceExchange>& exchange() const { return exchange_; }
  /// Leaves the others.
  void End();

 private:
  void Tell(const std::string& place);
  void Ask();
  void Join(std::optional<std::string> place);
  void Finish(Result<std::shared_ptr<engine::DeviceExchange>> exchange);

  const PreparedChange& change_;
  const std::int32_t node_;
  const NodeWorld& world_;
  Timers& timers_;
  RendezvousRelay& rendezvous_;
  const Uplink& uplink_;
  std::vector<ptc::DeviceId> members_;
  bool has_begun_ = false, is_over_ = true;
  std::function<void()> done_;
  std::shared_ptr<void> joining_;
  std::shared_ptr<engine::DeviceExchange> exchange_;
  const std::shared_ptr<const bool> lives_ = std::make_shared<const bool>(true);
};

}  // namespace tessera::agents
