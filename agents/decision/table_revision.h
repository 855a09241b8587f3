// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The latest revision of the registrar's job table that is noted in etcd, as
/// PREFIX/registrar-table. So the next registrar notices that all copies it finds are older.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "agents/decision/etcd_client.h"
#include "agents/net/timers.h"
#include "agents/net/worker.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Returns 0 if no registrar has noted one: those of earlier versions do not.
/// \error those of EtcdClient; kDataLoss if the value is no revision
Result<std::int64_t> GetTableRevision(EtcdClient& client, const std::string& prefix);
/// Notes `revision` unless a later one is noted.
/// \return the noted one afterwards
/// \error as GetTableRevision
Result<std::int64_t> RaiseTableRevision(EtcdClient& client, const std::string& prefix,
                                        std::int64_t revision);
/// Notes that any copy of the table may be used.
/// \error as GetTableRevision; kUnavailable if a registrar notes a revision at the same time
Status ForgetTableRevision(EtcdClient& client, const std::string& prefix);

/// Notes revisions on a thread of its own, so that no change waits for etcd.
/// \threadsafety The thread of the timers.
class TableRevision {
 public:
  /// How long a revision waits. Its copies reach the nodes meanwhile: if the registrar's machine
  /// fails at once, a revision that only this machine had is not noted, and no takeover waits for
  /// it. It also bounds the rate.
  static constexpr std::chrono::milliseconds kDelay{1000};

  /// `print` gets the first failure of a series.
  /// \pre the timers outlive it
  TableRevision(Timers& timers, EtcdPlace place,
                std::function<void(const std::string& line)> print);
  ~TableRevision();
  TableRevision(const TableRevision&) = delete;
  TableRevision& operator=(const TableRevision&) = delete;

  /// The table has this revision. It is noted after kDelay, and again until that succeeds.
  void Note(std::int64_t revision);
  /// Asks etcd again, and returns its last answer; nullopt: none has come yet.
  std::optional<std::int64_t> Latest();

 private:
  using Work = std::function<Result<std::int64_t>(EtcdClient& client)>;
  void Run(Work work, std::function<void(const Result<std::int64_t>& noted)> then);
  void NoteSoon();

  Timers& timers_;
  const std::string prefix_;
  const std::function<void(const std::string& line)> print_;
  std::int64_t wanted_ = 0, noted_ = 0;
  std::optional<std::int64_t> latest_;
  std::optional<Timers::TimerId> soon_;
  bool is_noting_ = false, is_asking_ = false, has_failed_ = false;
  std::stop_source stop_;
  EtcdClient client_;  // on the worker's thread
  Worker worker_;
};

}  // namespace tessera::agents
