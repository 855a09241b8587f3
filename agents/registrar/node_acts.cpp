// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/node_acts.h"

#include <fmt/format.h>

#include <chrono>

namespace tessera::agents {

void NodeActs::OnKillNode(const wire::KillNodeRequest& request, const ReplyPtr& reply) {
  Membership::Node* node = members_.Find(request.node());
  if (!node) {
    return reply->Fail(NotFound(fmt::format("node n{} does not exist: the cluster has {} nodes",
                                            request.node(), members_.nodes().size())));
  }
  if (node->state == engine::NodeState::kDead) {
    return reply->Fail(FailedPrecondition(fmt::format("node n{} is dead already", request.node())));
  }
  if (request.node() == config_.node) {
    return reply->Fail(FailedPrecondition(
        fmt::format("node n{} holds the registrar: use `tesseractl down`", request.node())));
  }
  if (request.give_up()) {
    if (const Status given = GiveUp(*node, reply); !given) return reply->Fail(given.error());
  } else if (!node->problem.empty()) {
    return reply->Fail(FailedPrecondition(
        fmt::format("node n{} cannot be killed: {}", request.node(), node->problem)));
  } else {
    wire::ToNode die;
    die.mutable_die()->set_clean(false);
    if (const Status sent = SendTo(request.node(), die); !sent) return reply->Fail(sent.error());
    node->killed = true;
    AddEvent(engine::Severity::kWarning, fmt::format("n{}", request.node()), "killed on request");
  }
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
}

// If the node lives after all, its ranks end when it is heard again, and its state is not used
// where its jobs have gone on without it.
Status NodeActs::GiveUp(Membership::Node& node, const ReplyPtr& reply) const {
  if (node.state != engine::NodeState::kUnmanaged) {
    return FailedPrecondition(
        fmt::format("node n{} is {}: only a node that has been silent for {} s can be given up",
                    node.number, ToString(node.state), config_.node_lost_seconds));
  }
  node.killed = true;
  AddEvent(engine::Severity::kWarning, fmt::format("n{}", node.number),
           "given up: what it holds counts as lost" + reply->RequesterText());
  return OkStatus();
}

void NodeActs::OnFailDevice(const wire::FailDeviceRequest& request, const ReplyPtr& reply) {
  const auto id = Decode(request.device());
  if (!id) return reply->Fail(id.error());
  if (!members_.FindDevice(*id)) {
    return reply->Fail(NotFound(fmt::format("device {} does not exist", ToString(*id))));
  }
  wire::ToNode message;
  message.mutable_fail_device()->set_index(id->index);
  if (const Status sent = SendTo(id->node, message); !sent) return reply->Fail(sent.error());
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
}

void NodeActs::OnSimulate(const wire::SimulateRequest& request, const ReplyPtr& reply) {
  if (!world_.simulation) {
    return reply->Fail(
        FailedPrecondition(fmt::format("cluster '{}' is not simulated", config_.cluster)));
  }
  if (const Status done = world_.simulation->steer(request); !done) {
    return reply->Fail(done.error());
  }
  publisher_.PublishState(timers_.now());  // no timer runs while the simulated clock is stopped
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
}

void NodeActs::OnShutdown(const ReplyPtr& reply) {
  AddEvent(engine::Severity::kInfo, "registrar", "the cluster goes down on request");
  wire::Reply done;
  done.mutable_done();
  reply->Done(std::move(done));
  before_shutdown_(fmt::format("cluster '{}' was stopped on request{}", config_.cluster,
                               reply->RequesterText()));
  publisher_.SayGoodbye(reply->requester());
  if (world_.simulation) return world_.simulation->shut_down();
  // The node of the registrar ends last, after the others have received the message.
  timers_.After(std::chrono::milliseconds(100), [this] {
    wire::ToNode die;
    die.mutable_die()->set_clean(true);
    for (const auto& [number, node] : members_.nodes()) {
      if (number != config_.node) static_cast<void>(SendTo(number, die));
    }
    timers_.After(std::chrono::milliseconds(100),
                  [this, die] { static_cast<void>(SendTo(config_.node, die)); });
  });
}

}  // namespace tessera::agents
