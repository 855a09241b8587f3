// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/clients.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace tessera::agents {
namespace {

constexpr std::size_t kMaxReplies = 2000;
constexpr std::size_t kMaxClients = 2000;
constexpr char kProgram[] = "tessera-agent " TESSERA_VERSION;

/// "tesseractl, user@host", for events and the history.
std::string RequesterOf(const wire::Hello& hello) {
  const std::string program = hello.program().substr(0, hello.program().find(' '));
  if (hello.user().empty()) return program;
  return program.empty() ? hello.user() : program + ", " + hello.user();
}

}  // namespace

ReplyPtr Clients::Admit(const std::string& identity, const wire::Request& request) {
  const bool is_act = request.has_start_job() || request.has_job() || request.has_apply() ||
                      request.has_cancel() || request.has_fail_device() ||
                      request.has_kill_node() || request.has_shutdown() || request.has_digest() ||
                      request.has_probe() || request.has_decision() || request.has_hand_in() ||
                      (request.has_topology() && request.topology().measure());
  if (is_act && !request.id().empty()) {
    if (const auto known = replies_.find(request.id()); known != replies_.end()) {
      known->second->Join(identity, request.sequence());
      return nullptr;
    }
  }
  const auto client = clients_.find(identity);
  const auto reply = std::make_shared<PendingReply>(
      request.id(), client == clients_.end() ? std::string() : client->second,
      [this](const std::string& to, const wire::Reply& out) { world_.reply(to, out); });
  reply->Join(identity, request.sequence());
  if (is_act && !request.id().empty()) {
    replies_[request.id()] = reply;
    reply_order_.push_back(request.id());
    if (reply_order_.size() > kMaxReplies) {
      replies_.erase(reply_order_.front());
      reply_order_.pop_front();
    }
  }
  return reply;
}

void Clients::OnHello(const std::string& identity, const wire::Hello& hello,
                      const ReplyPtr& reply) {
  if (!hello.cluster().empty() && hello.cluster() != config_.cluster) {
    return reply->Fail(
        FailedPrecondition(fmt::format("this is cluster '{}', but the profile names cluster '{}'",
                                       config_.cluster, hello.cluster())));
  }
  if (clients_.insert_or_assign(identity, RequesterOf(hello)).second) {
    client_order_.push_back(identity);
    if (client_order_.size() > kMaxClients) {
      clients_.erase(client_order_.front());
      client_order_.pop_front();
    }
  }
  wire::Reply out;
  out.mutable_hello()->set_major(kProtocolMajor);
  out.mutable_hello()->set_minor(kProtocolMinor);
  out.mutable_hello()->set_cluster(config_.cluster);
  out.mutable_hello()->set_node(config_.node);
  out.mutable_hello()->set_registrar(true);
  out.mutable_hello()->set_program(kProgram);
  reply->Done(std::move(out));
}

}  // namespace tessera::agents
