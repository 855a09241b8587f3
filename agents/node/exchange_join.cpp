// SPDX-License-Identifier: Apache-2.0
#include "agents/node/exchange_join.h"

#include <utility>

namespace tessera::agents {
namespace {

ExchangeJoin::Met Meet(Timers& timers, Disposal& left, std::optional<std::string> place,
                       const ExchangeMembers& members,
                       const std::function<void(const std::string&)>& made,
                       const std::stop_token& stop) {
  if (!place) {
    TESSERA_TRY(place, NcclGroup::NewMeeting());
    timers.Post([made, place] { made(*place); });
  }
  TESSERA_TRY(auto exchange, JoinNcclExchange(*place, members, stop));
  return std::shared_ptr<engine::DeviceExchange>(
      exchange.release(), [&left](engine::DeviceExchange* over) {
        left.Take(std::unique_ptr<engine::DeviceExchange>(over));
      });
}

}  // namespace

ExchangeJoin::ExchangeJoin(Timers& timers, Disposal& left, std::optional<std::string> place,
                           ExchangeMembers members,
                           std::function<void(const std::string& place)> made,
                           std::function<void(Met exchange)> done)
    : left_(left),
      thread_([&timers, &left, place = std::move(place), members = std::move(members),
               made = std::move(made), done = std::move(done)](const std::stop_token& stop) {
        Met met = Meet(timers, left, place, members, made, stop);
        timers.Post([done, met = std::move(met)]() mutable { done(std::move(met)); });
      }) {}

ExchangeJoin::~ExchangeJoin() {
  thread_.request_stop();
  left_.Take(std::make_shared<std::jthread>(std::move(thread_)));
}

}  // namespace tessera::agents
