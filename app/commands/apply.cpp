// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `apply`: plans a change, asks, starts the transaction and follows it to its outcome. Ctrl-C
/// requests a rollback and waits for it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/follow.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// The job is already as the user wants it, for example because an earlier `apply` lost its reply.
int unchanged(const Invocation& call, const std::string& job, const Error& why) {
  if (call.json)
    printLine({{"result", "unchanged"}, {"job", job}, {"reason", why.ToString()}});
  else
    fmt::print("unchanged: {}\n", why.ToString());
  return kDone;
}

int runApply(const Invocation& call) {
  TESSERA_OR_USAGE(auto planRequest, readPlanRequest(call.arguments));
  TESSERA_OR_USAGE(const auto atStep,
                   call.arguments.integer("at-step", 0, 1, std::int64_t{1} << 40));
  const std::string job = call.arguments.word(0);
  const bool inRounds = planRequest.move_memory() != 0;
  if (!inRounds && call.arguments.has("confirm"))
    return wrongUsage(InvalidArgument("--confirm is for --move-memory only"));
  if (const auto refused = inRounds ? refuseIfUnnamed(call, job)
                                    : refuseIfUnasked(call, fmt::format("Move job '{}'", job)))
    return *refused;

  TESSERA_OR_FAILED(auto session, openSession(call));
  const auto planned = askPlan(session, call.arguments, &planRequest);
  if (!planned && planned.error().code == ErrorCode::kAlreadyExists)
    return unchanged(call, job, planned.error());
  TESSERA_OR_FAILED(const auto plan, planned);
  if (!call.json) fmt::print("{}", describePlan(plan));
  // The preparation asks the program as well: an answer in advance is for the user who decides.
  if (!call.arguments.has(inRounds ? "confirm" : "yes")) {
    TESSERA_OR_FAILED(const std::string notAsked, askProgram(session, plan));
    fmt::print("{}", describeNotAsked(notAsked));
  }
  const std::string question =
      fmt::format("Move {} of job '{}', with a pause of about {}", formatBytes(plan.moved()),
                  plan.job, formatSeconds(plan.pause_estimate));
  if (const auto refused =
          inRounds ? askForName(call, question, plan.job) : askBefore(call, question))
    return *refused;

  countInterrupts();
  wire::Request request;
  wire::ApplyRequest& apply = *request.mutable_apply();
  *apply.mutable_plan() = planRequest;
  apply.set_plan_hash(plan.hash);
  // Request exactly the plan that was shown, including what the cluster chose.
  agents::Encode(plan.to_mesh, apply.mutable_plan()->mutable_mesh());
  agents::Encode(plan.to_options, apply.mutable_plan()->mutable_options());
  if (!planRequest.pin()) {
    apply.mutable_plan()->clear_devices();
    for (const ptc::DeviceId device : plan.to_devices)
      agents::Encode(device, apply.mutable_plan()->add_devices());
  }
  apply.set_at_step(atStep);
  apply.set_unrecorded(call.arguments.has("unrecorded"));
  apply.set_verify_full(call.arguments.valueOr("verify", "moved") == "full");
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request)));
  return followTransaction(call, session, reply.apply().transaction());
}

}  // namespace

Command applyCommand() {
  return {{.verb = "apply",
           .summary = "Move a job to other GPUs or another mesh while it runs",
           .words = {{"JOB", "name of the job"}},
           .options = planOptions({{.name = "at-step",
                                    .value = "K",
                                    .help = "pause the job for the move after step K",
                                    .fallback = "as soon as everything is prepared"},
                                   {.name = "unrecorded",
                                    .value = "",
                                    .help = "move the job even if the history cannot be "
                                            "written: its record waits in memory"},
                                   {.name = "verify",
                                    .value = "",
                                    .help = "moved compares what moves with its source, and "
                                            "replicas that the change drops with each other; it "
                                            "takes the digest of the whole state while the job "
                                            "continues. full reads all state in the pause, "
                                            "before and after",
                                    .fallback = "moved",
                                    .choices = {"moved", "full"}},
                                   {.name = "confirm",
                                    .value = "JOB",
                                    .help = "with --move-memory: the name of the job, in place of "
                                            "the question"},
                                   yesOption("do not ask after the plan was shown"),
                                   quietOption()}),
           .notes = {"Shows the plan, asks the program of the job whether it can run there, and "
                     "asks you. Without a terminal --yes is needed; the program is then asked "
                     "while the change is prepared.",
                     "With --move-memory it asks for the name of the job, because there is no "
                     "rollback from the first round on. Without a terminal --confirm JOB is "
                     "needed.",
                     "Ctrl-C rolls the change back and waits for the outcome.",
                     "If the job already has the mesh, GPUs and options, nothing is moved: "
                     "`apply` says \"unchanged\" and exits with 0.",
                     "With --json each line is a document: {\"phase\", \"done_bytes\", "
                     "\"total_bytes\"} while the change runs, with {\"waits_for\"} while new ranks "
                     "open their data, and at the end {\"result\", ...}. If nothing was to move, "
                     "the result is \"unchanged\"."},
           .examples = {"tesseractl apply gpt-mini --devices 2x4 --mesh dp=2,tp=2,pp=2",
                        "tesseractl apply gpt-mini --mesh tp=4",
                        "tesseractl apply gpt-mini --zero on --at-step 200",
                        "tesseractl apply gpt-mini --mesh tp=4 --move-memory 64M --confirm "
                        "gpt-mini"},
           .json = JsonForm::kLines},
          runApply};
}

}  // namespace tessera::app
