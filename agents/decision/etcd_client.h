// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a decision register needs of etcd, through its v3 JSON gateway: create if absent, read, and
/// the last key under a prefix.

#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "agents/decision/etcd_place.h"
#include "agents/http/http_client.h"
#include "engine/txn/decision.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Asks the member that answered last, and then the others: a member that is down costs one
/// attempt. All reads are linearizable: etcd answers them after a majority has confirmed.
///
/// Members of different etcd clusters would make two registers of one. So all that answer are
/// compared before the first request, and each other one before its first.
/// \threadsafety One thread calls it; requests end early when `cancel` is stopped.
class EtcdClient {
 public:
  /// How long one member may take: for a request, and to say how it is.
  static constexpr std::chrono::milliseconds kPatience{3000}, kLookPatience{1000};

  explicit EtcdClient(EtcdPlace place, std::stop_token cancel = {});

  /// Stores `value` if the key has none.
  /// \return the value of the key after the call
  /// \error kUnavailable naming why each member did not answer; the outcome is then unknown.
  ///     kDataLoss for an answer that is not one of etcd
  Result<std::string> PutIfAbsent(const std::string& key, const std::string& value);
  /// Stores `value` if the key has the value `before`.
  /// \return the value of the key after the call
  /// \error as PutIfAbsent; kDataLoss too if the key has no value
  Result<std::string> Replace(const std::string& key, const std::string& before,
                              const std::string& value);
  /// \error as PutIfAbsent
  Result<std::optional<std::string>> Get(const std::string& key);
  /// The last key that begins with `prefix`, in bytewise order.
  /// \error as PutIfAbsent
  Result<std::optional<std::string>> LastKey(const std::string& prefix);
  /// Queries the status of each member, and reads a key, which needs a majority.
  engine::RegisterStatus Look();

 private:
  using Json = nlohmann::json;

  /// Stores `value` if `condition` holds.
  /// \return the value of the key after the call
  Result<std::string> PutIf(const Json& condition, const std::string& key,
                            const std::string& value);
  Result<Json> Ask(const std::string& path, const Json& request);
  /// Compares the cluster of a member with that of the others; before the first request, those of
  /// all members that answer.
  Status Meet(std::size_t member);
  /// Which cluster is the right one is not known.
  void Forget();
  /// Asks one member.
  Result<Json> AskMember(const std::string& endpoint, const std::string& path,
                         const std::string& request, std::chrono::milliseconds patience);
  Status CheckCluster(const Json& reply);

  const EtcdPlace place_;
  const std::stop_token cancel_;
  HttpClient http_;
  std::size_t preferred_ = 0;  // of the endpoints
  std::vector<bool> is_met_;   // by endpoint
  std::string cluster_;        // identity of the etcd cluster; empty: not known yet
};

}  // namespace tessera::agents
