// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data of simulated jobs: nothing is read, so they are there at once.

#include <utility>

#include "agents/registrar/data_opener.h"

namespace tessera::agents::sim {

class ModelledData : public DataOpener {
 public:
  explicit ModelledData(Timers& timers) : timers_(timers) {}
  Id Open(const engine::JobSettings&, Progress, Done done) override {
    timers_.Post([done = std::move(done)] { done(engine::DataStatus{}); });
    return ++last_;
  }
  void Cancel(Id) override {}

 private:
  Timers& timers_;
  Id last_ = 0;
};

}  // namespace tessera::agents::sim
