// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <utility>

namespace tessera::agents {
namespace {

constexpr std::size_t kMaxReplies = 500;  // of one key
constexpr std::size_t kMaxClients = 2000;
constexpr std::size_t kLongestClaim = 256;  // bytes
constexpr std::size_t kLongestId = 256;
constexpr char kProgram[] = "tessera-agent " TESSERA_VERSION;

/// "tesseractl, user@host": what a client says about itself.
std::string ClaimsOf(const wire::Hello& hello) {
  std::string claims = hello.program().substr(0, hello.program().find(' '));
  if (!hello.user().empty()) claims += (claims.empty() ? "" : ", ") + hello.user();
  return claims.substr(0, kLongestClaim);
}

/// "laptop: tesseractl, user@host", for events and the history. Only the name of the key is proved.
std::string RequesterOf(const KeyOwner& owner, const std::string& claims) {
  if (owner.name.empty() || claims.empty()) return owner.name + claims;
  return owner.name + ": " + claims;
}

/// Whether a request changes nothing, and reads no state of a job.
bool OnlyLooks(const wire::Request& request) {
  switch (request.body_case()) {
    case wire::Request::kHello:
    case wire::Request::kStatus:
    case wire::Request::kPlan:
    case wire::Request::kPropose:
    case wire::Request::kTxn:
    case wire::Request::kHistory:
    case wire::Request::kSamples:
    case wire::Request::kEvents:
    case wire::Request::kChanges:
    case wire::Request::kDoctor:
    case wire::Request::kLog:
    case wire::Request::kProgram:
    case wire::Request::kJobs:
    case wire::Request::kListCheckpoints:
    case wire::Request::kCheckMesh:  // answered without the program
    case wire::Request::kRegistrar:
    case wire::Request::BODY_NOT_SET:
      return true;
    case wire::Request::kTopology:
      return !request.topology().measure();
    default:
      return false;  // also what a later version adds
  }
}

/// What the request asks for, such as "start job".
std::string NameOf(const wire::Request& request) {
  if (request.has_job()) {
    std::string act = wire::JobRequest::Act_Name(request.job().act());
    for (char& letter : act) letter = static_cast<char>(std::tolower(letter));
    return "job " + act;
  }
  const auto* const field = wire::Request::descriptor()->FindFieldByNumber(request.body_case());
  std::string name = field == nullptr ? "request" : std::string(field->name());
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Status CheckRole(const KeyOwner& owner, const wire::Request& request) {
  if (owner.role == Role::kOperator || (owner.role == Role::kViewer && OnlyLooks(request))) {
    return OkStatus();
  }
  return PermissionDenied(fmt::format("'{}' needs an operator's key; key '{}' is a {}'s",
                                      NameOf(request), owner.name, RoleText(owner)));
}

/// Its id is kept, as long as the replies are.
Status CheckRequest(const KeyOwner& owner, const wire::Request& request) {
  if (request.id().size() <= kLongestId) return CheckRole(owner, request);
  return InvalidArgument(fmt::format("the id of a request has {} bytes, {} are allowed",
                                     request.id().size(), kLongestId));
}

}  // namespace

ReplyPtr Clients::Admit(const std::string& identity, const KeyOwner& owner,
                        const wire::Request& request) {
  if (const Status may = CheckRequest(owner, request); !may) {
    PendingReply refused(request.id().substr(0, kLongestId), {}, world_.reply);
    refused.Join(identity, request.sequence());
    refused.Fail(may.error());
    return nullptr;
  }
  const bool is_act =
      request.has_start_job() || request.has_job() || request.has_apply() || request.has_cancel() ||
      request.has_fail_device() || request.has_kill_node() || request.has_simulate() ||
      request.has_shutdown() || request.has_rebuild() || request.has_digest() ||
      request.has_save_checkpoint() || request.has_delete_checkpoint() ||
      request.has_load_checkpoint() || request.has_probe() || request.has_decision() ||
      request.has_hand_in() || (request.has_topology() && request.topology().measure());
  Kept* const kept = is_act && !request.id().empty() ? &kept_[owner.name] : nullptr;
  if (kept) {
    if (const auto known = kept->replies.find(request.id()); known != kept->replies.end()) {
      known->second->Join(identity, request.sequence());
      return nullptr;
    }
  }
  const auto client = clients_.find(identity);
  const auto reply = std::make_shared<PendingReply>(
      request.id(), RequesterOf(owner, client == clients_.end() ? std::string() : client->second),
      [this](const std::string& to, const wire::Reply& out) { world_.reply(to, out); });
  if (is_act || request.has_plan()) reply->SetOperatedBy(lease_.OtherThan(identity));
  reply->Join(identity, request.sequence());
  if (kept) {
    kept->replies[request.id()] = reply;
    kept->order.push_back(request.id());
    if (kept->order.size() > kMaxReplies) {
      kept->replies.erase(kept->order.front());
      kept->order.pop_front();
    }
  }
  return reply;
}

void Clients::OnHello(const std::string& identity, const KeyOwner& owner, const wire::Hello& hello,
                      const ReplyPtr& reply) {
  if (hello.major() != kProtocolMajor || hello.minor() != kProtocolMinor) {
    return reply->Fail(FailedPrecondition(fmt::format(
        "protocol {}.{} of {} is not {}.{} of the registrar", hello.major(), hello.minor(),
        hello.program().empty() ? "the client" : hello.program(), kProtocolMajor, kProtocolMinor)));
  }
  if (!hello.cluster().empty() && hello.cluster() != config_.cluster) {
    return reply->Fail(
        FailedPrecondition(fmt::format("this is cluster '{}', but the profile names cluster '{}'",
                                       config_.cluster, hello.cluster())));
  }
  if (clients_.insert_or_assign(identity, ClaimsOf(hello)).second) {
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
  out.mutable_hello()->set_key_name(owner.name);
  out.mutable_hello()->set_role(RoleText(owner));
  out.mutable_hello()->set_incarnation(incarnation_);
  reply->Done(std::move(out));
}

void Clients::SayGoodbye(const std::string& why) const {
  wire::Reply goodbye;
  goodbye.mutable_goodbye()->set_text(why);
  for (const auto& [identity, claims] : clients_) world_.reply(identity, goodbye);
}

}  // namespace tessera::agents
