// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens the data of jobs on threads of its own: building the index of a new data set may take
/// long.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <thread>

#include "agents/net/timers.h"
#include "agents/registrar/data_opener.h"
#include "engine/data/index_file.h"

namespace tessera::agents {

/// One thread per opening, at most kMostThreads: others wait, because the threads of cancelled
/// openings stay while their file system hangs. A partly built index is not kept.
class DataThread : public DataOpener {
 public:
  static constexpr std::ptrdiff_t kMostThreads = 32;
  /// Opens the data and describes them. Any thread.
  /// \error as OpenJobData
  using Look = std::function<Result<engine::DataStatus>(const engine::JobSettings&,
                                                        const engine::IndexOptions&)>;

  /// The timers outlive the opener.
  explicit DataThread(Timers& timers) : DataThread(timers, LookAtJobData) {}
  DataThread(Timers& timers, Look look) : timers_(timers), look_(std::move(look)) {}
  /// Cancels all openings and waits for their threads. No callback runs afterwards.
  ~DataThread() override;

  Id Open(const engine::JobSettings& settings, Progress progress, Done done) override;
  /// The thread ends at its next check, within about a second.
  void Cancel(Id id) override;
  /// Whether a thread runs, including those of cancelled openings.
  bool IsBusy() const { return !openings_.empty(); }

 private:
  struct Opening {
    bool is_wanted = true;
    std::function<void(const std::stop_token&)> run;  // until its thread begins
    std::jthread thread;
  };
  void StartWaiting();
  static Result<engine::DataStatus> LookAtJobData(const engine::JobSettings& settings,
                                                  const engine::IndexOptions& index);
  bool IsWanted(Id id) const;

  Timers& timers_;
  const Look look_;
  std::map<Id, Opening> openings_;
  Id next_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read on the thread of the timers
};

}  // namespace tessera::agents
