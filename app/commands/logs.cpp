// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `logs`: the agents' logs, read from a local cluster's folder or requested from the registrar.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/cluster_choice.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"

namespace tessera::app {
namespace {

/// The registrar gives the node ten seconds.
constexpr std::chrono::seconds kLogPatience{15};

struct Log {
  std::string node;
  std::ifstream file;
};

void printEntry(const Invocation& call, const std::string& node, const std::string& line) {
  if (call.json)
    printLine({{"node", node}, {"line", line}});
  else
    fmt::print("{}  {}\n", node, line);
}

/// Index of "n0"; nullopt for another text.
std::optional<int> nodeIndex(const std::string& name) {
  int node = 0;
  const char* end = name.data() + name.size();
  if (name.size() < 2 || name[0] != 'n') return std::nullopt;
  const auto [stop, failure] = std::from_chars(name.data() + 1, end, node);
  if (failure != std::errc() || stop != end || node < 0) return std::nullopt;
  return node;
}

/// The logs of a cluster of other machines.
int runRemote(const Invocation& call, const std::string& wanted, std::int64_t count) {
  if (call.arguments.has("follow"))
    return failed(FailedPrecondition("--follow works for local clusters only"));
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  int code = kDone;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    const std::string name = fmt::format("n{}", node.node);
    if (!wanted.empty() && wanted != name) continue;
    wire::Request request;
    request.mutable_log()->set_node(node.node);
    request.mutable_log()->set_lines(count);
    const auto reply = session.ask(std::move(request), kLogPatience);
    if (!reply) {
      code = failed(reply.error());
      continue;
    }
    for (const std::string& line : reply->log().lines()) printEntry(call, name, line);
  }
  return code;
}

int runLogs(const Invocation& call) {
  TESSERA_OR_USAGE(const auto count, call.arguments.integer("limit", 100, 0, 1'000'000));
  const std::string wanted = call.arguments.word(0);
  if (!wanted.empty() && !nodeIndex(wanted))
    return wrongUsage(InvalidArgument(fmt::format("'{}' is not a node such as n0", wanted)));
  TESSERA_OR_FAILED(const std::string cluster, clusterOf(call.cluster));
  std::string directory;
  if (const auto profile = findProfile(cluster); profile) {
    directory = profile->directory;
    if (directory.empty()) return runRemote(call, wanted, count);
  } else if (hasFolder(cluster)) {  // a stopped cluster keeps its logs
    directory = localClusterFolder(cluster);
  } else {
    return failed(profile.error());
  }
  std::vector<Log> logs;
  std::error_code missing;
  for (int node = 0; std::filesystem::exists(agentLog(directory, node), missing); ++node)
    if (wanted.empty() || nodeIndex(wanted) == node)
      logs.push_back({fmt::format("n{}", node), std::ifstream(agentLog(directory, node))});
  if (logs.empty())
    return failed(NotFound(
        fmt::format("no log of {} in {}", wanted.empty() ? "any node" : wanted, directory)));
  for (Log& log : logs) {
    std::deque<std::string> last;
    for (std::string line; std::getline(log.file, line);) {
      last.push_back(line);
      if (std::ssize(last) > count) last.pop_front();
    }
    for (const std::string& line : last) printEntry(call, log.node, line);
  }
  while (call.arguments.has("follow")) {
    flushOutput();
    if (outputError() != 0) return kFailed;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (Log& log : logs) {
      log.file.clear();
      for (std::string line; std::getline(log.file, line);) printEntry(call, log.node, line);
    }
  }
  return kDone;
}

}  // namespace

Command logsCommand() {
  return {
      {.verb = "logs",
       .summary = "Print the logs of the agents",
       .words = {{"NODE", "n0, n1, ...; all nodes if it is missing", false}},
       .options = {limitOption("print the last N lines of each node", "100"),
                   followOption("print new lines until interrupted; local clusters only")},
       .examples = {"tesseractl logs", "tesseractl logs n1 --limit 20", "tesseractl logs --follow"},
       .json = JsonForm::kLines},
      runLogs};
}

}  // namespace tessera::app
