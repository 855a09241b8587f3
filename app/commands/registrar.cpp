// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `registrar show`: the node that coordinates the cluster, and where transactions are decided.
/// `registrar move`: another node takes the role over. `registrar rebuild`: the job table is
/// restored from the nodes.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "agents/client/cluster.h"
#include "agents/decision/registrar_record.h"
#include "agents/decision/table_revision.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/progress_line.h"
#include "app/commands/session.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

std::string memberText(const wire::RegisterMember& member) {
  if (!member.problem().empty()) return member.problem();
  if (member.version().empty()) return "readable";
  return fmt::format("etcd {}{}, answered in {:.0f} ms", member.version(),
                     member.leads() ? ", leader" : "", 1000 * member.seconds());
}

Json registrarToJson(const wire::RegistrarReply& reply) {
  Json members = Json::array();
  for (const wire::RegisterMember& member : reply.members())
    members.push_back({{"place", member.place()},
                       {"version", member.version()},
                       {"leads", member.leads()},
                       {"seconds", member.seconds()},
                       {"problem", member.problem()}});
  return {{"node", fmt::format("n{}", reply.node())},
          {"generation", reply.generation()},
          {"endpoint", reply.endpoint()},
          {"events", reply.events()},
          {"register",
           {{"store", reply.store()},
            {"prefix", reply.prefix()},
            {"decides", reply.problem().empty()},
            {"problem", reply.problem()},
            {"members", std::move(members)}}}};
}

int runRegistrarShow(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  wire::Request request;
  request.mutable_registrar();
  // Members that are down take their time.
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request), kJobTimeout));
  const wire::RegistrarReply& shown = reply.registrar();
  const bool decides = shown.problem().empty();
  if (call.json) {
    printLine(registrarToJson(shown));
    return decides ? kDone : kFailed;
  }
  fmt::print("registrar  n{} of '{}', {}{}\n", shown.node(), session.profile.cluster_name(),
             shown.endpoint(),
             shown.generation() > 1
                 ? fmt::format(", moved {}", Counted(shown.generation() - 1, "time"))
                 : "");
  fmt::print("register   {}\n", shown.store() == "etcd"
                                    ? fmt::format("etcd, keys below {}", shown.prefix())
                                    : "embedded: in the journal of the registrar");
  std::vector<std::vector<std::string>> rows;
  for (const wire::RegisterMember& member : shown.members())
    rows.push_back({"  " + member.place(), memberText(member)});
  fmt::print("{}", formatTable(rows));
  fmt::print("decides    {}\n", decides ? "yes" : "no: " + shown.problem());
  return decides ? kDone : kFailed;
}

/// The configuration of the node's agent.
Result<agents::AgentConfig> configOfNode(const Arguments& arguments, const agents::Profile& profile,
                                         const std::string& node) {
  std::string file = "/etc/tessera/agent.json";
  if (!profile.directory.empty()) file = fmt::format("{}/{}/agent.json", profile.directory, node);
  TESSERA_TRY(auto config,
              agents::LoadAgentConfig(engine::AbsolutePath(arguments.valueOr("config", file))));
  if (fmt::format("n{}", config.node) != node)
    return InvalidArgument(
        fmt::format("the configuration is that of n{}: run this on the machine of {}, or give "
                    "--config FILE",
                    config.node, node));
  if (config.etcd.endpoints.empty())
    return FailedPrecondition(
        fmt::format("the registrar of '{}' cannot move: transactions are decided in its journal, "
                    "not in etcd",
                    config.cluster));
  return config;
}

Result<engine::ClusterSnapshot> askStatus(const agents::Profile& profile,
                                          std::chrono::milliseconds timeout) {
  TESSERA_TRY(auto client, agents::ClusterClient::OpenForCommands(profile));
  return Session{profile, std::move(client)}.snapshot(timeout);
}

/// Whoever moves the role says that the earlier registrar is off.
/// \return nullopt to continue, else the exit code
std::optional<int> attest(const Invocation& call, const std::string& cluster,
                          const std::string& question) {
  std::string typed;
  if (const auto given = call.arguments.value("attest")) {
    typed = *given;
  } else if (call.json || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    return wrongUsage(
        InvalidArgument(fmt::format("{} Say so with --attest {}", question, cluster)));
  } else {
    fmt::print(stderr, "{} Type the name of the cluster: ", question);
    std::getline(std::cin, typed);
  }
  if (typed == cluster) return std::nullopt;
  return failed(InvalidArgument(fmt::format(
      "'{}' is not the name of the cluster, '{}': nothing was changed", typed, cluster)));
}

/// Waits until the registrar of the profile answers, and shows why it does not yet.
Result<engine::ClusterSnapshot> waitForRegistrar(const Invocation& call,
                                                 const agents::Profile& profile) {
  constexpr std::chrono::seconds kPatience{120}, kTry{2};
  constexpr std::chrono::milliseconds kAgain{200};
  ProgressLine progress(call.json || call.quiet);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    auto snapshot = askStatus(profile, kTry);
    if (snapshot || std::chrono::steady_clock::now() > end) {
      progress.clear();
      return snapshot;
    }
    progress.show(snapshot.error().message);
    std::this_thread::sleep_for(kAgain);
  }
}

int runRegistrarMove(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  TESSERA_OR_USAGE(const auto device,
                   ptc::ParseDevice(name + "g0").Context(fmt::format("node '{}'", name)));
  TESSERA_OR_FAILED(auto profile, findProfile(call.cluster));
  TESSERA_OR_FAILED(const auto config, configOfNode(call.arguments, profile, name));
  TESSERA_OR_FAILED(const auto keys, agents::LoadKeys(config.agent_keys));
  agents::EtcdClient etcd(config.etcd);
  TESSERA_OR_FAILED(const auto found, agents::GetRecord(etcd, config.etcd.prefix));
  if (!found)
    return failed(
        NotFound(fmt::format("no registrar of '{}' has ever run: etcd has no key {}/registrar",
                             config.cluster, config.etcd.prefix)));
  const agents::RegistrarRecord before = *found;
  agents::RegistrarRecord next = before;
  const bool older = call.arguments.has("older");
  const std::string lost =
      older ? " Changes of jobs that its copy of the job table does not have are lost." : "";
  if (before.node != device.node) {
    constexpr std::chrono::seconds kAnswer{3};
    agents::Profile old = profile;
    old.registrar_endpoint = before.endpoint;
    old.events_endpoint = before.events;
    old.server_key = before.key;
    // A registrar that refuses this key, or takes over, is there as well. A program with another
    // key at its address is not the registrar.
    const auto status = askStatus(old, kAnswer);
    const bool is_silent =
        !status && (status.error().code == ErrorCode::kTimeout ||
                    status.error().message.starts_with("handshake with") ||
                    (status.error().code == ErrorCode::kUnavailable &&
                     status.error().message.find("takes over") == std::string::npos));
    if (!is_silent)
      return failed(FailedPrecondition(
          fmt::format("n{} answers as the registrar: the role moves only from a node that is off",
                      before.node)));
    const std::string question = fmt::format(
        "{} becomes the registrar of '{}'. n{} must be off, and stay off until it has "
        "heard of this.{}",
        name, config.cluster, before.node, lost);
    if (const auto refused = attest(call, config.cluster, question)) return *refused;
    next = {before.generation + 1, device.node, config.endpoint, config.events, keys.public_key};
    const auto replaced = agents::ReplaceRecord(etcd, config.etcd.prefix, before, next);
    if (!replaced)
      return failed(OutcomeUnknown(
          fmt::format("{}; the role may have moved: the same command again finds out and goes on",
                      replaced.error().ToString())));
    const agents::RegistrarRecord& held = *replaced;
    if (held != next)
      return failed(
          FailedPrecondition(fmt::format("n{} became the registrar at the same time", held.node)));
  } else if (older) {
    const std::string question =
        fmt::format("{} is the registrar of '{}'.{}", name, config.cluster, lost);
    if (const auto refused = attest(call, config.cluster, question)) return *refused;
  }
  if (older) {
    const Status forgotten = agents::ForgetTableRevision(etcd, config.etcd.prefix);
    if (!forgotten) return failed(forgotten.error());
  }
  profile.registrar_endpoint = next.endpoint;
  profile.events_endpoint = next.events;
  profile.server_key = next.key;
  // The role has moved, whatever fails from here on.
  const auto moved = [&](const Error& error) {
    return failed(OutcomeUnknown(
        fmt::format("{} is the registrar now: {}; `tesseractl registrar show` shows whether it "
                    "answers",
                    name, error.ToString())));
  };
  if (const auto saved = agents::SaveProfile(profile); !saved) return moved(saved.error());
  const auto waited = waitForRegistrar(call, profile);
  if (!waited) return moved(waited.error());
  const engine::ClusterSnapshot& snapshot = *waited;
  if (call.json) {
    Json jobs = Json::array();
    for (const engine::JobStatus& job : snapshot.jobs) jobs.push_back(job.name);
    printLine({{"node", name},
               {"generation", next.generation},
               {"endpoint", next.endpoint},
               {"moved", before.node != device.node},
               {"jobs", std::move(jobs)}});
  } else if (!call.quiet) {
    fmt::print("{} {} the registrar of '{}', {}: {}\n", name,
               before.node == device.node ? "is" : "has become", config.cluster, next.endpoint,
               Counted(std::ssize(snapshot.jobs), "job"));
  }
  return kDone;
}

constexpr std::string_view kDefaultsAfterRebuild =
    "A job that was paused trains on, and only `tesseractl checkpoint list DIR` finds its "
    "checkpoints. Failure policy, snapshots and the schedule of checkpoints of a restored job are "
    "the defaults: set them again.";

int runRegistrarRebuild(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  wire::Request request;
  request.mutable_rebuild();
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request), kJobTimeout));
  const wire::RebuildReply& rebuilt = reply.rebuild();
  const bool all = rebuilt.left().empty();
  if (call.json) {
    printLine(
        {{"jobs", Json(std::vector<std::string>(rebuilt.jobs().begin(), rebuilt.jobs().end()))},
         {"left", Json(std::vector<std::string>(rebuilt.left().begin(), rebuilt.left().end()))}});
    return all ? kDone : kFailed;
  }
  for (const std::string& job : rebuilt.jobs()) fmt::print("{}: restored from its nodes\n", job);
  if (!rebuilt.jobs().empty()) fmt::print("{}\n", kDefaultsAfterRebuild);
  for (const std::string& why : rebuilt.left()) fmt::print("not restored: {}\n", why);
  if (rebuilt.jobs().empty() && all)
    fmt::print("The registrar knows all jobs that the nodes hold: nothing to restore.\n");
  return all ? kDone : kFailed;
}

}  // namespace

Command registrarRebuildCommand() {
  return {{.verb = "registrar rebuild",
           .summary = "Restore the job table of the registrar from what the nodes hold",
           .notes = {"For a registrar whose registrar.db was lost, damaged or replaced by an old "
                     "copy: `job list` then names jobs that nodes hold and the registrar does not "
                     "know. Until they are restored, their names and GPUs are not used.",
                     fmt::format("Layouts and state come from the nodes. {} Exits with 1 if a job "
                                 "could not be restored, and prints why.",
                                 kDefaultsAfterRebuild)},
           .examples = {"tesseractl registrar rebuild", "tesseractl --json registrar rebuild"}},
          runRegistrarRebuild};
}

Command registrarMoveCommand() {
  return {
      {.verb = "registrar move",
       .summary = "Make another node the registrar when the present one is gone",
       .words = {{"NODE", "the node that takes over, such as n1"}},
       .options = {{.name = "config",
                    .value = "FILE",
                    .help = "the configuration of that node's agent",
                    .fallback = "/etc/tessera/agent.json, or that of the local cluster"},
                   {.name = "attest",
                    .value = "NAME",
                    .help = "the name of the cluster, instead of typing it: the node that was "
                            "the registrar is off"},
                   {.name = "older",
                    .value = "",
                    .help = "use the copy of the job table that the nodes have, although the "
                            "earlier registrar had a later one"},
                   quietOption()},
       .notes = {"The cluster must decide in etcd. The new registrar collects what the nodes "
                 "keep of their jobs, asks etcd for the outcome of a change that was running, and "
                 "goes on. History and events of the earlier one stay on its node.",
                 "If all nodes that have the latest copy of the job table are off, the new "
                 "registrar waits for one of them. --older goes on without it; run it only if "
                 "none of them comes back, because later changes of jobs are lost.",
                 "Run it on the machine of NODE. The profile of this user then names the new "
                 "registrar; others add it with `tesseractl profile add`."},
       .examples = {"tesseractl registrar move n1", "tesseractl registrar move n1 --attest lab"}},
      runRegistrarMove};
}

Command registrarShowCommand() {
  return {{.verb = "registrar show",
           .summary = "Show where the cluster is coordinated and transactions are decided",
           .notes = {"Exits with 1 if nothing can be decided now, for example because most members "
                     "of etcd are down. Changes then wait, and nothing is lost."},
           .examples = {"tesseractl registrar show", "tesseractl --json registrar show"}},
          runRegistrarShow};
}

}  // namespace tessera::app
