// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `checkpoint save`, `list`, `load`, `delete`: checkpoints of jobs in folders that all nodes see.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "app/commands/checkpoint_options.h"
#include "app/commands/command.h"
#include "app/commands/confirm.h"
#include "app/commands/follow.h"
#include "app/commands/hugging_face.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/patience.h"
#include "app/commands/progress_line.h"
#include "app/commands/session.h"
#include "app/commands/units.h"
#include "app/commands/when.h"
#include "engine/data/is_url.h"
#include "engine/files/absolute_path.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

/// The time limit for acts on folders, which may be slow.
constexpr std::chrono::seconds kFolderTimeout{150};

/// A URL, or an absolute path: nodes have other working directories.
std::string placeOf(const std::string& given) {
  return agents::Utf8(engine::IsUrl(given) ? given : engine::AbsolutePath(given));
}

std::string savingOf(const engine::ClusterSnapshot& snapshot, const std::string& name) {
  const auto job = std::ranges::find(snapshot.jobs, name, &engine::JobStatus::name);
  if (job == snapshot.jobs.end() || !job->checkpoints.is_saving) return {};
  const engine::CheckpointStatus& saving = job->checkpoints;
  if (saving.total == 0) return "copying the state";
  return fmt::format("writing {} of {}", formatBytes(saving.done), formatBytes(saving.total));
}

Result<wire::SaveCheckpointRequest> readSave(const Arguments& arguments) {
  wire::SaveCheckpointRequest save;
  save.set_job(arguments.word(0));
  TESSERA_RETURN_IF_ERROR(checkName("job", save.job()));
  if (!arguments.word(1).empty()) save.set_folder(placeOf(arguments.word(1)));
  TESSERA_TRY(const auto keep, arguments.integer("keep", 0, 1, 1'000'000));
  save.set_keep(static_cast<std::int32_t>(keep));
  const auto every = arguments.value("every");
  if (!every && arguments.has("keep"))
    return InvalidArgument("--keep is for checkpoints by a schedule: give --every");
  if (const auto like = arguments.value("like")) {
    if (!arguments.has("for")) return InvalidArgument("--like goes with --for huggingface");
    TESSERA_RETURN_IF_ERROR(checkLike(*like));
  }
  if (every && arguments.has("for"))
    return InvalidArgument("--for writes one checkpoint in a second form: not with --every");
  if (every) {
    TESSERA_TRY(const auto period, engine::ParseSnapshotEvery(*every).Context("--every"));
    agents::Encode(period, save.mutable_every());
    if (!period.is_on()) return save;
  }
  if (save.folder().empty()) return InvalidArgument("`checkpoint save` needs DIR");
  return save;
}

int runSave(const Invocation& call) {
  TESSERA_OR_USAGE(const auto save, readSave(call.arguments));
  TESSERA_OR_FAILED(auto session, openSession(call));
  wire::Request request;
  *request.mutable_save_checkpoint() = save;
  ProgressLine progress(call.json || call.quiet);
  const LongRequest what{[name = save.job()](const engine::ClusterSnapshot& snapshot) {
                           return savingOf(snapshot, name);
                         },
                         fmt::format("the checkpoint of '{}' was not saved within", save.job())};
  auto reply =
      askPatiently(session, std::move(request), what,
                   [&](const std::string& doing) {
                     doing.empty() ? progress.clear() : progress.show(save.job() + ": " + doing);
                   },
                   {.poll = std::chrono::milliseconds(200)});
  progress.clear();
  if (!reply) return failed(reply.error());
  const wire::SaveCheckpointReply& saved = reply->save_checkpoint();
  if (!saved.has_checkpoint()) {
    if (call.json)
      printLine({{"job", save.job()}, {"text", saved.text()}});
    else if (!call.quiet)
      fmt::print("{}\n", saved.text());
    return kDone;
  }
  TESSERA_OR_FAILED(const auto checkpoint, agents::Decode(saved.checkpoint()));
  Json json = toJson(checkpoint);
  if (!call.json)
    fmt::print("{}\nstep {}, {}, digest {}\n", checkpoint.path, checkpoint.step,
               formatBytes(checkpoint.bytes), checkpoint.digest);
  if (call.arguments.has("for")) {
    const auto written = writeHuggingFace(call, checkpoint.path, call.arguments.valueOr("like", ""));
    if (!written) return failed(Error(written.error()));
    json["huggingface_path"] = written->path;
    if (!call.json)
      fmt::print("{}\n{}, {}\n", written->path, Counted(written->tensors, "tensor"),
                 formatBytes(written->bytes));
    if (!written->hasConfig)
      warn("it has no config.json, which from_pretrained needs: name a folder that has one with "
           "--like");
  }
  if (call.json) printLine(json);
  return kDone;
}

/// Those in a folder of this machine, without a cluster.
Result<std::vector<engine::CheckpointEntry>> checkpointsIn(const std::string& folder) {
  TESSERA_TRY(const auto found, checkpoint::FindSaved(engine::AbsolutePath(folder)));
  std::vector<engine::CheckpointEntry> out;
  for (const checkpoint::FoundCheckpoint& one : found) out.push_back(agents::EntryOf(one));
  return out;
}

Result<std::vector<engine::CheckpointEntry>> checkpointsOfCluster(const Invocation& call) {
  wire::Request request;
  request.mutable_list_checkpoints()->set_job(call.arguments.valueOr("job", ""));
  TESSERA_TRY(const auto reply, askOnce(call, std::move(request), kFolderTimeout));
  std::vector<engine::CheckpointEntry> out;
  for (const wire::CheckpointInfo& info : reply.list_checkpoints().checkpoints()) {
    TESSERA_TRY(out.emplace_back(), agents::Decode(info));
  }
  return out;
}

int runList(const Invocation& call) {
  const std::string folder = call.arguments.word(0);
  const std::string job = call.arguments.valueOr("job", "");
  TESSERA_OR_FAILED(auto rows, folder.empty() ? checkpointsOfCluster(call) : checkpointsIn(folder));
  if (!job.empty()) std::erase_if(rows, [&](const auto& row) { return row.job != job; });
  if (rows.empty() && !job.empty() && folder.empty()) {
    TESSERA_OR_FAILED(const auto past, Past::open(call));
    if (const Status known = past.checkJob(job); !known) return failed(known.error());
  }
  if (call.json) {
    Json all = Json::array();
    for (const auto& row : rows) all.push_back(toJson(row));
    printLine({{"checkpoints", std::move(all)}});
    return kDone;
  }
  if (rows.empty()) {
    fmt::print("no checkpoints{}; `tesseractl checkpoint save JOB DIR` saves one\n",
               folder.empty() ? "" : " in " + folder);
    return kDone;
  }
  std::vector<std::vector<std::string>> table = {
      {"job", "step", "saved", "size", "mesh", "digest", "path"}};
  for (const auto& row : rows)
    table.push_back({row.job.empty() ? "-" : row.job, std::to_string(row.step),
                     row.created > 0 ? formatClock(row.created) : "-", formatBytes(row.bytes),
                     row.mesh.empty() ? "-" : row.mesh, row.digest.empty() ? "-" : row.digest,
                     row.path});
  fmt::print("{}", formatTable(table, {1, 3}));
  for (const auto& row : rows)
    if (!row.problem.empty()) fmt::print("{}: {}\n", row.path, row.problem);
  return kDone;
}

int runLoad(const Invocation& call) {
  wire::Request request;
  wire::LoadCheckpointRequest& load = *request.mutable_load_checkpoint();
  load.set_job(call.arguments.word(0));
  if (const auto good = checkName("job", load.job()); !good) return wrongUsage(good.error());
  load.set_path(placeOf(call.arguments.word(1)));
  load.set_parameters_only(call.arguments.has("parameters-only"));
  if (const auto exit = askBefore(
          call,
          fmt::format("Replace the {} of '{}' by those in {}",
                      load.parameters_only() ? "parameters" : "parameters and optimizer state",
                      load.job(), load.path())))
    return *exit;
  TESSERA_OR_FAILED(auto session, openSession(call));
  countInterrupts();
  TESSERA_OR_FAILED(const auto reply, session.ask(std::move(request), kFolderTimeout));
  if (reply.load_checkpoint().transaction() != 0)
    return followTransaction(call, session, reply.load_checkpoint().transaction());
  if (call.json)
    printLine({{"job", call.arguments.word(0)}, {"text", reply.load_checkpoint().text()}});
  else
    fmt::print("{}\n", reply.load_checkpoint().text());
  return kDone;
}

int runDelete(const Invocation& call) {
  const std::string path = placeOf(call.arguments.word(0));
  if (const auto exit = askBefore(call, fmt::format("Delete checkpoint {}", path))) return *exit;
  wire::Request request;
  request.mutable_delete_checkpoint()->set_path(path);
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request), kFolderTimeout));
  const std::int64_t bytes = reply.delete_checkpoint().bytes();
  if (call.json)
    printLine({{"path", path}, {"removed_bytes", bytes}});
  else if (!call.quiet)
    fmt::print("removed {}, {}\n", path, formatBytes(bytes));
  return kDone;
}

}  // namespace

Command checkpointSaveCommand() {
  return {
      {.verb = "checkpoint save",
       .summary = "Save a job's state in a folder while it trains, once or by a schedule",
       .words = {{"JOB", "name of the job"},
                 {"DIR", "folder that all nodes see under this path", false}},
       .options = {{.name = "every",
                    .value = "N|TIME",
                    .help = "save one every N steps, or 30s, 5m, 1h, from now on; off ends that",
                    .fallback = "once, now"},
                   {.name = "keep",
                    .value = "K",
                    .help = "with --every: keep the newest K that were saved by the schedule",
                    .fallback = "all"},
                   {.name = "for",
                    .value = "",
                    .help = "also write DIR/JOB-step-N-huggingface, which from_pretrained of "
                            "transformers opens: the parameters without the optimizer's state",
                    .choices = {"huggingface"}},
                   {.name = "like",
                    .value = "FOLDER",
                    .help = "with --for: copy config.json, the tokenizer's files and all else "
                            "that is not weights from this folder"},
                   quietOption()},
       .notes = {"The checkpoint is the folder DIR/JOB-step-N: the state after step N as a "
                 "sharded checkpoint in safetensors files, which torch.distributed.checkpoint "
                 "reads, and tessera.json with sizes and digests, written last. Each node "
                 "writes its share. The state is copied in memory first, so the job trains on, "
                 "and every node needs free memory for its share.",
                 "Checkpoints by the schedule are only saved while the job trains. Those that "
                 "you save yourself are never removed by it."},
       .examples = {"tesseractl checkpoint save gpt-mini /srv/checkpoints",
                    "tesseractl checkpoint save gpt-mini /srv/checkpoints --every 10m --keep 3",
                    "tesseractl checkpoint save gpt-mini --every off"}},
      runSave};
}

Command checkpointListCommand() {
  return {
      {.verb = "checkpoint list",
       .summary = "List the checkpoints that a cluster has saved, or those in a folder",
       .words = {{"DIR", "folder on this machine; no cluster is needed then", false}},
       .options = {{.name = "job",
                    .value = "JOB",
                    .help = "only checkpoints of this job",
                    .fallback = "of all"}},
       .notes = {"Files and their sizes are compared with what tessera.json says. Digests are "
                 "compared when a checkpoint is loaded, and by `tesseractl inspect --digests`."},
       .examples = {"tesseractl checkpoint list", "tesseractl checkpoint list /srv/checkpoints"}},
      runList};
}

Command checkpointLoadCommand() {
  return {
      {.verb = "checkpoint load",
       .summary = "Replace a job's state by a checkpoint, on whatever mesh the job has",
       .words = {{"JOB", "name of the job"}, {"PATH", "folder of the checkpoint, or its URL"}},
       .options = {{.name = "parameters-only",
                    .value = "",
                    .help = "take over the parameters; moments, step and position in the data "
                            "begin as in a new job"},
                   yesOption(),
                   quietOption()},
       .notes = {"The job pauses while each GPU reads what it needs. Digests of all tensors "
                 "are compared before the decision: a damaged checkpoint is rolled back, and "
                 "the error names the tensor.",
                 "A job that has lost GPUs and cannot continue otherwise loads it on those that "
                 "are left. `tesseractl job start --from-checkpoint` begins a new job."},
       .examples = {"tesseractl checkpoint load gpt-mini /srv/checkpoints/gpt-mini-step-1200"},
       .json = JsonForm::kLines},
      runLoad};
}

Command checkpointDeleteCommand() {
  return {{.verb = "checkpoint delete",
           .summary = "Delete a checkpoint, complete or not",
           .words = {{"PATH", "folder of the checkpoint"}},
           .options = {yesOption(), quietOption()},
           .notes = {"Only files of the checkpoint are removed, tessera.json first."},
           .examples = {"tesseractl checkpoint delete /srv/checkpoints/gpt-mini-step-1200"}},
          runDelete};
}

}  // namespace tessera::app
