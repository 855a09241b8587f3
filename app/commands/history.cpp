// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `history`: the transactions of the cluster, newest first.

#include <fmt/format.h>

#include <algorithm>

#include "agents/wire/convert.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// "dp=2,tp=2,pp=1 on n0g0,n0g1,…" with the number of devices instead of their names.
std::string shorten(const std::string& mesh) {
  const auto on = mesh.find(" on ");
  if (on == std::string::npos) return mesh;
  const auto count =
      1 + std::count(mesh.begin() + static_cast<std::ptrdiff_t>(on), mesh.end(), ',');
  return fmt::format("{} ({} GPUs)", mesh.substr(0, on), count);
}

int run(const Invocation& call) {
  const std::string job = call.arguments.word(0);
  if (!job.empty())
    if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  const auto limit = call.arguments.integer("limit", 100, 1, 100'000);
  if (!limit) return wrongUsage(limit.error());
  wire::Request request;
  request.mutable_history()->set_job(job);
  request.mutable_history()->set_limit(*limit);
  const auto reply = askOnce(call, std::move(request), ReplyKind::kHistory);
  if (!reply) return failed(reply.error());
  Json json = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"id", "started", "job", "from", "to", "result", "moved", "bound", "pause", "digest after"}};
  std::string reasons;
  for (const auto& info : reply->history().entries()) {
    const auto entry = agents::Decode(info);
    if (!entry) return failed(entry.error());
    json.push_back(toJson(*entry));
    rows.push_back({std::to_string(entry->id), formatClock(entry->started), entry->job,
                    shorten(entry->from), shorten(entry->to),
                    entry->result.empty() ? "running" : entry->result,
                    formatBytes(entry->bytes_moved), formatBytes(entry->volume_bound),
                    formatSeconds(entry->pause),
                    entry->digest_after +
                        (!entry->digest_after.empty() && entry->digest_after == entry->digest_before
                             ? " (= before)"
                             : "")});
    if (!entry->reason.empty()) reasons += fmt::format("{}: {}\n", entry->id, entry->reason);
  }
  if (call.json)
    printLine(json);
  else
    fmt::print("{}{}", formatTable(rows, {0, 6, 7, 8}), reasons);
  return kDone;
}

}  // namespace

Command historyCommand() {
  return {{"history",
           "lists the transactions of the cluster, newest first",
           {{"JOB", "only of this job", false}},
           {{"limit", "N", "at most N (default 100)"}},
           {}},
          run};
}

}  // namespace tessera::app
