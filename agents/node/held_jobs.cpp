// SPDX-License-Identifier: Apache-2.0
#include "agents/node/held_jobs.h"

#include <algorithm>
#include <utility>

#include "engine/history/unreadable_rows.h"

namespace tessera::agents {

Status HeldJobs::Recover(const DeviceStore& devices, std::vector<std::string>* set_aside) {
  TESSERA_TRY(const auto rows, journal_.List("job/"));
  for (const auto& [key, text] : rows) {
    const std::string name = key.substr(4);
    const bool is_held = !devices.Of(name).empty();
    auto row = ParseJobRow(key, text);
    if (!row && is_held) return row.error();
    if (!row) {
      TESSERA_TRY(std::string note,
                  engine::SetAside(journal_, "journal.db", key, text, row.error()));
      set_aside->push_back(std::move(note));
    } else if (is_held) {
      jobs_.emplace(name, Job{.name = name, .row = std::move(*row)});
    }
  }
  return OkStatus();
}

HeldJobs::Job* HeldJobs::Find(const std::string& name) {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : &found->second;
}

const HeldJobs::Job* HeldJobs::Find(const std::string& name) const {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : &found->second;
}

Status HeldJobs::Journal(const Job& job) {
  Status put = journal_.Put("job/" + job.name, *memo_->RowText(job.row));
  if (!put) {
    uplink_.ReportNodeEvent(engine::Severity::kError, "journal: " + put.error().ToString());
  }
  return put;
}

void HeldJobs::Put(Job job) {
  std::string name = job.name;
  jobs_.insert_or_assign(std::move(name), std::move(job));
}

void HeldJobs::Erase(const std::string& name) {
  jobs_.erase(name);
  static_cast<void>(journal_.Erase("job/" + name));
}

std::vector<ptc::DeviceId> HeldJobs::LocalOf(const ptc::Layout& layout) const {
  std::vector<ptc::DeviceId> out;
  for (const ptc::DeviceId device : layout.mesh().devices()) {
    if (device.node == node_) out.push_back(device);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tessera::agents
