// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The jobs that have devices on a node, and their rows in its journal.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/move/device_store.h"
#include "agents/node/job_row.h"
#include "agents/node/plan_memo.h"
#include "agents/node/uplink.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// Put lists a job and Journal writes its row. A row that is left over is harmless, because the
/// next agent ignores the row of a job that holds no device.
/// \threadsafety The loop's thread.
class HeldJobs {
 public:
  struct Job {
    std::string name;
    JobRow row;
    std::uint64_t resumed_through = 0;  // the last pause request that the registrar has ended
    bool starting = false;              // its first resume has not arrived yet
    std::uint64_t start = 0;            // as in StartJob; 0: an earlier agent started it
    std::int64_t attempt = 0;           // of the last start of its ranks by this agent
  };

  /// \pre `journal` and `uplink` outlive the table
  HeldJobs(std::int32_t node, engine::DurableStore& journal, const Uplink& uplink,
           std::shared_ptr<PlanMemo> memo = std::make_shared<PlanMemo>())
      : node_(node), journal_(journal), uplink_(uplink), memo_(std::move(memo)) {}

  /// Lists the jobs of the journal that hold devices. The memory of the others was lost with its
  /// keeper, or is freed; if their rows cannot be read, they are set aside, and `set_aside` gets a
  /// sentence about each.
  /// \error that of the journal; kDataLoss naming a row of a job that holds devices
  Status Recover(const DeviceStore& devices, std::vector<std::string>* set_aside);

  /// nullptr if there is none.
  Job* Find(const std::string& name);
  const Job* Find(const std::string& name) const;
  const std::map<std::string, Job>& jobs() const { return jobs_; }

  /// Writes the row of the job. An error is also reported as an event.
  Status Journal(const Job& job);
  /// Lists the job, instead of an earlier one with its name.
  void Put(Job job);
  /// Removes the job and its row.
  void Erase(const std::string& name);

  /// The devices of the layout that are on this node, sorted.
  std::vector<ptc::DeviceId> LocalOf(const ptc::Layout& layout) const;
  std::int32_t node() const { return node_; }

 private:
  const std::int32_t node_;
  engine::DurableStore& journal_;
  const Uplink& uplink_;
  const std::shared_ptr<PlanMemo> memo_;
  std::map<std::string, Job> jobs_;
};

}  // namespace tessera::agents
