// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The rank's end of the rank protocol: a thread that keeps a connection to the agent, and the
/// reports, requests and commands that outlive a connection.

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "agents/keeper/packet.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::wire {
class AgentToRank;
class RankToAgent;
}  // namespace tessera::wire

namespace tessera::agents {

/// While there is no agent, reports are kept and calls wait for their answers; nothing fails. Calls
/// for an abandoned attempt fail with kCancelled.
/// \threadsafety Any thread.
class RankSession {
 public:
  /// Starts the thread; the agent may start later.
  /// \param epoch of the current pieces; -1: none yet
  RankSession(std::string socket_path, RankId id, std::int64_t epoch);
  /// Waits up to 200 ms for queued reports to be sent.
  /// \pre no other thread is inside a call
  ~RankSession();
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  /// Never blocks. Keeps at most kMaxDecided unread reports; older ones are dropped and counted in
  /// the next report that is sent.
  void ReportDecided(const RankDecision& decision);
  static constexpr std::size_t kMaxDecided = 5120;
  /// The number of last reports that are sent again to a new agent: 41 s of steps of 10 ms, about
  /// 400 KB. Steps that leave here before an agent returns are missing in the history.
  static constexpr std::size_t kMaxRepeated = 4096;
  static_assert(kMaxRepeated < kMaxDecided, "what is repeated leaves room for further steps");
  /// Forgets the reports for new agents.
  void ForgetDecided();

  /// Never blocks. Sends at most one report per kLoadingPeriod, and always the last one of all.
  void ReportLoading(const RankLoading& loading);
  static constexpr std::chrono::milliseconds kLoadingPeriod{250};

  struct Command {
    RankCommand act = RankCommand::kResume;
    std::int64_t epoch = 0;
    std::optional<RankView> view;  // for kAdopt
  };
  /// Reports a pause and waits for the command that answers it. The `reason` is shown to users and
  /// cut after kMaxReason bytes.
  Result<Command> Wait(std::int64_t step, std::uint64_t request, std::string reason = {});
  static constexpr std::size_t kMaxReason = 1000;
  /// Reports that `epoch` is adopted and waits for go.
  /// \return whether the job stays paused
  bool WaitForGo(std::int64_t epoch);

  /// Queues `view` for NextConnect, as a connect message of the agent does.
  void QueueConnect(const RankView& view);
  /// Waits for the next view whose groups are to be built; nullopt once EndConnects was called.
  std::optional<RankView> NextConnect();
  void EndConnects();
  void ReportConnected(Attempt attempt, const Status& status);
  /// Waits for ReportConnected of a queued view.
  /// \return its status
  Status WaitConnected(Attempt attempt);
  bool IsAbandoned(Attempt attempt) const;

  /// The agent requests whether the program can run on a mesh.
  struct MeshCheck {
    std::uint64_t id = 0;
    std::array<std::int64_t, ptc::kNumAxes> axis_size{};  // pp, dp, ep, cp, tp
  };
  /// Before this call, checks are answered with kUnimplemented. Afterwards they wait for NextCheck.
  void TakeChecks();
  /// Waits for the next check; nullopt once EndConnects was called.
  std::optional<MeshCheck> NextCheck();
  /// Whether nobody waits for the answer any more, or a change has begun, which checks the program
  /// itself.
  bool IsCheckAbandoned(std::uint64_t id) const;
  /// kFailedPrecondition: the program cannot run there. Other errors: this is not known.
  void ReportChecked(std::uint64_t id, const Status& status);

  /// \error kInvalidArgument if key and value do not fit a packet
  Status StoreSet(Attempt attempt, const std::string& key, std::string value);
  /// \error kTimeout
  Result<std::string> StoreGet(Attempt attempt, const std::string& key,
                               std::chrono::milliseconds timeout);
  /// \error kUnavailable with the reason of the agent
  Result<UniqueFd> SharedMemory(Attempt attempt, const std::string& key, std::int64_t bytes);

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Key = std::pair<Attempt, std::string>;
  struct Outgoing {
    std::string bytes;
    UniqueFd fd;
    bool decided = false;
  };
  struct Get {
    Key key;
    bool answered = false;
    std::optional<std::string> value;
  };
  struct Share {
    Key key;
    std::int64_t bytes = 0;
    bool answered = false;
    UniqueFd fd;
    std::string error;
  };

  void Run();
  bool Attach();
  void Rebuild(const Lock& lock);
  bool Receive();
  bool Flush();
  void Handle(const Lock& lock, wire::AgentToRank& message, std::vector<UniqueFd> fds);
  void Abandon(const Lock& lock, Attempt attempt);
  void Send(const Lock& lock, const wire::RankToAgent& message, UniqueFd fd = {});
  void Wake();
  void SendConnected(const Lock& lock, Attempt attempt, const Status& status);
  void SendChecked(const Lock& lock, std::uint64_t id, const Status& status);
  void SendLoading(const Lock& lock);
  void SendPaused(const Lock& lock);
  void SendAdopted(const Lock& lock);
  void SendSet(const Lock& lock, const Key& key, const std::string& value);
  void SendGet(const Lock& lock, std::uint64_t id, const Get& get);
  void SendShare(const Lock& lock, std::uint64_t id, const Share& share);

  const std::string socket_path_;
  const RankId id_;
  UniqueFd wake_;    // eventfd: the outbox has grown, or the session ends
  UniqueFd socket_;  // used by the thread only

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  bool attached_before_ = false;
  bool stopping_ = false;
  std::deque<Outgoing> outbox_;
  std::size_t num_decided_ = 0;     // in the outbox
  std::int64_t dropped_ = 0;        // decided reports that were dropped
  std::deque<std::string> recent_;  // serialized decisions, the newest last

  std::optional<RankLoading> loading_;  // until the first wait
  std::chrono::steady_clock::time_point loading_sent_{};

  std::int64_t epoch_;
  std::uint64_t wait_ = 0;  // number of the last pause
  struct Pause {
    std::int64_t step = 0;
    std::uint64_t request = 0;
    std::string reason;
  };
  std::optional<Pause> paused_;
  std::optional<Command> command_;
  std::optional<std::int64_t> adopted_;  // the epoch that waits for go
  std::optional<std::int64_t> go_;
  bool stay_paused_ = false;  // of that go

  std::deque<RankView> connects_;
  std::optional<Attempt> connecting_;
  bool connects_ended_ = false;
  std::map<Attempt, Status> results_;  // of coming epochs and of the one the rank was started for
  std::set<Attempt> abandoned_;

  bool takes_checks_ = false;
  std::optional<MeshCheck> check_;              // for NextCheck
  std::optional<std::uint64_t> awaited_check_;  // of this agent

  std::uint64_t next_request_ = 1;
  std::map<Key, std::string> sets_;
  std::map<std::uint64_t, Get> gets_;
  std::map<std::uint64_t, Share> shares_;
  std::map<Key, UniqueFd> held_;  // shared memory that an agent sent

  std::thread thread_;
};

}  // namespace tessera::agents
