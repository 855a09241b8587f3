// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `digest`: the layout-independent digest of a job's state.

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

int runDigest(const Invocation& call) {
  const std::string job = call.arguments.word(0);
  if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  wire::Request request;
  request.mutable_digest()->set_job(job);
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request), kJobTimeout));
  const wire::DigestReply& digest = reply.digest();
  if (call.json) {
    printLine(toJson(digest));
    return kDone;
  }
  fmt::print("{}  {} at step {} (epoch {}, timeline {}), {} tensors\n", digest.digest(),
             digest.job(), digest.step(), digest.epoch(), digest.timeline(),
             digest.tensors().size());
  if (call.arguments.has("tensors")) {
    const std::map<std::string, std::string> sorted(digest.tensors().begin(),
                                                    digest.tensors().end());
    for (const auto& [name, value] : sorted) fmt::print("{}  {}\n", value, name);
  }
  return kDone;
}

}  // namespace

Command digestCommand() {
  return {{.verb = "digest",
           .summary = "Print the digest of a job's state, which is the same on every mesh",
           .words = {{"JOB", "name of the job"}},
           .options = {{.name = "tensors",
                        .value = "",
                        .help = "print the digest of each tensor as well"}},
           .notes = {"A running job pauses for it after its current step and then continues; a "
                     "paused job stays paused.",
                     "The epoch counts committed layouts; the timeline counts how often the job has "
                     "returned to an earlier step, so 0 means never."},
           .examples = {"tesseractl digest gpt-mini", "tesseractl digest gpt-mini --tensors"}},
          runDigest};
}

}  // namespace tessera::app
