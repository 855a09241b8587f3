// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens the data of jobs on threads, because indexing a large data set takes minutes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "agents/job/rank_protocol.h"
#include "agents/net/loop.h"
#include "engine/cluster/data_status.h"
#include "engine/data/index_file.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class DataOpener {
 public:
  using Id = std::uint64_t;
  using Progress = std::function<void(const RankLoading&)>;
  using Done = std::function<void(Result<engine::DataStatus>)>;
  /// Opens the data and describes them. Any thread.
  /// \error as OpenJobData
  using Look = std::function<Result<engine::DataStatus>(const engine::JobSettings&,
                                                        const engine::IndexOptions&)>;

  /// The loop outlives the opener.
  explicit DataOpener(Loop& loop) : DataOpener(loop, LookAtJobData) {}
  DataOpener(Loop& loop, Look look) : loop_(loop), look_(std::move(look)) {}
  /// Cancels all openings and waits for their threads. No callback runs afterwards.
  ~DataOpener();
  DataOpener(const DataOpener&) = delete;
  DataOpener& operator=(const DataOpener&) = delete;

  /// Both callbacks run on the loop: `progress` a few times per second while there is progress,
  /// then `done` with a description of the data.
  /// \error as OpenJobData
  Id Open(const engine::JobSettings& settings, Progress progress, Done done);
  /// Cancels an opening: its callbacks no longer run, and its thread ends at its next check, within
  /// about a second. A partly built index is not kept. Ignores an id whose opening has ended.
  void Cancel(Id id);
  /// Whether a thread runs, including those of cancelled openings.
  bool IsBusy() const { return !openings_.empty(); }

 private:
  struct Opening {
    bool is_wanted = true;
    std::jthread thread;
  };
  static Result<engine::DataStatus> LookAtJobData(const engine::JobSettings& settings,
                                                  const engine::IndexOptions& index);
  bool IsWanted(Id id) const;

  Loop& loop_;
  const Look look_;
  std::map<Id, Opening> openings_;
  Id next_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read on the loop
};

}  // namespace tessera::agents
