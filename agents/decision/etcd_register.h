// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The decision register in etcd: for clusters that must decide while any node may be down.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "agents/decision/etcd_client.h"
#include "agents/net/timers.h"
#include "agents/net/worker.h"
#include "engine/txn/decision.h"

namespace tessera::agents {

/// Slot n of a job is the key PREFIX/decision/JOB/n, created once and never changed. Decisions are
/// there as long as a majority of the members of etcd is; while it is not, nothing can be decided.
/// Requests go one after the other on a thread of the register.
/// \threadsafety The thread of the timers.
class EtcdRegister : public engine::DecisionRegister {
 public:
  /// The timers outlive the register.
  EtcdRegister(Timers& timers, EtcdPlace place);
  /// Ends a running request.
  ~EtcdRegister() override;

  void Write(const std::string& job, std::int64_t slot, const engine::Decision& decision,
             Then<engine::Decision> then) override;
  void Read(const std::string& job, std::int64_t slot,
            Then<std::optional<engine::Decision>> then) override;
  void FindLast(const std::string& job, Then<std::int64_t> then) override;
  void Look(std::function<void(engine::RegisterStatus)> then) override;

 private:
  template <typename Work, typename Answer>
  void Run(Work work, Answer then);

  const std::string prefix_;
  std::stop_source stop_;
  EtcdClient client_;  // on the worker's thread
  Worker worker_;
};

}  // namespace tessera::agents
