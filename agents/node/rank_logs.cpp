// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_logs.h"

#include <algorithm>

namespace tessera::agents {

void RankLogs::Add(const std::string& job, std::int32_t device, std::string line) {
  const auto key = std::pair(job, device);
  if (!logs_.contains(key) && logs_.size() >= kMostRanks) {
    logs_.erase(std::ranges::min_element(logs_, {},
                                         [](const auto& entry) { return entry.second.last_use; }));
  }
  Log& log = logs_[key];
  if (line.size() > kMostLineBytes) line.resize(kMostLineBytes);
  log.bytes += line.size();
  log.lines.push_back(std::move(line));
  ++log.next;
  log.last_use = ++uses_;
  while (log.lines.size() > kMostLines || log.bytes > kMostBytes) {
    log.bytes -= log.lines.front().size();
    log.lines.pop_front();
  }
}

void RankLogs::Forget(const std::string& job) {
  std::erase_if(logs_, [&](const auto& entry) { return entry.first.first == job; });
}

RankLogs::Lines RankLogs::From(const std::string& job, std::int32_t device, std::int64_t from,
                               std::int64_t limit) const {
  const auto found = logs_.find(std::pair(job, device));
  if (found == logs_.end()) return {};
  const Log& log = found->second;
  Lines out;
  out.next = log.next;
  const std::int64_t first = log.next - std::ssize(log.lines);
  // The agent may have started again since the caller's last number.
  const std::int64_t wanted = from > log.next ? first : std::max(from, first);
  const std::int64_t begin = std::max(wanted, log.next - std::max<std::int64_t>(limit, 0));
  for (std::int64_t number = begin; number < log.next; ++number) {
    out.lines.push_back(log.lines[static_cast<std::size_t>(number - first)]);
  }
  return out;
}

}  // namespace tessera::agents
