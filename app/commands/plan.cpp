// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `plan`: a dry run on a running job.

#include <fmt/format.h>

#include "agents/wire/convert.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/session.h"

namespace tessera::app {
namespace {

int run(const Invocation& call) {
  auto request = readPlanRequest(call.arguments);
  if (!request) return wrongUsage(request.error());
  wire::Request message;
  *message.mutable_plan() = *request;
  const auto reply = askOnce(call, std::move(message), ReplyKind::kPlan);
  if (!reply) return failed(reply.error());
  const auto plan = agents::Decode(reply->plan());
  if (!plan) return failed(plan.error());
  if (call.json)
    printLine(toJson(*plan));
  else
    fmt::print("{}", describePlan(*plan));
  return kDone;
}

}  // namespace

Command planCommand() {
  return {{"plan",
           "says what moving a job to other devices would cost; changes nothing",
           {{"JOB", "job"}},
           {devicesOption("(required)"),
            meshOption("(default: same tp, the largest dp that divides the batch)"), pinOption()},
           {}},
          run};
}

}  // namespace tessera::app
