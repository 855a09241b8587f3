// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Notices that another node has become the registrar.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "agents/decision/etcd_client.h"
#include "agents/decision/registrar_record.h"
#include "agents/net/timers.h"
#include "agents/net/worker.h"

namespace tessera::agents {

/// Reads the record at once and every few seconds, on a thread of its own. The first registrar
/// writes it.
/// \threadsafety The thread of the timers.
class RegistrarWatch {
 public:
  /// `moved` gets a record of a later generation than `known`; it may be called again. `print` gets
  /// the first failure of a series.
  /// \pre the timers outlive the watch
  RegistrarWatch(Timers& timers, EtcdPlace place, RegistrarRecord known, bool is_registrar,
                 std::function<void(const RegistrarRecord& record)> moved,
                 std::function<void(const std::string& line)> print);
  ~RegistrarWatch();
  RegistrarWatch(const RegistrarWatch&) = delete;
  RegistrarWatch& operator=(const RegistrarWatch&) = delete;

 private:
  void Look();

  Timers& timers_;
  const std::string prefix_;
  const RegistrarRecord known_;
  const bool is_registrar_;
  const std::function<void(const RegistrarRecord& record)> moved_;
  const std::function<void(const std::string& line)> print_;
  bool is_looking_ = false, has_failed_ = false;
  Timers::TimerId period_ = 0;
  std::stop_source stop_;
  EtcdClient client_;  // on the worker's thread
  Worker worker_;
};

}  // namespace tessera::agents
