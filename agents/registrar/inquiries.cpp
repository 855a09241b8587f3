// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/inquiries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <set>

#include "agents/registrar/measured_rows.h"
#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {

/// A node's own limit for its probe is shorter: see node_queries.cpp.
constexpr auto kProbeDeadline = std::chrono::seconds(70);
constexpr auto kDoctorDeadline = std::chrono::seconds(10);
constexpr auto kLogDeadline = std::chrono::seconds(10);
constexpr auto kCheckDeadline = std::chrono::seconds(60);  // a program imports its libraries for it
constexpr std::int64_t kMostLines = 10'000;

}  // namespace

const engine::Calibration& Inquiries::calibration() const {
  return world_.simulation ? world_.simulation->calibration : calibration_;
}

Status Inquiries::Install(engine::Calibration calibration) {
  TESSERA_RETURN_IF_ERROR(journal_.Put(kCalibrationRow, engine::ToJson(calibration)));
  calibration_ = std::move(calibration);
  return OkStatus();
}

Status Inquiries::Recover() {
  TESSERA_TRY(const std::optional<std::string> row, journal_.Get(kCalibrationRow));
  if (!row) return OkStatus();
  auto calibration = engine::ParseCalibration(*row);
  if (!calibration) {  // written by another version; the next probe replaces it
    AddEvent(engine::Severity::kWarning, "registrar",
             "the stored calibration cannot be read: " + calibration.error().ToString());
    return journal_.Erase(kCalibrationRow);
  }
  calibration_ = std::move(*calibration);
  return OkStatus();
}

void Inquiries::OnProbe(const wire::ProbeRequest& request, const ReplyPtr& reply) {
  const auto install = [this](const ReplyPtr& to, engine::Calibration calibration, double seconds,
                              const std::string& how) {
    wire::Reply out;
    out.mutable_probe()->set_calibration(engine::ToJson(calibration));
    out.mutable_probe()->set_seconds(seconds);
    if (const Status installed = Install(std::move(calibration)); !installed) {
      return to->Fail(installed.error());
    }
    AddEvent(engine::Severity::kInfo, "registrar", how + to->RequesterText());
    to->Done(std::move(out));
  };
  if (!request.calibration().empty()) {
    auto calibration = engine::ParseCalibration(request.calibration());
    if (!calibration) return reply->Fail(calibration.error());
    return install(reply, std::move(*calibration), 0, "calibration installed");
  }
  if (const Status free = check_free_(); !free) return reply->Fail(free.error());
  for (const auto& [name, job] : jobs_) {
    if (job.state == engine::JobState::kPaused || job.state == engine::JobState::kSuspended)
      continue;
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' is {}: a probe needs idle machines; pause the job first", name,
                    ToString(job.state))));
  }
  // Nodes of one machine share its cores, so one of them measures for all.
  std::map<std::string, std::int32_t> first_of_machine;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.state == engine::NodeState::kAlive) first_of_machine.emplace(node.machine, number);
  }
  std::set<std::int32_t> nodes;
  for (const auto& [machine, number] : first_of_machine) nodes.insert(number);
  if (nodes.empty()) return reply->Fail(Unavailable("no node is alive"));
  wire::NodeQuery query;
  query.mutable_probe();
  const auto began = timers_.now();
  node_queries_.Query(
      nodes, std::move(query), kProbeDeadline,
      [this, reply, install, began](const NodeQueryClient::Answers& answers) {
        // Every step waits for the slowest machine, so its figures are used.
        std::optional<engine::Calibration> slowest;
        for (const auto& [node, answer] : answers) {
          if (!answer) return reply->Fail(answer.error());
          auto measured = engine::ParseCalibration(answer->probe().calibration());
          if (!measured) {
            return reply->Fail(
                DataLoss(fmt::format("the probe of n{}: {}", node, measured.error().ToString())));
          }
          if (!slowest || measured->flops_per_second < slowest->flops_per_second) {
            slowest = std::move(*measured);
          }
        }
        install(reply, std::move(*slowest),
                std::chrono::duration<double>(timers_.now() - began).count(),
                fmt::format("calibration measured on {}", Counted(std::ssize(answers), "machine")));
      });
}

engine::Check Inquiries::CheckHistory() const {
  engine::Check check;
  check.node = config_.node;
  check.name = "history";
  check.value = "everything is recorded";
  if (const std::string& problem = publisher_.problem(); !problem.empty()) {
    check.verdict = engine::Check::Verdict::kFailed;
    check.value = fmt::format("cannot be written: {}", problem);
    check.remedy = "free disk space, or end the program that holds the file";
  }
  return check;
}

engine::Check Inquiries::CheckTable() const {
  engine::Check check;
  check.node = config_.node;
  check.name = "job table";
  check.value = "it explains what all nodes hold";
  if (const Status is_there = journal_.CheckPlace(); !is_there) {
    check.verdict = engine::Check::Verdict::kFailed;
    check.value = is_there.error().message;
    check.remedy = "change nothing, restart the agent, and run `tesseractl registrar rebuild`";
    return check;
  }
  if (const std::vector<std::string> names = jobs_.unknown().names(); !names.empty()) {
    check.verdict = engine::Check::Verdict::kFailed;
    check.value = fmt::format("it does not explain what nodes hold of {}", fmt::join(names, ", "));
    check.remedy = "`tesseractl registrar rebuild` restores the job table from the nodes";
  } else if (const auto aside = jobs_.SetAsideJobs(); !aside.empty()) {
    check.verdict = engine::Check::Verdict::kFailed;
    check.value = fmt::format(
        "the row of {} in the job table cannot be read, and no node has reported the job",
        aside.front());
    check.remedy = fmt::format(
        "start its nodes, and `tesseractl registrar rebuild` restores it; `tesseractl job stop {}` "
        "forgets the row",
        aside.front());
  }
  return check;
}

void Inquiries::OnDoctor(const ReplyPtr& reply) {
  // All nodes examine themselves once for all who ask meanwhile.
  doctors_.push_back(reply);
  if (doctors_.size() > 1) return;
  std::vector<engine::Check> silent;
  std::set<std::int32_t> alive;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.state == engine::NodeState::kAlive && node.problem.empty()) {
      alive.insert(number);
      continue;
    }
    engine::Check check;
    check.node = number;
    check.name = "agent";
    check.verdict = engine::Check::Verdict::kFailed;
    check.value = fmt::format(
        "n{} is {}: silent for {} s", number, ToString(node.state),
        std::chrono::duration_cast<std::chrono::seconds>(timers_.now() - node.last_seen).count());
    check.remedy =
        fmt::format("on {}, check that tessera-agent runs, and read its log", node.peer.host());
    if (!node.problem.empty()) {  // "WHAT. REMEDY"
      const std::size_t end = std::min(node.problem.rfind(". "), node.problem.size());
      check.name = "journal";
      check.value = node.problem.substr(0, end);
      check.remedy = node.problem.substr(std::min(end + 2, node.problem.size()));
    }
    silent.push_back(std::move(check));
  }
  wire::NodeQuery query;
  query.mutable_doctor();
  node_queries_.Query(
      alive, std::move(query), kDoctorDeadline,
      [this, checks = std::move(silent)](const NodeQueryClient::Answers& answers) mutable {
        for (const auto& [node, answer] : answers) {
          if (node == config_.node) {
            checks.push_back(CheckHistory());
            checks.push_back(CheckTable());
          }
          auto found = answer ? Decode(answer->doctor())
                              : Result<std::vector<engine::Check>>(answer.error());
          if (found) {
            for (engine::Check& check : *found) {
              check.node = node;
              checks.push_back(std::move(check));
            }
            continue;
          }
          engine::Check check;
          check.node = node;
          check.name = "agent";
          check.verdict = engine::Check::Verdict::kFailed;
          check.value = found.error().ToString();
          check.remedy = fmt::format("look at `tesseractl logs n{}`", node);
          checks.push_back(std::move(check));
        }
        wire::Reply out;
        Encode(checks, out.mutable_doctor());
        for (const ReplyPtr& asked : std::exchange(doctors_, {})) asked->Done(wire::Reply(out));
      });
}

void Inquiries::OnLog(const wire::LogRequest& request, const ReplyPtr& reply) {
  if (!members_.Find(request.node())) {
    return reply->Fail(NotFound(fmt::format("node n{} does not exist: the cluster has {} nodes",
                                            request.node(), members_.nodes().size())));
  }
  if (request.lines() < 0 || request.lines() > kMostLines) {
    return reply->Fail(
        InvalidArgument(fmt::format("{} lines are not from 0 to {}", request.lines(), kMostLines)));
  }
  wire::NodeQuery query;
  *query.mutable_log() = request;
  node_queries_.Query({request.node()}, std::move(query), kLogDeadline,
                      [reply](const NodeQueryClient::Answers& answers) {
                        const auto& answer = answers.begin()->second;
                        if (!answer) return reply->Fail(answer.error());
                        wire::Reply out;
                        *out.mutable_log() = answer->log();
                        reply->Done(std::move(out));
                      });
}

void Inquiries::OnProgram(const std::string& name, const ReplyPtr& reply) const {
  const Job* job = jobs_.Find(name);
  if (!job) return reply->Fail(NotFound(fmt::format("job '{}' does not exist", name)));
  if (!job->settings.program) {
    return reply->Fail(FailedPrecondition(
        fmt::format("job '{}' runs the built-in model {}, which has no rules file", name,
                    job->settings.model.name)));
  }
  wire::Reply out;
  out.mutable_program()->set_tensors(job->settings.program->tensors.text);
  out.mutable_program()->set_rules(job->settings.program->rules.text);
  reply->Done(std::move(out));
}

// The built-in trainer and a simulated rank can run on each mesh that the plan permits.
void Inquiries::OnCheckMesh(Role role, const wire::CheckMeshRequest& request,
                            const ReplyPtr& reply) {
  const Result<Job*> found = jobs_.Need(request.job());
  if (!found) return reply->Fail(found.error());
  const Job& job = **found;
  if (const auto mesh = Decode(request.mesh()); !mesh) return reply->Fail(mesh.error());
  wire::Reply out;
  wire::CheckMeshReply& answer = *out.mutable_check_mesh();
  if (!job.settings.program || world_.simulation) return reply->Done(std::move(out));
  if (role != Role::kOperator) {
    answer.set_not_asked("only operators may ask it, and this key is a viewer's");
    return reply->Done(std::move(out));
  }
  if (const Status runs = CheckPausedOrRunning(job); !runs) {
    answer.set_not_asked(runs.error().message);
    return reply->Done(std::move(out));
  }
  wire::NodeQuery query;
  *query.mutable_check_mesh() = request;
  node_queries_.Query({job.layout.mesh().devices().front().node}, std::move(query), kCheckDeadline,
                      [reply](const NodeQueryClient::Answers& answers) {
                        const auto& got = answers.begin()->second;
                        wire::Reply said;
                        if (got) {
                          *said.mutable_check_mesh() = got->check_mesh();
                        } else {
                          said.mutable_check_mesh()->set_not_asked(got.error().message);
                        }
                        reply->Done(std::move(said));
                      });
}

}  // namespace tessera::agents
