// SPDX-License-Identifier: Apache-2.0
#include "agents/node/data_opener.h"

#include <utility>

#include "agents/data/job_data.h"

namespace tessera::agents {
namespace {

Result<engine::DataStatus> Look(const engine::JobSettings& settings, std::stop_token stop) {
  TESSERA_TRY(const engine::DataMix data, OpenJobData(settings, {.cancel = std::move(stop)}));
  return Describe(data, settings);
}

}  // namespace

DataOpener::~DataOpener() {
  *alive_ = false;
  for (std::jthread& thread : threads_) thread.request_stop();
}

void DataOpener::Open(const engine::JobSettings& settings, Done done) {
  const auto thread = threads_.emplace(threads_.end());
  *thread = std::jthread([this, thread, alive = alive_, settings,
                          done = std::move(done)](const std::stop_token& stop) {
    auto status = Look(settings, stop);
    loop_.Post([this, thread, alive, done, status = std::move(status)] {
      if (!*alive) return;
      threads_.erase(thread);  // it has nothing left to do but to end
      done(status);
    });
  });
}

}  // namespace tessera::agents
