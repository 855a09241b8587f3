// SPDX-License-Identifier: Apache-2.0
#include "agents/node/device_meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {
namespace {

constexpr char kPlaceKey[] = "devices";
/// Of a meeting. Ranks that join a job take about as long.
constexpr auto kLongestMeeting = std::chrono::seconds(20);

/// StoreSet or StoreGet of the place where the devices of a change meet.
template <typename Message>
Message OfPlace(const wire::Prepare& change) {
  Message message;
  message.set_job(change.job());
  message.set_epoch(change.epoch());
  message.set_attempt(change.attempt());
  message.set_key(kPlaceKey);
  return message;
}

}  // namespace

void DeviceMeeting::Begin(std::function<void()> done) {
  if (std::exchange(has_begun_, true)) {
    if (is_over_) done();
    return;
  }
  members_ = change_.ExchangeMembers();
  const bool takes_part =
      std::ranges::any_of(members_, [this](ptc::DeviceId device) { return device.node == node_; });
  if (!takes_part || !world_.join_exchange) return done();
  is_over_ = false;
  done_ = std::move(done);
  timers_.After(kLongestMeeting, [this, lives = std::weak_ptr(lives_)] {
    if (lives.expired() || is_over_) return;
    Finish(Timeout(fmt::format("they have not met within {} s", kLongestMeeting.count())));
  });
  if (members_.front().node == node_) return Join(std::nullopt);
  Ask();
}

void DeviceMeeting::Ask() {
  rendezvous_.Get(OfPlace<wire::StoreGet>(change_.prepare()),
                  [this, lives = std::weak_ptr(lives_)](const std::optional<std::string>& place) {
                    if (lives.expired() || is_over_) return;
                    if (place) return Join(place);
                    Finish(Unavailable("nobody says where they meet"));
                  });
}

void DeviceMeeting::Tell(const std::string& place) {
  auto set = OfPlace<wire::StoreSet>(change_.prepare());
  set.set_value(place);
  rendezvous_.Set(std::move(set));
}

void DeviceMeeting::Join(std::optional<std::string> place) {
  joining_ = world_.join_exchange(
      std::move(place), members_, change_.ExchangeFlows(),
      [this, lives = std::weak_ptr(lives_)](const std::string& made) {
        if (!lives.expired() && !is_over_) Tell(made);
      },
      [this,
       lives = std::weak_ptr(lives_)](Result<std::shared_ptr<engine::DeviceExchange>> exchange) {
        if (!lives.expired() && !is_over_) Finish(std::move(exchange));
      });
}

void DeviceMeeting::Finish(Result<std::shared_ptr<engine::DeviceExchange>> exchange) {
  is_over_ = true;
  joining_.reset();
  if (exchange) {
    exchange_ = std::move(*exchange);
  } else {
    uplink_.ReportNodeEvent(
        engine::Severity::kWarning,
        fmt::format("transaction {} of '{}': cells between nodes go over lanes, because the "
                    "devices cannot reach each other: {}",
                    change_.prepare().transaction(), change_.prepare().job(),
                    exchange.error().message));
  }
  std::exchange(done_, {})();
}

void DeviceMeeting::End() {
  is_over_ = true;
  joining_.reset();
  exchange_.reset();
}

}  // namespace tessera::agents
