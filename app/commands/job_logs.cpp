// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job logs`: what the ranks of a job have printed.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/proposal.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostLogLines = 5'000;  // of a rank, as its node keeps

/// Prints what each rank has printed since the last call.
class RankOutput {
 public:
  RankOutput(const Invocation& call, std::string job, std::optional<std::int64_t> rank,
             std::int64_t limit)
      : m_call(call),
        m_job(std::move(job)),
        m_rank(rank),
        m_limit(limit),
        m_follows(call.arguments.has("follow")) {}

  Status print(Session& session) {
    TESSERA_TRY(const auto snapshot, session.snapshot());
    TESSERA_TRY(const engine::JobStatus job, findJob(snapshot, m_job));
    const auto ranks = std::ssize(job.devices);
    if (m_rank && *m_rank >= ranks)
      return NotFound(fmt::format("'{}' has no rank {}: it has {}, from 0", m_job, *m_rank, ranks));
    Status result = OkStatus();
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      if (m_rank && *m_rank != rank) continue;
      const ptc::DeviceId device = job.devices[static_cast<std::size_t>(rank)];
      const Status printed = printRank(session, rank, device);
      if (printed) {
        m_silent.erase(device);
      } else {  // its node may be gone; others have their lines
        if (m_silent.insert(device).second)
          fmt::print(stderr, "rank {}: {}\n", rank, printed.error().ToString());
        result = printed;
      }
    }
    return m_follows ? OkStatus() : result;
  }

 private:
  Status printRank(Session& session, std::int64_t rank, ptc::DeviceId device) {
    const auto [entry, isFirst] = m_next.try_emplace(device, 0);
    std::int64_t& next = entry->second;
    wire::Request request;
    wire::LogRequest& log = *request.mutable_log();
    log.set_node(device.node);
    log.set_job(m_job);
    log.set_device(device.index);
    log.set_from(next);
    log.set_lines(isFirst ? m_limit : kMostLogLines);
    TESSERA_TRY(const auto reply, session.ask(std::move(request)));
    next = reply.log().next();
    for (const std::string& line : reply.log().lines()) {
      if (m_call.json)
        printLine({{"rank", rank}, {"device", ptc::ToString(device)}, {"line", line}});
      else
        fmt::print("{:>4}  {}\n", rank, line);
    }
    return OkStatus();
  }

  const Invocation& m_call;
  const std::string m_job;
  const std::optional<std::int64_t> m_rank;
  const std::int64_t m_limit;
  const bool m_follows;
  std::map<ptc::DeviceId, std::int64_t> m_next;  // number of the coming line
  std::set<ptc::DeviceId> m_silent;              // whose nodes do not answer
};

int runJobLogs(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  const std::string job = arguments.word(0);
  if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  TESSERA_OR_USAGE(const auto limit, arguments.integer("limit", 100, 0, kMostLogLines));
  std::optional<std::int64_t> rank;
  if (arguments.has("rank")) {
    TESSERA_OR_USAGE(const auto number, arguments.integer("rank", 0, 0, 65'535));
    rank = number;
  }
  TESSERA_OR_FAILED(auto session, openSession(call));
  RankOutput output(call, job, rank, limit);
  bool said = false;
  for (;;) {
    const Status printed = output.print(session);
    if (printed)
      said = false;
    else if (!arguments.has("follow") || !waitsForRegistrar(printed.error(), said))
      return failed(printed.error());
    if (!arguments.has("follow")) return kDone;
    flushOutput();
    if (outputError() != 0) return kFailed;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

Command jobLogsCommand() {
  return {
      {.verb = "job logs",
       .summary = "Print what the ranks of a job have printed",
       .words = {{"JOB", "name of the job"}},
       .options = {{.name = "rank",
                    .value = "R",
                    .help = "only this rank of the present mesh",
                    .fallback = "all ranks, one after the other"},
                   limitOption("print the last N lines of each rank", "100"),
                   followOption("print new lines until interrupted")},
       .notes = {"A node keeps the last 5,000 lines or 1 MiB of each rank while its agent runs. "
                 "All lines are in the agent's log as well: `tesseractl logs`."},
       .examples = {"tesseractl job logs train", "tesseractl job logs train --rank 3 --follow"},
       .json = JsonForm::kLines},
      runJobLogs};
}

}  // namespace tessera::app
