// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/proposal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/units.h"
#include "engine/model/gpt.h"
#include "engine/model/large_models.h"

namespace tessera::app {
namespace {

/// Planning a dozen changes of a large model is slow.
constexpr std::chrono::seconds kProposalTimeout{60};

Result<engine::Proposal> askCandidates(Session& session, const std::string& job,
                                       const std::vector<ptc::DeviceId>& devices,
                                       std::int64_t limit) {
  wire::Request request;
  request.mutable_propose()->set_job(job);
  request.mutable_propose()->set_limit(limit);
  for (const ptc::DeviceId device : devices)
    agents::Encode(device, request.mutable_propose()->add_devices());
  TESSERA_TRY(const auto reply, session.ask(std::move(request), kProposalTimeout));
  return agents::Decode(reply.propose());
}

}  // namespace

Result<engine::Proposal> askProposal(Session& session, const std::string& job,
                                     const std::vector<ptc::DeviceId>& devices,
                                     std::int64_t limit) {
  TESSERA_TRY(auto proposal, askCandidates(session, job, devices, limit));
  if (proposal.calibrated || session.profile.calibration.empty()) return proposal;
  wire::Request install;
  install.mutable_probe()->set_calibration(session.profile.calibration);
  TESSERA_TRY(const auto installed, session.ask(std::move(install)));
  static_cast<void>(installed);
  return askCandidates(session, job, devices, limit);
}

Result<engine::JobStatus> findJob(const engine::ClusterSnapshot& snapshot, const std::string& job) {
  std::string names;
  for (const engine::JobStatus& status : snapshot.jobs) {
    if (status.name == job) return status;
    names += (names.empty() ? "" : ", ") + status.name;
  }
  return NotFound(names.empty() ? fmt::format("no job '{}': no job is running", job)
                                : fmt::format("no job '{}'; there are {}", job, names));
}

std::optional<double> tokensOfStep(const engine::JobStatus& job) {
  const auto model = engine::FindAnyModel(job.model);
  if (!model || !job.command.empty()) return std::nullopt;
  return static_cast<double>(job.global_batch * model->sequence);
}

std::string configurationOf(const engine::Candidate& candidate) {
  return ptc::ToString(candidate.mesh);
}

std::string optionsOf(const engine::Candidate& candidate) {
  const std::string text = engine::ToString(candidate.options);
  return text.empty() ? "-" : text;
}

std::string formatStep(double seconds) { return seconds > 0 ? formatSeconds(seconds) : "-"; }

std::string describeSurvival(const engine::Survival& survival) {
  return "survives the loss of any one node: " +
         (survival.of_any_node()
              ? "yes"
              : fmt::format("no (n{} would lose {})", survival.node, formatBytes(survival.bytes)));
}

namespace {

/// What a configuration is best in: "fastest, moves least".
std::string advantagesOf(const engine::Candidate& candidate) {
  std::string text;
  for (const auto& [is, name] :
       {std::pair(candidate.fastest, "fastest"), std::pair(candidate.moves_least, "moves least"),
        std::pair(candidate.fits() && candidate.idle.empty(), "uses all")})
    if (is) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string survivesText(const engine::Candidate& candidate) {
  if (!candidate.survival) return "-";
  return candidate.survival->of_any_node() ? "yes" : "no";
}

}  // namespace

std::string describeProposal(const engine::Proposal& proposal, std::optional<double> tokens) {
  std::vector<std::vector<std::string>> rows = {{"", "mesh", "options", "step", "tokens/s", "moves",
                                                 "pause", "peak", "of", "idle", "node loss", ""}};
  for (const engine::Candidate& c : proposal.candidates) {
    const std::string rate =
        tokens && c.step_seconds > 0 ? fmt::format("{:.0f}", *tokens / c.step_seconds) : "-";
    rows.push_back({c.recommended ? "*"
                    : c.current   ? "="
                                  : "",
                    configurationOf(c), optionsOf(c), formatStep(c.step_seconds), rate,
                    c.fits() ? formatBytes(c.moved_bytes) : "does not fit",
                    c.fits() ? formatStep(c.pause_seconds) : "-", formatBytes(c.peak_bytes),
                    formatBytes(c.capacity), c.idle.empty() ? "-" : std::to_string(c.idle.size()),
                    survivesText(c), advantagesOf(c)});
  }
  std::string text = formatTable(rows, {3, 4, 5, 6, 7, 8, 9});
  text += "* recommended  = running now  node loss: whether it survives the loss of any one node\n";
  if (!proposal.why.empty()) text += proposal.why + "\n";
  for (const engine::Candidate& c : proposal.candidates)
    if (c.recommended && c.survival) text += describeSurvival(*c.survival) + "\n";
  text += proposal.calibrated
              ? fmt::format("estimates from constants measured on this cluster at {}\n",
                            formatClock(*proposal.calibrated))
              : "estimates from built-in constants; `tesseractl probe` measures this cluster\n";
  return text;
}

}  // namespace tessera::app
