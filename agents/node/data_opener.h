// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens what a job reads on a thread, because going through a large data set for the first time
/// takes minutes.

#include <functional>
#include <list>
#include <memory>
#include <thread>

#include "agents/net/loop.h"
#include "engine/cluster/data_status.h"
#include "engine/model/gpt.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class DataOpener {
 public:
  using Done = std::function<void(Result<engine::DataStatus>)>;

  /// The loop outlives the opener.
  explicit DataOpener(Loop& loop) : loop_(loop) {}
  /// Stops what runs and waits for it; no `done` runs any more.
  ~DataOpener();
  DataOpener(const DataOpener&) = delete;
  DataOpener& operator=(const DataOpener&) = delete;

  /// `done` runs on the loop: what the settings' data are. \error as OpenJobData
  void Open(const engine::JobSettings& settings, Done done);

 private:
  Loop& loop_;
  std::list<std::jthread> threads_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read on the loop
};

}  // namespace tessera::agents
