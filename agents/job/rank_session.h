// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The rank's end of the rank protocol: a thread that keeps a connection to the agent, and the
/// reports, requests and commands that outlive any one connection.

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

namespace tessera::wire {
class AgentToRank;
class RankToAgent;
}  // namespace tessera::wire

namespace tessera::agents {

/// All members may be called from any thread. Without an agent reports are kept and calls that wait
/// for an answer wait on; nothing fails. Errors: kCancelled for an attempt that is abandoned.
class RankSession {
 public:
  /// `epoch`: whose pieces are current, -1: none yet. Starts the thread; the agent may come later.
  RankSession(std::string socket_path, RankId id, std::int64_t epoch);
  /// Gives reports that are still queued 200 ms to leave. No other thread may be inside a call.
  ~RankSession();
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  /// Never blocks. At most kMaxDecided reports are kept while nobody reads; the oldest go first and
  /// are counted in the next that leaves.
  void ReportDecided(const RankDecision& decision);
  static constexpr std::size_t kMaxDecided = 1024;
  /// So many of the last reports are sent again to an agent that comes after a restart.
  static constexpr std::size_t kMaxRepeated = 256;
  /// They are not sent again any more.
  void ForgetDecided();

  /// Never blocks. Of reports that come close together the first is sent, and always the one that
  /// ends it.
  void ReportLoading(const RankLoading& loading);
  static constexpr std::chrono::milliseconds kLoadingPeriod{250};

  struct Command {
    RankCommand act = RankCommand::kResume;
    std::int64_t epoch = 0;
    std::optional<RankView> view;  // for kAdopt
  };
  /// Reports a pause and waits for the command that answers it. A `reason` is for people; it is cut
  /// after kMaxReason bytes.
  Result<Command> Wait(std::int64_t step, std::uint64_t request, std::string reason = {});
  static constexpr std::size_t kMaxReason = 1000;
  /// Reports that `epoch` is adopted and waits until all ranks have.
  bool WaitForGo(std::int64_t epoch);

  /// Wants groups of `view`, as a connect message of the agent does.
  void QueueConnect(const RankView& view);
  /// The next view whose groups are wanted; nullopt once EndConnects was called.
  std::optional<RankView> NextConnect();
  void EndConnects();
  void ReportConnected(Attempt attempt, const Status& status);
  /// Waits for ReportConnected of a queued view; returns its status.
  Status WaitConnected(Attempt attempt);
  bool IsAbandoned(Attempt attempt) const;

  /// \error kInvalidArgument where key and value do not fit a packet.
  Status StoreSet(Attempt attempt, const std::string& key, std::string value);
  /// \error kTimeout
  Result<std::string> StoreGet(Attempt attempt, const std::string& key,
                               std::chrono::milliseconds timeout);
  /// \error kInvalidArgument, kUnavailable as the agent says.
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
  void SendLoading(const Lock& lock);
  void SendPaused(const Lock& lock);
  void SendAdopted(const Lock& lock);
  void SendSet(const Lock& lock, const Key& key, const std::string& value);
  void SendGet(const Lock& lock, std::uint64_t id, const Get& get);
  void SendShare(const Lock& lock, std::uint64_t id, const Share& share);

  const std::string socket_path_;
  const RankId id_;
  UniqueFd wake_;    // eventfd: the outbox has grown, or the end has come
  UniqueFd socket_;  // the thread's own

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  bool attached_before_ = false;
  bool stopping_ = false;
  std::deque<Outgoing> outbox_;
  std::size_t num_decided_ = 0;     // in the outbox
  std::int64_t dropped_ = 0;        // decided reports that found no room
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
  std::optional<std::int64_t> adopted_;  // epoch that waits for go
  std::optional<std::int64_t> go_;
  bool stay_paused_ = false;  // of that go

  std::deque<RankView> connects_;
  std::optional<Attempt> connecting_;
  bool connects_ended_ = false;
  std::map<Attempt, Status> results_;  // of coming epochs and the one it was started for
  std::set<Attempt> abandoned_;

  std::uint64_t next_request_ = 1;
  std::map<Key, std::string> sets_;
  std::map<std::uint64_t, Get> gets_;
  std::map<std::uint64_t, Share> shares_;
  std::map<Key, UniqueFd> held_;  // shared memory that an agent gave

  std::thread thread_;
};

}  // namespace tessera::agents
