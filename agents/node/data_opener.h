// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens what a job reads on a thread, because going through a large data set for the first time
/// takes minutes.

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
  /// Opens and looks. Any thread. \error as OpenJobData
  using Look = std::function<Result<engine::DataStatus>(const engine::JobSettings&,
                                                        const engine::IndexOptions&)>;

  /// The loop outlives the opener.
  explicit DataOpener(Loop& loop) : DataOpener(loop, LookAtJobData) {}
  DataOpener(Loop& loop, Look look) : loop_(loop), look_(std::move(look)) {}
  /// Stops what runs and waits for it; nothing of what was passed to Open runs any more.
  ~DataOpener();
  DataOpener(const DataOpener&) = delete;
  DataOpener& operator=(const DataOpener&) = delete;

  /// Both run on the loop: `progress` a few times a second while it comes further, then `done` with
  /// what the settings' data are. \error as OpenJobData
  Id Open(const engine::JobSettings& settings, Progress progress, Done done);
  /// What was passed to Open runs no more; its thread ends when it next looks, within a second or
  /// so. What it built up to then is not kept. An id that is over is ignored.
  void Cancel(Id id);
  /// Whether an opening runs, those that were cancelled included.
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
