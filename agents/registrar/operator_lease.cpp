// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/operator_lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::agents {
namespace {
constexpr std::size_t kLongestName = 64;
constexpr char kSource[] = "registrar";
}  // namespace

void OperatorLease::OnOperate(const std::string& identity, const KeyOwner& owner,
                              const wire::OperateRequest& request, const ReplyPtr& reply) {
  using Act = wire::OperateRequest;
  if (request.panel().empty() || request.panel().size() > kLongestName) {
    return reply->Fail(
        InvalidArgument(fmt::format("the name of a panel has {} characters: 1 to {} are allowed",
                                    request.panel().size(), kLongestName)));
  }
  const bool is_own =
      holder_ && holder_->lease.panel == request.panel() && holder_->key == owner.name;
  bool is_granted = false;
  if (request.act() == Act::RELEASE) {
    if (is_own) {
      AddEvent(engine::Severity::kInfo, kSource,
               fmt::format("{} no longer operates the cluster", holder_->lease.who));
      holder_.reset();
      MarkDirty();
    }
  } else if (is_own) {
    holder_->identity = identity;
    holder_->renewed = timers_.now();
    is_granted = true;
  } else if (!holder_ || request.act() == Act::TAKE_OVER) {
    const std::string from = holder_ ? fmt::format(" instead of {}", holder_->lease.who) : "";
    holder_ = Holder{{request.panel(), reply->requester(), world_.wall_clock()},
                     owner.name,
                     identity,
                     timers_.now()};
    AddEvent(engine::Severity::kInfo, kSource,
             fmt::format("{} operates the cluster{}", holder_->lease.who, from));
    MarkDirty();
    is_granted = true;
  }
  wire::Reply out;
  out.mutable_operate()->set_granted(is_granted);
  if (holder_) Encode(holder_->lease, out.mutable_operate()->mutable_lease());
  reply->Done(std::move(out));
}

void OperatorLease::OnTick() {
  // Panels renew it in the time of the world, which may pass slower than that of a simulation.
  const double speed = world_.simulation ? world_.simulation->status().speed : 1;
  if (!holder_ || timers_.now() - holder_->renewed <= kTerm * std::max(1.0, speed)) return;
  AddEvent(engine::Severity::kInfo, kSource,
           fmt::format("{} no longer operates the cluster: its panel was silent for {} s",
                       holder_->lease.who, kTerm.count()));
  holder_.reset();
  MarkDirty();
}

std::optional<engine::OperatorLease> OperatorLease::current() const {
  if (!holder_) return std::nullopt;
  return holder_->lease;
}

std::string OperatorLease::OtherThan(const std::string& identity) const {
  return holder_ && holder_->identity != identity ? holder_->lease.who : std::string();
}

}  // namespace tessera::agents
