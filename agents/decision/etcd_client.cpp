// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/etcd_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "agents/decision/base64.h"

namespace tessera::agents {
namespace {

// Requests and answers of one key are far smaller.
constexpr std::size_t kMaxReply = 1 << 20;
constexpr const char* kStatus = "/v3/maintenance/status";

/// The member of an object, or null.
const nlohmann::json& At(const nlohmann::json& json, const char* name) {
  static const nlohmann::json none;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found == json.end() ? none : *found;
}

std::string TextAt(const nlohmann::json& json, const char* name) {
  const nlohmann::json& value = At(json, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// The first key-value pair of a range, or null.
const nlohmann::json& FirstOf(const nlohmann::json& range) {
  static const nlohmann::json none;
  const nlohmann::json& rows = At(range, "kvs");
  return rows.is_array() && !rows.empty() ? rows[0] : none;
}

Result<std::string> Decoded(const nlohmann::json& row, const char* name) {
  const auto bytes = DecodeBase64(TextAt(row, name));
  if (!bytes) return DataLoss(fmt::format("etcd answers with a {} that is not base64", name));
  return *bytes;
}

/// The end of the keys that begin with `prefix`.
std::string EndOf(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

EtcdClient::EtcdClient(EtcdPlace place, std::stop_token cancel)
    : place_(std::move(place)),
      cancel_(std::move(cancel)),
      http_({place_.authorities, place_.certificate, place_.key}),
      is_met_(place_.endpoints.size()) {}

Result<std::string> EtcdClient::PutIfAbsent(const std::string& key, const std::string& value) {
  return PutIf({{"target", "CREATE"}, {"create_revision", "0"}}, key, value);
}

Result<std::string> EtcdClient::Replace(const std::string& key, const std::string& before,
                                        const std::string& value) {
  return PutIf({{"target", "VALUE"}, {"value", EncodeBase64(before)}}, key, value);
}

Result<std::string> EtcdClient::PutIf(const Json& condition, const std::string& key,
                                      const std::string& value) {
  const std::string name = EncodeBase64(key);
  Json compare = condition;
  compare["key"] = name;
  compare["result"] = "EQUAL";
  const Json request = {
      {"compare", Json::array({std::move(compare)})},
      {"success",
       Json::array({{{"request_put", {{"key", name}, {"value", EncodeBase64(value)}}}}})},
      {"failure", Json::array({{{"request_range", {{"key", name}}}}})}};
  TESSERA_TRY(const Json reply, Ask("/v3/kv/txn", request));
  if (At(reply, "succeeded") == true) return value;
  const Json& responses = At(reply, "responses");
  const Json& row = responses.is_array() && !responses.empty()
                        ? FirstOf(At(responses[0], "response_range"))
                        : At(Json(), "");
  if (TextAt(row, "key") != name) {
    return DataLoss(fmt::format("etcd has neither written nor found key '{}'", key));
  }
  return Decoded(row, "value");
}

Result<std::optional<std::string>> EtcdClient::Get(const std::string& key) {
  const std::string name = EncodeBase64(key);
  TESSERA_TRY(const Json reply, Ask("/v3/kv/range", {{"key", name}}));
  const Json& row = FirstOf(reply);
  if (row.is_null()) return std::optional<std::string>();
  if (TextAt(row, "key") != name) {
    return DataLoss(fmt::format("etcd answers with another key than '{}'", key));
  }
  TESSERA_TRY(std::string value, Decoded(row, "value"));
  return std::optional(std::move(value));
}

Result<std::optional<std::string>> EtcdClient::LastKey(const std::string& prefix) {
  const Json request = {{"key", EncodeBase64(prefix)},
                        {"range_end", EncodeBase64(EndOf(prefix))},
                        {"sort_target", "KEY"},
                        {"sort_order", "DESCEND"},
                        {"limit", "1"},
                        {"keys_only", true}};
  TESSERA_TRY(const Json reply, Ask("/v3/kv/range", request));
  const Json& row = FirstOf(reply);
  if (row.is_null()) return std::optional<std::string>();
  TESSERA_TRY(std::string key, Decoded(row, "key"));
  return std::optional(std::move(key));
}

engine::RegisterStatus EtcdClient::Look() {
  engine::RegisterStatus status;
  status.store = "etcd";
  const Status met = Meet(preferred_);
  for (const std::string& endpoint : place_.endpoints) {
    engine::RegisterMember member;
    member.place = endpoint;
    const auto begin = std::chrono::steady_clock::now();
    const auto reply = AskMember(endpoint, kStatus, "{}", kLookPatience);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    member.seconds = seconds.count();
    if (reply) {
      member.version = TextAt(*reply, "version");
      member.leads = TextAt(*reply, "leader") == TextAt(At(*reply, "header"), "member_id");
    } else {
      member.problem = reply.error().message;
    }
    status.members.push_back(std::move(member));
  }
  if (!met && met.error().code == ErrorCode::kFailedPrecondition) {
    status.problem = met.error().message;
    Forget();
    return status;
  }
  // A read needs a majority, as a write does.
  if (const auto read = Get(place_.prefix + "/"); !read) status.problem = read.error().message;
  return status;
}

Result<nlohmann::json> EtcdClient::Ask(const std::string& path, const Json& request) {
  const std::string text = request.dump();
  std::string problems;
  std::optional<Error> wrong;  // of a member that answers
  const std::size_t count = place_.endpoints.size();
  for (std::size_t i = 0; i < count && !cancel_.stop_requested(); ++i) {
    const std::size_t which = (preferred_ + i) % count;
    auto reply = Result<Json>(Json());
    if (const Status met = Meet(which); met) {
      reply = AskMember(place_.endpoints[which], path, text, kPatience);
    } else {
      reply = met.error();
    }
    if (reply) {
      preferred_ = which;
      return reply;
    }
    // Nothing is asked of anybody while it is not known which cluster is the right one.
    if (cluster_.empty() && reply.error().code == ErrorCode::kFailedPrecondition) return reply;
    if (reply.error().code != ErrorCode::kUnavailable && !wrong) wrong = reply.error();
    is_met_[which] = false;  // what answers there next may be another one
    problems += fmt::format("{}{}", problems.empty() ? "" : "; ", reply.error().message);
  }
  if (wrong) return *wrong;
  return Unavailable("etcd does not answer: " + problems);
}

Status EtcdClient::Meet(std::size_t member) {
  const bool is_first = cluster_.empty();
  for (std::size_t i = 0; i < place_.endpoints.size(); ++i) {
    if (is_met_[i] || (!is_first && i != member)) continue;
    const auto reply = AskMember(place_.endpoints[i], kStatus, "{}", kLookPatience);
    is_met_[i] = reply.has_value();
    if (reply || (i != member && reply.error().code == ErrorCode::kUnavailable)) continue;
    if (reply.error().code == ErrorCode::kFailedPrecondition && is_first) Forget();
    return reply.error();
  }
  return OkStatus();
}

void EtcdClient::Forget() {
  cluster_.clear();
  is_met_.assign(is_met_.size(), false);
}

Result<nlohmann::json> EtcdClient::AskMember(const std::string& endpoint, const std::string& path,
                                             const std::string& request,
                                             std::chrono::milliseconds patience) {
  std::string text;
  const auto outcome = http_.Post(endpoint + path, request, text, kMaxReply, patience, cancel_);
  if (!outcome.failure.what.empty()) {
    return Unavailable(fmt::format("{}: {}", endpoint, outcome.failure.what));
  }
  Json reply = Json::parse(text, nullptr, false);
  constexpr int kOk = 200;
  if (outcome.reply.status != kOk) {
    // etcd says `error`, and newer versions `message` too.
    std::string why = TextAt(reply, "error");
    if (why.empty()) why = TextAt(reply, "message");
    return Unavailable(fmt::format("{}: status {}{}{}", endpoint, outcome.reply.status,
                                   why.empty() ? "" : ", ", why.substr(0, 200)));
  }
  if (!reply.is_object() || !At(reply, "header").is_object()) {
    return DataLoss(fmt::format("{} does not answer as etcd does", endpoint));
  }
  TESSERA_RETURN_IF_ERROR(CheckCluster(reply).Context(endpoint));
  return reply;
}

Status EtcdClient::CheckCluster(const Json& reply) {
  const std::string cluster = TextAt(At(reply, "header"), "cluster_id");
  if (cluster.empty()) return DataLoss("the answer names no etcd cluster");
  if (cluster_.empty()) cluster_ = cluster;
  if (cluster == cluster_) return OkStatus();
  return FailedPrecondition(
      fmt::format("is a member of etcd cluster {}, not of {} as the others", cluster, cluster_));
}

}  // namespace tessera::agents
