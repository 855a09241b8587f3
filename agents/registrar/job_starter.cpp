// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/node/job_limits.h"
#include "agents/registrar/checkpoint_desk.h"
#include "agents/registrar/compute.h"
#include "engine/data/is_url.h"
#include "engine/model/job_layout.h"
#include "engine/model/large_models.h"
#include "engine/search/fit.h"
#include "engine/search/place_job.h"
#include "ptc/base/counted.h"
#include "ptc/rules/rules_files.h"

namespace tessera::agents {
namespace {

constexpr std::size_t kLongestTitle = 200;  // of a tensors file
/// How long nodes take to notice that the agent of the registrar is another one, and to register.
constexpr std::chrono::seconds kArrival{5};
/// Afterwards a repeated request is answered with whatever is there.
constexpr std::chrono::seconds kLongestWait{30};

Status CheckName(const std::string& name) {
  if (IsJobName(name)) return OkStatus();
  return InvalidArgument(
      fmt::format("job name '{}' is not of the form [a-z0-9][a-z0-9-]{{0,62}}", name));
}

/// The settings of the request. Data and devices are not checked here.
Result<engine::JobSettings> SettingsOf(const wire::StartJobRequest& request, bool is_simulated) {
  engine::JobSettings settings;
  const bool has_base = !request.base_settings().empty();
  if (has_base) {
    TESSERA_TRY(settings,
                engine::ParseJobSettings(request.base_settings())
                    .Context("checkpoint '" + ShownPlace(request.from_checkpoint().path()) + "'"));
    if (settings.program) {
      return InvalidArgument(fmt::format("checkpoint '{}' brings a program, which is not run",
                                         ShownPlace(request.from_checkpoint().path())));
    }
    settings.max_steps = 0;
    settings.device_batch = 0;
  }
  if (has_base && request.model().empty() && request.command().empty()) {
    // The model of the checkpoint.
  } else if (request.command().empty()) {
    const bool is_large = engine::IsLargeModel(request.model());
    if (is_large && !is_simulated) {
      return FailedPrecondition(
          fmt::format("model '{}' runs on simulated clusters only", request.model()));
    }
    TESSERA_TRY(settings.model, engine::FindAnyModel(request.model()));
    if (is_large) settings.global_batch = engine::kLargeBatch;
  } else {
    if (!request.model().empty()) {
      return InvalidArgument(
          fmt::format("model '{}' and a program are given: choose one", request.model()));
    }
    settings.program = engine::OwnProgram{request.command(),
                                          {request.tensors().name(), request.tensors().text()},
                                          {request.rules().name(), request.rules().text()},
                                          {},
                                          request.finishes_updates() ||
                                              request.pauses_before_updates(),
                                          request.pauses_before_updates()};
    // What is wrong with the file is said when the rules are applied.
    if (const auto file = ptc::ReadTensors(settings.program->tensors)) {
      settings.program->title = file->title.substr(0, kLongestTitle);
    }
  }
  if (!has_base || request.seed() != 0) settings.seed = request.seed();
  for (const auto& [key, value] : request.settings()) {
    TESSERA_RETURN_IF_ERROR(engine::ApplySetting(settings, key, value));
  }
  if (request.global_batch() < 0 || request.max_steps() < 0) {
    return InvalidArgument("steps and global batch must be at least 0");
  }
  if (request.global_batch() > 0) settings.global_batch = request.global_batch();
  if (request.max_steps() > 0) settings.max_steps = request.max_steps();
  if (!has_base || !request.data().empty()) {
    settings.data.assign(request.data().begin(), request.data().end());
  }
  return settings;
}

/// Whether an earlier registrar has begun the job for this request, and not told its end.
bool IsLost(const Job& job, const std::string& request_id) {
  return job.lost_start && !request_id.empty() && job.start_request == request_id;
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
// while the data are opened and the mesh is chosen, so Start checks the request again.
void JobStarter::OnStartJob(const wire::StartJobRequest& request, const ReplyPtr& reply) {
  for (auto& [name, job] : jobs_) {
    if (job.starting || !IsLost(job, reply->id()) || !around_.is_changing(job)) continue;
    job.starting = reply;  // the transaction that begins it has outlived the registrar before
    return;
  }
  if (MustWait(reply->id())) {
    waiting_.push_back({request, reply});
    return;
  }
  Begin(request, reply);
}

// After a restart of its agent, the registrar hears of the nodes one by one. A request that was
// repeated must find neither that its GPUs do not exist nor that its job does.
bool JobStarter::MustWait(const std::string& request_id) const {
  const auto age = timers_.now() - began_;
  if (age >= kLongestWait) return false;
  const bool is_left = std::ranges::any_of(
      jobs_, [&](const auto& entry) { return IsLost(entry.second, request_id); });
  return is_left || (age < kArrival && publisher_.AnyJoined([this](std::int32_t node) {
           const Membership::Node* const known = members_.Find(node);
           return !known || known->incarnation == 0;
         }));
}

void JobStarter::Tick(Clock::time_point now) {
  EndLostStarts();
  for (Waiting& start : std::exchange(waiting_, {})) {
    if (MustWait(start.reply->id())) {
      waiting_.push_back(std::move(start));
    } else {
      Begin(start.request, start.reply);
    }
  }
  GiveUp(now);
}

void JobStarter::EndLostStarts() {
  std::vector<std::string> lost;
  for (auto& [name, job] : jobs_) {
    if (!job.lost_start || !job.unreported.empty() || around_.is_changing(job)) continue;
    // Ranks make no step before all of them are ready, so a row that says otherwise is old: the
    // state that nodes hold may be precious.
    if (StepOnNodes(job) > 0) {
      job.lost_start = false;
    } else {
      lost.push_back(name);
    }
  }
  for (const std::string& name : lost) {
    Fail(*jobs_.Find(name), "the registrar's agent restarted while it started");
  }
}

std::int64_t JobStarter::StepOnNodes(const Job& job) const {
  std::int64_t step = 0;
  for (const std::int32_t number : NodesOf(job)) {
    const Membership::Node* const node = members_.Find(number);
    if (!node) continue;
    for (const wire::NodeDevice& device : node->devices) {
      if (device.job() == job.name) step = std::max({step, device.begin(), device.end()});
    }
  }
  return step;
}

void JobStarter::Begin(const wire::StartJobRequest& request, const ReplyPtr& reply) {
  WithBase(request, reply,
           [this, reply](const wire::StartJobRequest& based, const ManifestPtr& manifest) {
             OpenAndStart(based, manifest, reply);
           });
}

// A request without a checkpoint has no base.
void JobStarter::WithBase(const wire::StartJobRequest& request, const ReplyPtr& reply,
                          const BasedStart& then) const {
  if (!request.has_from_checkpoint()) {
    wire::StartJobRequest own = request;
    own.clear_base_settings();
    return then(own, nullptr);
  }
  const std::string& path = request.from_checkpoint().path();
  if (const Status may = CheckCheckpoint(config_.jobs, config_.node, path); !may) {
    return reply->Fail(may.error());
  }
  around_.look(path, [request, path, reply, then](Result<checkpoint::Manifest> manifest) {
    if (!manifest) return reply->Fail(manifest.error());
    wire::StartJobRequest based = request;
    based.set_base_settings(manifest->settings);
    if (NameOf(request).empty()) based.set_name(manifest->job);
    if (manifest->settings.empty() && request.model().empty() && request.command().empty()) {
      return reply->Fail(InvalidArgument(
          fmt::format("checkpoint '{}' is of a program of a user: give --exec, --tensors, --rules",
                      ShownPlace(path))));
    }
    then(based, std::make_shared<const checkpoint::Manifest>(std::move(*manifest)));
  });
}

void JobStarter::OpenAndStart(const wire::StartJobRequest& request, const ManifestPtr& manifest,
                              const ReplyPtr& reply) {
  const auto start = [this, request, manifest, reply](const engine::DataStatus& data) {
    const auto found = [this, request, manifest, reply, data](const Result<std::int64_t>& slot) {
      if (!slot) return reply->Fail(slot.error());
      ChooseAndStart(request, {manifest, data, *slot}, reply);
    };
    uses_.decisions.FindFree(NameOf(request), found);
  };
  const auto settings = Check(request);
  if (!settings) return reply->Fail(settings.error());
  if (settings->program) return start({});  // a program of the user opens its data itself
  const auto opened = [reply, start, data = settings->data](const auto& status) {
    if (status) return start(*status);
    if (data.empty() || status.error().code == ErrorCode::kNotFound) {
      return reply->Fail(status.error());
    }
    std::vector<std::string> shown;
    for (const std::string& name : data) shown.push_back(engine::ShownName(name));
    const std::string names = fmt::format("data '{}'", fmt::join(shown, "', '"));
    reply->Fail(Error{status.error().code, names + ": " + status.error().message, {}});
  };
  uses_.openings.Open(NameOf(request), *settings, reply, opened);
}

void JobStarter::ChooseAndStart(const wire::StartJobRequest& request, const Opened& opened,
                                const ReplyPtr& reply) {
  Choose(request, [this, request, opened, reply](Result<Choice> choice) {
    if (!choice) return reply->Fail(choice.error());
    const Status usable = CheckUsable(*choice);
    // Another job has taken a device, or a node is gone.
    if (!usable && !request.has_mesh()) return ChooseAndStart(request, opened, reply);
    const Status status = usable ? Start(request, opened, std::move(*choice), reply) : usable;
    if (!status) reply->Fail(status.error());
  });
}

void JobStarter::OnPropose(const wire::ProposeStartRequest& request, const ReplyPtr& reply) const {
  const std::int64_t limit = request.limit() > 0 ? request.limit() : engine::kMaxProposed;
  WithBase(request.start(), reply,
           [this, limit, reply](const wire::StartJobRequest& start, const ManifestPtr&) {
             Propose(start, limit, reply);
           });
}

void JobStarter::Propose(const wire::StartJobRequest& start, std::int64_t limit,
                         const ReplyPtr& reply) const {
  auto input = InputOfChoice(start);
  if (!input) return reply->Fail(input.error());
  ComputeWith(
      world_, [search = std::move(input->search), limit] { return engine::Propose(search, limit); },
      [reply](const Result<engine::Proposal>& proposal) {
        if (!proposal) return reply->Fail(proposal.error());
        wire::Reply out;
        Encode(*proposal, out.mutable_propose_start());
        reply->Done(std::move(out));
      });
}

Status JobStarter::CheckUsable(const Choice& choice) const {
  for (const ptc::DeviceId device : choice.mesh.devices()) {
    TESSERA_RETURN_IF_ERROR(jobs_.CheckDevice(device, ""));
  }
  return OkStatus();
}

void JobStarter::Choose(const wire::StartJobRequest& request,
                        std::function<void(Result<Choice>)> then) const {
  if (request.has_mesh()) return then(Given(request));
  auto input = InputOfChoice(request);
  if (!input) return then(input.error());
  ComputeWith(
      world_,
      [input = std::move(*input)]() -> Result<Choice> {
        TESSERA_TRY(engine::Choice choice, engine::ChooseMesh(input.search, input.options));
        TESSERA_TRY(const ptc::RuledTensors tensors,
                    engine::TensorsOf(input.search.settings, choice.options.zero));
        TESSERA_TRY(ptc::DeviceMesh mesh,
                    engine::PlaceJob(input.search, choice.mesh, choice.options, tensors,
                                     std::move(choice.used)));
        return Choice{std::move(mesh), choice.options, std::move(choice.why)};
      },
      std::move(then));
}

Result<std::vector<ptc::DeviceId>> JobStarter::DevicesOf(
    const wire::StartJobRequest& request) const {
  TESSERA_TRY(std::vector<ptc::DeviceId> devices, uses_.plans.UsableDevices(request.devices(), ""));
  if (!devices.empty()) return devices;
  for (const auto& [number, node] : members_.nodes()) {
    for (const wire::NodeDevice& device : node.devices) {
      const ptc::DeviceId id{number, device.index()};
      if (jobs_.CheckDevice(id, "")) devices.push_back(id);
    }
  }
  return devices;
}

Result<JobStarter::ChoiceInput> JobStarter::InputOfChoice(
    const wire::StartJobRequest& request) const {
  TESSERA_TRY(const engine::JobSettings settings, Check(request));
  TESSERA_TRY(std::vector<ptc::DeviceId> devices, DevicesOf(request));
  std::optional<engine::StepOptions> options;
  if (request.has_options()) {
    TESSERA_TRY(options, Decode(request.options()));
  }
  if (devices.empty()) return ResourceExhausted("no device is idle");
  return ChoiceInput{uses_.plans.SearchInputOf(NameOf(request), settings, std::move(devices)),
                     options};
}

Result<JobStarter::Choice> JobStarter::Given(const wire::StartJobRequest& request) const {
  TESSERA_TRY(const engine::JobSettings settings, Check(request));
  TESSERA_TRY(std::vector<ptc::DeviceId> devices, DevicesOf(request));
  engine::StepOptions options;
  if (request.has_options()) {
    TESSERA_TRY(options, Decode(request.options()));
  }
  TESSERA_TRY(const ptc::MeshShape shape, Decode(request.mesh()));
  TESSERA_RETURN_IF_ERROR(engine::CheckMesh(settings, shape, options));
  if (request.devices().empty()) {
    if (std::ssize(devices) < shape.num_ranks()) {
      return ResourceExhausted(fmt::format("mesh {} has {} ranks, {} devices are idle",
                                           ToString(shape), shape.num_ranks(), devices.size()));
    }
    TESSERA_TRY(const ptc::RuledTensors tensors, engine::TensorsOf(settings, options.zero));
    const auto search = uses_.plans.SearchInputOf(NameOf(request), settings, {});
    TESSERA_TRY(ptc::DeviceMesh mesh,
                engine::PlaceJob(search, shape, options, tensors, std::move(devices)));
    return Choice{std::move(mesh), options, {}};
  }
  TESSERA_TRY(ptc::DeviceMesh mesh, ptc::DeviceMesh::Make(shape, std::move(devices)));
  return Choice{std::move(mesh), options, {}};
}

Result<engine::JobSettings> JobStarter::Check(const wire::StartJobRequest& request) const {
  TESSERA_RETURN_IF_ERROR(around_.check_idle());
  const std::string name = NameOf(request);
  TESSERA_RETURN_IF_ERROR(CheckName(name));
  if (const Job* const job = jobs_.Find(name)) {
    return AlreadyExists(fmt::format("job '{}' exists and is {}: choose another --name, or stop it",
                                     name, ToString(job->state)));
  }
  TESSERA_RETURN_IF_ERROR(jobs_.CheckExplained(name));
  TESSERA_RETURN_IF_ERROR(uses_.openings.CheckNotOpening(name));
  TESSERA_TRY(engine::JobSettings settings, SettingsOf(request, world_.simulation != nullptr));
  // Its data are opened on this node first. The other nodes check for themselves.
  TESSERA_RETURN_IF_ERROR(CheckLimits(config_.jobs, config_.node, settings));
  // Finds mistakes in the tensors and rules of a user's program, with file and line, for any mesh.
  TESSERA_RETURN_IF_ERROR(engine::MakeCollection(settings, false));
  return settings;
}

Status JobStarter::Start(const wire::StartJobRequest& request, const Opened& opened, Choice start,
                         const ReplyPtr& reply) {
  TESSERA_TRY(engine::JobSettings settings, Check(request));
  const std::string name = NameOf(request);
  TESSERA_TRY(const ptc::RuledTensors tensors, engine::TensorsOf(settings, start.options.zero));
  TESSERA_TRY(ptc::Layout layout, engine::MakeLayout(tensors, std::move(start.mesh)));
  const ptc::DeviceMesh& mesh = layout.mesh();
  TESSERA_RETURN_IF_ERROR(
      engine::CheckFits(settings, mesh, start.options,
                        uses_.plans.SearchInputOf(name, settings, mesh.devices()).capacities));

  TESSERA_RETURN_IF_ERROR(engine::NoteDeviceBatch(settings, mesh.shape()));
  const std::string wrong(engine::WrongOnPurpose(settings.at_change));
  std::optional<StoredState> stored;
  if (opened.manifest) {
    TESSERA_TRY(stored, StateFor(*opened.manifest, request.from_checkpoint().path(), settings,
                                 layout.collection(), request.from_checkpoint().parameters_only()));
  }
  Job job(name, std::move(settings), std::move(layout));
  job.options = start.options;
  job.data = opened.data;
  job.slot = opened.slot;
  job.starting = reply;
  job.owner = reply->requester();
  job.start_request = reply->id();
  job.start_note = start.why;
  TESSERA_TRY(job.on_failure, DecodeOnFailure(request.on_failure()));
  TESSERA_TRY(job.snapshots, Decode(request.snapshots()));
  if (!stored) {  // else the transaction waits for its nodes
    job.start_watch.emplace(job.layout.mesh().devices(), timers_.now());
    job.not_ready = NodesOf(job.layout.mesh());
  }
  job.last_step = timers_.now();
  // When it was started, which `status` shows. Greater than in any earlier start, even of an
  // earlier registrar.
  job.start = static_cast<std::uint64_t>(world_.wall_clock() * 1e9);
  if (const auto over = jobs_.EndedOf(name); !over.empty()) {
    job.start = std::max(job.start, *over.rbegin() + 1);  // whatever the clock says
  }
  uses_.steps.ForgetRow(name);  // of an earlier job with this name
  TESSERA_TRY(Job* const added, jobs_.Add(std::move(job)));
  const std::string options = ToString(added->options);
  AddEvent(engine::Severity::kInfo, name,
           fmt::format("starts: {}, {}{}{}{}", Describe(added->settings),
                       ToString(added->layout.mesh()), StagesText(added->layout),
                       options.empty() ? "" : ", " + options, reply->RequesterText()));
  if (!start.why.empty()) AddEvent(engine::Severity::kInfo, name, start.why);
  if (!wrong.empty()) {
    AddEvent(engine::Severity::kWarning, name, fmt::format("wrong on purpose: it {}", wrong));
  }
  if (stored) {
    around_.begin_from(*added, std::move(*stored));
    MarkDirty();
    return OkStatus();
  }
  // A node that is disconnected now receives it when it registers.
  uses_.sender.Send(*added, uses_.sender.MessageOf(*added));
  MarkDirty();
  world_.fault_point("registrar.starting");
  return OkStatus();
}

void JobStarter::OnJobReady(std::int32_t node, const wire::JobReady& m) {
  Job* job = jobs_.Find(m.job());
  if (!job || !job->not_ready.contains(node)) return;
  // Of an earlier job with this name, on a node that missed its end.
  if (m.start() != 0 && job->start != 0 && m.start() != job->start) return;
  if (!m.ok()) return around_.interrupt(*job, m.reason());
  job->not_ready.erase(node);
  if (job->start_watch) job->start_watch->NodeReady(node);
  if (!job->not_ready.empty()) return MarkDirty();
  uses_.rendezvous.Forget(job->name, job->epoch, job->attempt);
  job->start_watch.reset();
  job->start_message.reset();
  MarkDirty();
  if (!job->starting) return around_.restarted(*job);
  job->state = engine::JobState::kRunning;
  job->start_request.clear();
  job->last_step = timers_.now();
  static_cast<void>(jobs_.Journal(*job));
  around_.resume(*job);
  OnStarted(*job);
}

void JobStarter::OnStarted(Job& job) {
  AddEvent(engine::Severity::kInfo, job.name,
           fmt::format("training on {}{}", Counted(job.layout.mesh().num_ranks(), "GPU"),
                       job.step > 0 ? fmt::format(", after step {}", job.step) : ""));
  if (!job.starting) return;
  wire::Reply out;
  out.mutable_start_job()->set_job(job.name);
  out.mutable_start_job()->set_note(job.start_note);
  job.starting->Done(std::move(out));
  job.starting.reset();
}

// The job has made no step: nothing of it is kept, and its name is free again.
void JobStarter::Fail(Job& job, const std::string& reason) {
  const std::string name = job.name;
  AddEvent(engine::Severity::kError, name, "failed: " + reason);
  if (job.starting) {
    job.starting->Fail(FailedPrecondition(fmt::format("job '{}' did not start: {}", name, reason)));
  }
  static_cast<void>(jobs_.JournalEnd(name));  // else it is there as failed after a restart
  uses_.stops.Stop(job, true);
  around_.forgotten(name);
  jobs_.Erase(name);
  MarkDirty();
}

void JobStarter::GiveUp(Clock::time_point now) {
  const std::chrono::seconds limit(config_.start_stall_seconds);
  std::vector<std::pair<std::string, std::string>> late;  // interrupt erases a starting job
  for (const auto& [name, job] : jobs_) {
    if (!job.start_watch) continue;
    const auto found = job.start_watch->FindLate(now, limit);
    if (found) late.emplace_back(name, LateText(members_, *found));
  }
  for (const auto& [name, why] : late) around_.interrupt(*jobs_.Find(name), why);
}

}  // namespace tessera::agents
