// SPDX-License-Identifier: Apache-2.0
// Starts jobs. All checks that need no rank come before any rank is started.
#include <fmt/format.h>

#include <algorithm>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "engine/model/job_layout.h"
#include "engine/search/fit.h"

namespace tessera::agents {
namespace {

Status CheckName(const std::string& name) {
  constexpr std::size_t kMaxLength = 63;
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  const bool ok =
      !name.empty() && name.size() <= kMaxLength && is_letter_or_digit(name[0]) &&
      std::ranges::all_of(name, [&](char c) { return c == '-' || is_letter_or_digit(c); });
  if (ok) return OkStatus();
  return InvalidArgument(
      fmt::format("job name '{}' is not of the form [a-z0-9][a-z0-9-]{{0,62}}", name));
}

/// The settings of the request. Data and devices are not checked here.
Result<engine::JobSettings> SettingsOf(const wire::StartJobRequest& request) {
  engine::JobSettings settings;
  if (request.command().empty()) {
    TESSERA_TRY(settings.model, engine::FindModel(request.model()));
  } else {
    if (!request.model().empty()) {
      return InvalidArgument(
          fmt::format("model '{}' and a program are given: choose one", request.model()));
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
    return InvalidArgument("steps and global batch must be at least 0");
  }
  if (request.global_batch() > 0) settings.global_batch = request.global_batch();
  if (request.max_steps() > 0) settings.max_steps = request.max_steps();
  settings.data.assign(request.data().begin(), request.data().end());
  return settings;
}

std::string NameOf(const wire::StartJobRequest& request) {
  return request.name().empty() ? request.model() : request.name();
}

std::string Describe(const engine::JobSettings& settings) {
  return settings.program ? fmt::format("`{}`", settings.program->command)
                          : "model " + settings.model.name;
}

/// ", stages 2,3" if the assignment of layers to stages is not the default.
std::string StagesText(const ptc::Layout& layout) {
  if (layout.stage_rule() == ptc::StageRule{}) return {};
  return fmt::format(", stages {}", ptc::ToString(layout.stage_rule()));
}

}  // namespace

// Checks the request, opens the data on this node, and then starts the job. The cluster may change
// while the data are opened, so StartJob checks the request again.
void Registrar::OnStartJob(const wire::StartJobRequest& request, const ReplyPtr& reply) {
  const auto start = [this, request, reply](const engine::DataStatus& data) {
    if (const Status status = StartJob(request, data, reply); !status) reply->Fail(status.error());
  };
  const auto settings = CheckStart(request);
  if (!settings) return reply->Fail(settings.error());
  if (settings->program) return start({});  // a program of the user opens its data itself
  const auto opened = [reply, start, data = settings->data](const auto& status) {
    if (status) return start(*status);
    if (data.empty() || status.error().code == ErrorCode::kNotFound) {
      return reply->Fail(status.error());
    }
    const std::string names = fmt::format("data '{}'", fmt::join(data, "', '"));
    reply->Fail(Error{status.error().code, names + ": " + status.error().message, {}});
  };
  OpenForStart(NameOf(request), *settings, reply, opened);
}

void Registrar::DescribeJournaledData(const Job& job) {
  if (job.settings.program) return;
  world_.data->Open(job.settings, {}, [this, name = job.name](const auto& status) {
    Job* found = FindJob(name);
    if (!found || !status) return;  // the ranks report what is wrong with the data
    found->data = *status;
    MarkDirty();
  });
}

Result<Registrar::StartChoice> Registrar::ChooseStart(const wire::StartJobRequest& request,
                                                      const std::string& name,
                                                      const engine::JobSettings& settings) const {
  TESSERA_TRY(std::vector<ptc::DeviceId> devices, UsableDevices(request.devices(), ""));
  const bool given = !devices.empty();
  if (!given) {
    for (const auto& [number, node] : members_.nodes()) {
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

Result<engine::JobSettings> Registrar::CheckStart(const wire::StartJobRequest& request) const {
  TESSERA_RETURN_IF_ERROR(CheckIdle());
  const std::string name = NameOf(request);
  TESSERA_RETURN_IF_ERROR(CheckName(name));
  if (const auto job = jobs_.find(name); job != jobs_.end()) {
    return AlreadyExists(fmt::format("job '{}' exists and is {}: choose another --name, or stop it",
                                     name, ToString(job->second.state)));
  }
  TESSERA_RETURN_IF_ERROR(CheckNotOpening(name));
  TESSERA_TRY(engine::JobSettings settings, SettingsOf(request));
  // Finds mistakes in the tensors and rules of a user's program, with file and line, for any mesh.
  TESSERA_RETURN_IF_ERROR(engine::MakeCollection(settings, false));
  return settings;
}

// The decisions of earlier jobs with this name stay in the register, because nodes that were away
// may still read them. The new job starts after them: a written slot would decide a transaction of
// the new job with the outcome of an old one.
Result<std::int64_t> Registrar::FirstFreeSlot(const std::string& job, std::int64_t first) {
  for (std::int64_t slot = first;; ++slot) {
    TESSERA_TRY(const auto held, register_.Read(job, slot));
    if (!held) return slot;
  }
}

Status Registrar::StartJob(const wire::StartJobRequest& request, const engine::DataStatus& data,
                           const ReplyPtr& reply) {
  TESSERA_TRY(engine::JobSettings settings, CheckStart(request));
  const std::string name = NameOf(request);
  TESSERA_TRY(StartChoice start, ChooseStart(request, name, settings));
  TESSERA_TRY(const ptc::RuledTensors tensors, engine::TensorsOf(settings, start.options.zero));
  TESSERA_TRY(ptc::Layout layout, engine::MakeLayout(tensors, std::move(start.mesh)));
  const ptc::DeviceMesh& mesh = layout.mesh();
  TESSERA_RETURN_IF_ERROR(engine::CheckFits(
      settings, mesh, start.options, SearchInputOf(name, settings, mesh.devices()).capacities));

  TESSERA_RETURN_IF_ERROR(engine::NoteDeviceBatch(settings, mesh.shape()));
  const std::string wrong(engine::WrongOnPurpose(settings.at_change));
  Job job(name, std::move(settings), std::move(layout));
  job.options = start.options;
  job.data = data;
  job.starting = reply;
  job.start_note = start.why;
  TESSERA_TRY(job.on_failure, DecodeOnFailure(request.on_failure()));
  TESSERA_TRY(job.snapshots, Decode(request.snapshots()));
  job.start_watch.emplace(job.layout.mesh().devices(), timers_.now());
  job.not_ready = NodesOf(job.layout.mesh());
  job.last_step = timers_.now();
  TESSERA_TRY(job.slot, FirstFreeSlot(name, 1));
  // Greater than in any earlier start, even of an earlier registrar.
  job.start = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  ended_.erase(name);
  TESSERA_RETURN_IF_ERROR(JournalJob(job));
  static_cast<void>(journal_.Erase("recorded/" + name));  // of an earlier job with this name
  const auto [it, fresh] = jobs_.emplace(name, std::move(job));
  const std::string options = ToString(it->second.options);
  AddEvent(engine::Severity::kInfo, name,
           fmt::format("starts: {}, {}{}{}{}", Describe(it->second.settings),
                       ToString(it->second.layout.mesh()), StagesText(it->second.layout),
                       options.empty() ? "" : ", " + options, reply->RequesterText()));
  if (!start.why.empty()) AddEvent(engine::Severity::kInfo, name, start.why);
  if (!wrong.empty()) {
    AddEvent(engine::Severity::kWarning, name, fmt::format("wrong on purpose: it {}", wrong));
  }
  // A node that is disconnected now receives it when it registers.
  SendStart(it->second, StartMessage(it->second));
  MarkDirty();
  return OkStatus();
}

void Registrar::SendStart(Job& job, wire::ToNode message) {
  job.start_message = std::make_shared<const wire::ToNode>(std::move(message));
  job.start_repeats = Repetition(timers_.now());
  for (const std::int32_t node : job.not_ready) {
    static_cast<void>(SendTo(node, *job.start_message));
  }
}

wire::ToNode Registrar::StartMessage(const Job& job) const {
  wire::ToNode message;
  auto* out = message.mutable_start_job();
  out->set_job(job.name);
  out->set_start(job.start);
  out->set_settings(engine::ToJson(job.settings));
  out->set_layout(ptc::ToJson(job.layout));
  out->set_epoch(job.epoch);
  out->set_attempt(job.attempt);
  out->set_timeline(job.timeline);
  out->set_micro_batch(job.options.micro_batch);
  *out->mutable_peers() = members_.peers();
  return message;
}

}  // namespace tessera::agents
