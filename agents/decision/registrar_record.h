// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which node is the registrar. With a register outside of the cluster the role can move, and the
/// record is there, as PREFIX/registrar.

#include <cstdint>
#include <optional>
#include <string>

#include "agents/decision/etcd_client.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct RegistrarRecord {
  std::int64_t generation = 1;  // +1 with each move
  std::int32_t node = 0;
  std::string endpoint;  // its ROUTER
  std::string events;    // its PUB
  std::string key;       // public key of its agent
  bool operator==(const RegistrarRecord& other) const {
    return generation == other.generation && node == other.node && endpoint == other.endpoint &&
           events == other.events && key == other.key;
  }
  std::string text = {};  // as it was read: later versions may say more
};
std::string ToText(const RegistrarRecord& record);
/// \error kDataLoss naming what is wrong with the text
Result<RegistrarRecord> ParseRegistrarRecord(const std::string& text);

/// The record in etcd; nullopt if no registrar has ever run.
/// \error those of EtcdClient; kDataLoss
Result<std::optional<RegistrarRecord>> GetRecord(EtcdClient& client, const std::string& prefix);
/// The record in etcd. If there is none, `first` becomes it.
/// \error those of EtcdClient; kDataLoss
Result<RegistrarRecord> FetchRecord(EtcdClient& client, const std::string& prefix,
                                    const RegistrarRecord& first);
/// Replaces `before`.
/// \return the record afterwards; another one than `next` if somebody else was faster
/// \error as FetchRecord
Result<RegistrarRecord> ReplaceRecord(EtcdClient& client, const std::string& prefix,
                                      const RegistrarRecord& before, const RegistrarRecord& next);

}  // namespace tessera::agents
