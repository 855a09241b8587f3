// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens the data of jobs for the registrar, which must not wait for it.

#include <cstdint>
#include <functional>

#include "agents/job/rank_protocol.h"
#include "engine/cluster/data_status.h"
#include "engine/model/gpt.h"
#include "ptc/base/result.h"

namespace tessera::agents {

class DataOpener {
 public:
  using Id = std::uint64_t;
  using Progress = std::function<void(const RankLoading&)>;
  using Done = std::function<void(Result<engine::DataStatus>)>;

  DataOpener() = default;
  DataOpener(const DataOpener&) = delete;
  DataOpener& operator=(const DataOpener&) = delete;
  virtual ~DataOpener() = default;

  /// Both callbacks run on the caller's thread, never inside the call: `progress` a few times per
  /// second while there is progress, then `done` with a description of the data.
  /// \error as OpenJobData
  virtual Id Open(const engine::JobSettings& settings, Progress progress, Done done) = 0;
  /// Cancels an opening: its callbacks no longer run. Ignores an id whose opening has ended.
  virtual void Cancel(Id id) = 0;
};

}  // namespace tessera::agents
