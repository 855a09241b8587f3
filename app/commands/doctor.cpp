// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `doctor`: checks this machine, the connection to the cluster, and each node.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/clock_skew.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "app/commands/when.h"
#include "app/version.h"

namespace tessera::app {
namespace {

using engine::Check;
using Verdict = engine::Check::Verdict;

/// The registrar gives each node ten seconds.
constexpr std::chrono::seconds kDoctorPatience{15};

Check found(Verdict verdict, std::string name, std::string value, std::string remedy = {}) {
  return {.name = std::move(name),
          .verdict = verdict,
          .value = std::move(value),
          .remedy = std::move(remedy)};
}

Check home() {
  const std::string folder = agents::TesseraHome();
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    return found(Verdict::kOk, "home", folder + " will be created when needed");
  if (::access(folder.c_str(), W_OK) != 0)
    return found(Verdict::kFailed, "home", folder + " cannot be written",
                 "set TESSERA_HOME to a folder of yours");
  if (info.st_uid != ::getuid())
    return found(Verdict::kWarning, "home", folder + " belongs to another user",
                 "set TESSERA_HOME to a folder of yours");
  return found(Verdict::kOk, "home", folder);
}

Check keyFile(const agents::Profile& profile) {
  const auto keys = agents::LoadKeys(profile.key_file);
  if (!keys && keys.error().code == ErrorCode::kPermissionDenied)
    return found(Verdict::kFailed, "key file", profile.key_file + " is readable by others",
                 "chmod 600 " + profile.key_file);
  if (!keys)
    return found(Verdict::kFailed, "key file", keys.error().message,
                 "`tesseractl keys new NAME` makes a pair; its .pub goes to every node");
  return found(Verdict::kOk, "key file", profile.key_file);
}

std::string remedyOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kFailedPrecondition:
      return "copy your .pub into the allowed folder of node 0; compare server key and versions";
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
      return "is the agent running there, and are its ports open? (`systemctl status "
             "tessera-agent`, four ports from the registrar's on)";
    default:
      return "";
  }
}

std::vector<Check> examine(const Invocation& call) {
  std::vector<Check> checks = {
      found(Verdict::kOk, "version", fmt::format("tesseractl {}", kVersion)), home()};
  const auto profile = findProfile(call.cluster);
  if (!profile) {
    const bool isDefault = call.cluster.empty() && (profile.error().code == ErrorCode::kNotFound ||
                                                    profile.error().code == ErrorCode::kUnavailable);
    checks.push_back(found(isDefault ? Verdict::kSkipped : Verdict::kFailed, "profile",
                           profile.error().message,
                           "`tesseractl up` starts a local cluster; `tesseractl profile add` names "
                           "one of other machines"));
    return checks;
  }
  checks.push_back(
      found(Verdict::kOk, "profile",
            fmt::format("'{}', registrar {}", profile->name, profile->registrar_endpoint)));
  checks.push_back(keyFile(*profile));
  wire::Request request;
  request.mutable_doctor();
  auto session = openSession(call);
  const auto asked = std::chrono::steady_clock::now();
  auto reply = session ? session->ask(std::move(request), kDoctorPatience)
                       : Result<wire::Reply>(session.error());
  const double now = wallClock();
  const std::chrono::duration<double> latency = std::chrono::steady_clock::now() - asked;
  if (!reply) {
    checks.push_back(
        found(Verdict::kFailed, "registrar", reply.error().message, remedyOf(reply.error())));
    return checks;
  }
  checks.push_back(found(Verdict::kOk, "registrar", "answers, encrypted (CurveZMQ)"));
  auto rows = agents::Decode(reply->doctor());
  if (!rows) {
    checks.push_back(found(Verdict::kFailed, "nodes", rows.error().message));
    return checks;
  }
  for (Check& check : *rows) {
    readClock(check, now, latency.count());
    checks.push_back(std::move(check));
  }
  return checks;
}

void printChecks(const std::vector<Check>& checks) {
  std::optional<std::int32_t> node;
  bool first = true;
  for (const Check& check : checks) {
    if (first || check.node != node) {
      fmt::print("{}{}\n", first ? "" : "\n",
                 check.node ? fmt::format("n{}", *check.node) : std::string("this machine"));
      first = false;
      node = check.node;
    }
    const std::string_view verdict = engine::ToString(check.verdict);
    fmt::print("  {}{:<{}} {:<19} {}\n", paintState(verdict), "", 8 - verdict.size(), check.name,
               check.value);
    if (!check.remedy.empty()) fmt::print("  {:<8} {:<19} → {}\n", "", "", check.remedy);
  }
}

int runDoctor(const Invocation& call) {
  const std::vector<Check> checks = examine(call);
  const auto count = [&](Verdict verdict) {
    return std::count_if(checks.begin(), checks.end(),
                         [&](const Check& check) { return check.verdict == verdict; });
  };
  const auto failures = count(Verdict::kFailed), warnings = count(Verdict::kWarning);
  if (call.json) {
    Json rows = Json::array();
    for (const Check& check : checks) rows.push_back(toJson(check));
    printLine({{"checks", rows}, {"failed", failures}, {"warnings", warnings}});
  } else {
    printChecks(checks);
    fmt::print("\n{} checks, {} failed, {} warnings\n", checks.size(), failures, warnings);
    fmt::print(
        "note: a job's own collectives between hosts are not encrypted: use a network that "
        "you trust for them\n");
  }
  return failures == 0 ? kDone : kFailed;
}

}  // namespace

Command doctorCommand() {
  return {{.verb = "doctor",
           .summary = "Check this machine, the connection, the cluster and its nodes",
           .notes = {"The exit code is 1 if a check failed. Warnings do not count as failures."},
           .examples = {"tesseractl doctor", "tesseractl --cluster lab doctor"}},
          runDoctor};
}

}  // namespace tessera::app
