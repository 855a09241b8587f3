// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/patience.h"

#include <fmt/format.h>

#include <future>
#include <memory>
#include <utility>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/outcome.h"

namespace tessera::app {

Result<wire::Reply> askPatiently(Session& session, wire::Request request, const LongRequest& what,
                                 const std::function<void(const std::string&)>& progress,
                                 const Patience& limits) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::hours kAsLongAsItTakes{24 * 14};  // the wait below ends sooner
  const auto answer = std::make_shared<std::promise<Result<wire::Reply>>>();
  auto reply = answer->get_future();
  const auto shows = whatShows(request);
  const auto trace = std::make_shared<agents::CallTrace>();
  // What is not known of a request that was sent is no failure.
  const auto lost = [&](const Error& error) {
    return shows && trace->is_lost() ? lostOutcome(error, *shows) : error;
  };
  const std::chrono::milliseconds patience = session.limit.value_or(limits.patience);
  session.client->Call(
      std::move(request), kAsLongAsItTakes,
      [answer](Result<wire::Reply> result) { answer->set_value(std::move(result)); }, trace);
  auto heard = Clock::now();
  std::string last;
  while (reply.wait_for(limits.poll) != std::future_status::ready) {
    const auto snapshot = session.snapshot();
    const std::string doing = snapshot ? what.doing(*snapshot) : std::string();
    progress(doing);
    if (!doing.empty()) {
      heard = Clock::now();
      last = doing;
    }
    if (Clock::now() - heard <= patience) continue;
    if (!snapshot) return lost(snapshot.error());
    return lost(
        Timeout(fmt::format("{} {} s{}", what.failure,
                            std::chrono::duration_cast<std::chrono::seconds>(patience).count(),
                            last.empty() ? "" : " after its last progress: " + last)));
  }
  progress({});
  auto result = reply.get();
  if (!result) return lost(result.error());
  return result;
}

}  // namespace tessera::app
