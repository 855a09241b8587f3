// SPDX-License-Identifier: Apache-2.0
// From a request to start a job to its ranks: everything that can be known is checked first.
#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "agents/node/pending_reply.h"
#include "agents/node/registrar.h"
#include "engine/data/text_dataset.h"
#include "engine/model/job_layout.h"
#include "engine/search/fit.h"

namespace tessera::agents {
namespace {

constexpr auto kStartDeadline = std::chrono::seconds(120);

Status CheckName(const std::string& name) {
  static const std::regex form("[a-z0-9][a-z0-9-]{0,62}");
  if (std::regex_match(name, form)) return OkStatus();
  return InvalidArgument(
      fmt::format("job name '{}' is not of the form [a-z0-9][a-z0-9-]{{0,62}}", name));
}

/// What the job is to compute, without a look at data and devices.
Result<engine::JobSettings> SettingsOf(const wire::StartJobRequest& request) {
  engine::JobSettings settings;
  if (request.command().empty()) {
    TESSERA_TRY(settings.model, engine::FindModel(request.model()));
  } else {
    if (!request.model().empty()) {
      return InvalidArgument(
          fmt::format("model '{}' and an own program are given: choose one", request.model()));
    }
    settings.program = engine::OwnProgram{request.command(),
                                          {request.tensors().name(), request.tensors().text()},
                                          {request.rules().name(), request.rules().text()}};
  }
  settings.seed = request.seed();
  for (const auto& [key, value] : request.settings()) {
    TESSERA_RETURN_IF_ERROR(engine::ApplySetting(settings, key, value));
  }
  if (request.global_batch() < 0 || request.max_steps() < 0) {
    return InvalidArgument("steps and global batch must not be below 0");
  }
  if (request.global_batch() > 0) settings.global_batch = request.global_batch();
  if (request.max_steps() > 0) settings.max_steps = request.max_steps();
  settings.data.assign(request.data().begin(), request.data().end());
  return settings;
}

/// Whether this node finds text enough for a sample; others should see the same files.
Status CheckData(const engine::JobSettings& settings) {
  if (settings.program) return OkStatus();  // what it reads is its own affair
  if (settings.data.empty()) {
    if (!engine::DefaultTextPaths().empty()) return OkStatus();
    return NotFound("no text to train on is found on this machine: give --data");
  }
  const auto data = engine::TextDataset::Open(settings.data, settings.model.sequence);
  if (data) return OkStatus();
  if (data.error().code == ErrorCode::kNotFound) return data.error();
  return Error{data.error().code,
               fmt::format("data '{}': {}", fmt::join(settings.data, "', '"), data.error().message),
               {}};
}

std::string Describe(const engine::JobSettings& settings) {
  return settings.program ? fmt::format("`{}`", settings.program->command)
                          : "model " + settings.model.name;
}

/// What is not usual of how layers are dealt to stages.
std::string StagesText(const ptc::Layout& layout) {
  if (layout.stage_rule() == ptc::StageRule{}) return {};
  return fmt::format(", stages {}", ptc::ToString(layout.stage_rule()));
}

}  // namespace

void Registrar::OnStartJob(const wire::StartJobRequest& request, const ReplyPtr& reply) {
  if (const Status status = StartJob(request, reply); !status) reply->Fail(status.error());
}

Result<Registrar::StartChoice> Registrar::ChooseStart(const wire::StartJobRequest& request,
                                                      const std::string& name,
                                                      const engine::JobSettings& settings) const {
  TESSERA_TRY(std::vector<ptc::DeviceId> devices, UsableDevices(request.devices(), ""));
  const bool given = !devices.empty();
  if (!given) {
    for (const auto& [number, node] : nodes_) {
      for (const wire::NodeDevice& device : node.devices) {
        const ptc::DeviceId id{number, device.index()};
        if (CheckDevice(id, "")) devices.push_back(id);
      }
    }
  }
  std::optional<engine::StepOptions> options;
  if (request.has_options()) {
    TESSERA_TRY(options, Decode(request.options()));
  }
  if (!request.has_mesh()) {
    if (devices.empty()) return ResourceExhausted("no device is idle");
    TESSERA_TRY(engine::Choice choice,
                engine::ChooseMesh(SearchInputOf(name, settings, devices), options));
    TESSERA_TRY(ptc::DeviceMesh mesh, ptc::DeviceMesh::Make(choice.mesh, std::move(choice.used)));
    return StartChoice{std::move(mesh), choice.options, std::move(choice.why)};
  }
  TESSERA_TRY(const ptc::MeshShape shape, Decode(request.mesh()));
  TESSERA_RETURN_IF_ERROR(
      engine::CheckMesh(settings, shape, options.value_or(engine::StepOptions{})));
  if (!given) {
    if (std::ssize(devices) < shape.num_ranks()) {
      return ResourceExhausted(fmt::format("mesh {} has {} ranks, {} devices are idle",
                                           ToString(shape), shape.num_ranks(), devices.size()));
    }
    devices.resize(static_cast<std::size_t>(shape.num_ranks()));
  }
  TESSERA_TRY(ptc::DeviceMesh mesh, ptc::DeviceMesh::Make(shape, std::move(devices)));
  return StartChoice{std::move(mesh), options.value_or(engine::StepOptions{}), {}};
}

Status Registrar::StartJob(const wire::StartJobRequest& request, const ReplyPtr& reply) {
  TESSERA_RETURN_IF_ERROR(CheckIdle());
  const std::string name = request.name().empty() ? request.model() : request.name();
  TESSERA_RETURN_IF_ERROR(CheckName(name));
  if (jobs_.contains(name)) {
    return AlreadyExists(fmt::format("job '{}' exists and is {}: choose another --name, or stop it",
                                     name, ToString(jobs_.at(name).state)));
  }
  TESSERA_TRY(engine::JobSettings settings, SettingsOf(request));
  // Names file and line of an own program's mistakes, whatever its mesh will be.
  TESSERA_RETURN_IF_ERROR(engine::MakeCollection(settings, false));
  TESSERA_RETURN_IF_ERROR(CheckData(settings));
  TESSERA_TRY(StartChoice start, ChooseStart(request, name, settings));
  TESSERA_TRY(const ptc::RuledTensors tensors, engine::TensorsOf(settings, start.options.zero));
  TESSERA_TRY(ptc::Layout layout, engine::MakeLayout(tensors, std::move(start.mesh)));
  const ptc::DeviceMesh& mesh = layout.mesh();
  TESSERA_RETURN_IF_ERROR(engine::CheckFits(
      settings, mesh, start.options, SearchInputOf(name, settings, mesh.devices()).capacities));

  Job job(name, std::move(settings), std::move(layout));
  job.options = start.options;
  job.starting = reply;
  job.start_note = start.why;
  job.not_ready = NodesOf(job.layout);
  job.last_step = Clock::now();
  wire::ToNode message;
  auto* out = message.mutable_start_job();
  out->set_job(name);
  out->set_settings(engine::ToJson(job.settings));
  out->set_layout(ptc::ToJson(job.layout));
  out->set_epoch(job.epoch);
  out->set_attempt(0);
  out->set_timeline(job.timeline);
  out->set_micro_batch(job.options.micro_batch);
  *out->mutable_peers() = AllPeers();
  JournalJob(job);
  static_cast<void>(journal_->Erase("recorded/" + name));  // of a job that had the name before
  const auto [it, fresh] = jobs_.emplace(name, std::move(job));
  const std::string options = ToString(it->second.options);
  AddEvent(engine::Severity::kInfo, name,
           fmt::format("starts: {}, {}{}{}{}", Describe(it->second.settings),
                       ToString(it->second.layout.mesh()), StagesText(it->second.layout),
                       options.empty() ? "" : ", " + options, reply->ByWhom()));
  if (!start.why.empty()) AddEvent(engine::Severity::kInfo, name, start.why);
  for (const std::int32_t node : it->second.not_ready) {
    if (const Status sent = SendTo(node, message); !sent) {
      FailJob(it->second, sent.error().ToString());
      return OkStatus();
    }
  }
  loop_.After(kStartDeadline, [this, name] {
    Job* late = FindJob(name);
    if (late && late->starting) {
      FailJob(*late, fmt::format("its ranks were not ready after {} s", kStartDeadline.count()));
    }
  });
  MarkDirty();
  return OkStatus();
}

}  // namespace tessera::agents
