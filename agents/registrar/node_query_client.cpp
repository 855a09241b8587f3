// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/node_query_client.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::agents {

NodeQueryClient::NodeQueryClient(Timers& timers, Send send)
    : timers_(timers), send_(std::move(send)) {}

void NodeQueryClient::Query(const std::set<std::int32_t>& nodes, wire::NodeQuery query,
                            std::chrono::milliseconds deadline, std::function<void(Answers)> done) {
  const std::uint64_t ticket = ++last_ticket_;
  Open& open = open_[ticket];
  open.waiting = nodes;
  open.done = std::move(done);
  query.set_ticket(ticket);
  wire::ToNode message;
  *message.mutable_query() = std::move(query);
  for (const std::int32_t node : nodes) {
    if (const Status sent = send_(node, message); !sent) {
      open.answers.emplace(node, sent.error());
      open.waiting.erase(node);
    }
  }
  open.timer = timers_.After(deadline, [this, ticket, deadline] {
    Open& late = open_.at(ticket);
    for (const std::int32_t node : std::exchange(late.waiting, {})) {
      late.answers.emplace(node,
                           Timeout(fmt::format("n{} gave no answer within {:.0f} s", node,
                                               std::chrono::duration<double>(deadline).count())));
    }
    FinishIfComplete(ticket);
  });
  FinishIfComplete(ticket);
}

void NodeQueryClient::OnAnswer(std::int32_t node, const wire::NodeAnswer& answer) {
  const auto it = open_.find(answer.ticket());
  if (it == open_.end() || it->second.waiting.erase(node) == 0) return;
  if (answer.error().empty()) {
    it->second.answers.emplace(node, answer);
  } else {
    it->second.answers.emplace(node,
                               FailedPrecondition(fmt::format("n{}: {}", node, answer.error())));
  }
  FinishIfComplete(answer.ticket());
}

void NodeQueryClient::FinishIfComplete(std::uint64_t ticket) {
  const auto it = open_.find(ticket);
  if (!it->second.waiting.empty()) return;
  timers_.Cancel(it->second.timer);
  const Open open = std::move(it->second);
  open_.erase(it);
  open.done(open.answers);
}

}  // namespace tessera::agents
