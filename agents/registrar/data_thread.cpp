// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/data_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "agents/data/job_data.h"

namespace tessera::agents {

Result<engine::DataStatus> DataThread::LookAtJobData(const engine::JobSettings& settings,
                                                     const engine::IndexOptions& index) {
  TESSERA_TRY(const engine::DataMix data, OpenJobData(settings, index));
  return Describe(data, settings);
}

DataThread::~DataThread() {
  *alive_ = false;
  for (auto& [id, opening] : openings_) opening.thread.request_stop();
}

bool DataThread::IsWanted(Id id) const {
  const auto found = openings_.find(id);
  return found != openings_.end() && found->second.is_wanted;
}

DataThread::Id DataThread::Open(const engine::JobSettings& settings, Progress progress, Done done) {
  const Id id = next_++;
  openings_[id].run = [this, id, alive = alive_, settings, progress = std::move(progress),
                       done = std::move(done)](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPeriod{250};
    engine::IndexOptions index;
    index.cancel = stop;
    index.progress = [&, reported = Timers::Clock::time_point()](std::int64_t done_bytes,
                                                                 std::int64_t total) mutable {
      if (Timers::Clock::now() - reported < kPeriod) return;
      reported = Timers::Clock::now();
      timers_.Post([this, id, alive, progress, loading = RankLoading{done_bytes, total}] {
        if (*alive && progress && IsWanted(id)) progress(loading);
      });
    };
    auto status = look_(settings, index);
    timers_.Post([this, id, alive, done, status = std::move(status)] {
      if (!*alive) return;
      const bool is_wanted = IsWanted(id);
      openings_.erase(id);  // joins the thread, which has nothing left to do
      StartWaiting();
      if (is_wanted) done(status);
    });
  };
  StartWaiting();
  return id;
}

void DataThread::StartWaiting() {
  auto running = std::ranges::count_if(
      openings_, [](const auto& opening) { return opening.second.thread.joinable(); });
  for (auto& [id, opening] : openings_) {
    if (running >= kMostThreads) return;
    if (!opening.run) continue;
    opening.thread = std::jthread(std::exchange(opening.run, nullptr));
    ++running;
  }
}

void DataThread::Cancel(Id id) {
  const auto found = openings_.find(id);
  if (found == openings_.end()) return;
  if (found->second.run) {
    openings_.erase(found);
    return;
  }
  found->second.is_wanted = false;
  found->second.thread.request_stop();
}

}  // namespace tessera::agents
