// SPDX-License-Identifier: Apache-2.0
#include "agents/job/tessera_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agents/gpu/arena_memory.h"
#include "agents/job/c_view.h"
#include "agents/job/decision.h"
#include "agents/job/job_rendezvous.h"
#include "agents/job/last_error.h"
#include "agents/job/meeting.h"
#include "agents/job/rank_environment.h"
#include "agents/job/rank_groups.h"
#include "agents/job/rank_pieces.h"
#include "agents/job/rank_session.h"
#include "agents/keeper/keeper.h"
#include "engine/cluster/metrics.h"
#include "engine/copy/checksum.h"
#include "engine/files/whole_file.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/layout.h"

namespace tessera::agents {
namespace {

constexpr std::size_t kLongestReason = 1000;  // bytes

using Clock = std::chrono::steady_clock;

Result<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    return FailedPrecondition(fmt::format("{} is not set: not started by an agent", name));
  return std::string(value);
}

/// The text of a variable, or of the file that another one names.
Result<std::string> ReadVariable(const char* name, const char* file_name) {
  if (const char* path = std::getenv(file_name)) return engine::ReadWholeFile(path);
  return Variable(name);
}

/// A variable that is a number of at least 0.
Result<int> NumberIn(const char* name, const char* what) {
  TESSERA_TRY(const std::string text, Variable(name));
  int number = -1;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end || number < 0) {
    return InvalidArgument(fmt::format("{}={} is not a {}", name, text, what));
  }
  return number;
}

/// Of pieces that lie on a GPU.
Status AttachMemory(engine::Arena& arena) {
  TESSERA_TRY(const int fd, NumberIn(kMemoryFdVariable, "descriptor"));
  TESSERA_TRY(const int device, NumberIn(rank_variable::kCudaDevice, "CUDA device"));
  TESSERA_TRY(const auto driver, CudaDriver::Get());
  // What is emulated is memory of the host, and programs that compute on the CPU may use it.
  if (driver->is_emulated()) driver->AllowHostAccess();
  return AttachCudaMemory(arena, device, fd);
}

}  // namespace
}  // namespace tessera::agents

using tessera::agents::Attempt;
using tessera::agents::RankSession;

struct tessera_job {
  tessera_job(tessera::engine::Arena mapped, tessera::ptc::CollectionPtr names, std::string text,
              tessera::agents::RankView first)
      : arena(std::move(mapped)),
        collection(std::move(names)),
        settings(std::move(text)),
        views(std::move(first)) {}

  const tessera_view& view() const { return views.current().c(); }

  tessera::engine::Arena arena;
  tessera::ptc::CollectionPtr collection;
  std::string settings;
  bool initialise = false;
  bool has_waited = false;
  tessera::agents::CViews views;
  tessera::agents::RankPieces pieces;
  std::optional<RankSession::Command> commanded;  // to adopt
  std::optional<tessera::agents::Clock::time_point> last_decision;
  tessera::agents::Clock::duration stood{};  // time spent waiting before updates since then
  std::int64_t decided = 0;            // its step
  double busy = 0;                     // seconds, for the next report of a decision
  tessera::engine::Metrics metrics;    // likewise
  bool checkpoint = false;             // likewise
  std::set<std::string> metric_names;  // that were ever reported
  std::optional<tessera::agents::RankDecision> reported;  // of the current timeline
  std::string pause_reason;                               // for the next wait
  std::string connect_reason;                             // on the connector's thread
  tessera::agents::RankGroupsByAttempt groups;            // of a job without a connect callback
  std::string check_reason;                               // on the checker's thread
  std::uint64_t check = 0;                                // likewise
  std::unique_ptr<RankSession> session;
  std::thread connector, checker;
};

namespace tessera::agents {
namespace {

/// Clears the pieces: an arena may hold bytes of an earlier job.
Status Zero(const engine::PieceTable& table, const engine::Arena& arena) {
  for (const engine::PieceEntry& entry : table.entries()) {
    TESSERA_RETURN_IF_ERROR(
        arena.memory().Clear(arena.AddressOf(entry.offset_bytes), entry.size_bytes));
  }
  return OkStatus();
}

Result<std::unique_ptr<tessera_job>> Attach() {
  TESSERA_TRY(const int fd, NumberIn(kArenaFdVariable, "descriptor"));
  TESSERA_TRY(std::string socket, Variable(rank_variable::kSocket));
  TESSERA_TRY(std::string name, Variable(rank_variable::kJob));
  TESSERA_TRY(const std::string device_text, Variable(rank_variable::kDevice));
  TESSERA_TRY(const std::string view_text,
              ReadVariable(rank_variable::kView, rank_variable::kViewFile));
  TESSERA_TRY(const std::string layout_file, Variable(rank_variable::kLayoutFile));
  TESSERA_TRY(const std::string initialise, Variable(rank_variable::kInitialise));
  TESSERA_TRY(std::string settings,
              ReadVariable(rank_variable::kSettings, rank_variable::kSettingsFile));
  TESSERA_TRY(const ptc::DeviceId device, ptc::ParseDevice(device_text));
  TESSERA_TRY(RankView view, ParseRankView(view_text));
  TESSERA_TRY(const std::string layout_text, engine::ReadWholeFile(layout_file));
  TESSERA_TRY(const ptc::Layout layout, ptc::ParseLayout(layout_text).Context(layout_file));
  TESSERA_TRY(engine::Arena arena, engine::Arena::Map(fd, true));
  if (!arena.has_memory()) TESSERA_RETURN_IF_ERROR(AttachMemory(arena));
  ::close(fd);

  const std::int64_t view_epoch = view.epoch;
  auto job = std::make_unique<tessera_job>(std::move(arena), layout.collection_ptr(),
                                           std::move(settings), std::move(view));
  job->initialise = initialise == "1";
  // A process that is started for a coming epoch has no pieces yet. The header then has another
  // epoch, or another job: an earlier job of this device may have had the same epoch number.
  const bool is_in_job =
      job->arena.header().job_hash.load() == engine::Checksum(std::as_bytes(std::span(name)));
  std::int64_t epoch = -1;
  if (is_in_job && job->arena.header().epoch.load() == static_cast<std::uint64_t>(view_epoch)) {
    TESSERA_TRY(const engine::PieceTable table, engine::PieceTable::ReadCurrent(job->arena));
    if (table.job() == name) {
      TESSERA_TRY(job->pieces, RankPieces::Make(job->arena, table, *job->collection));
      epoch = view_epoch;
      if (job->initialise) TESSERA_RETURN_IF_ERROR(Zero(table, job->arena));
    }
  }
  job->session =
      std::make_unique<RankSession>(std::move(socket), RankId{std::move(name), device}, epoch);
  return job;
}

/// The step whose gradients and decision are there, and whose update has not begun; 0: none.
std::uint64_t UnfinishedStep(const tessera_job& job) {
  const engine::ArenaHeader& header = job.arena.header();
  const std::uint64_t next = header.end.load() + 1;
  const bool is_unfinished = !job.initialise && !job.pieces.pieces().empty() &&
                             header.begin.load() + 1 == next && header.grads_step.load() == next &&
                             header.decision_step.load() == next;
  return is_unfinished ? next : 0;
}

Status Adopt(tessera_job& job) {
  if (!job.commanded) return FailedPrecondition("adopt: no layout was commanded");
  const std::int64_t epoch = job.commanded->epoch;
  const auto selected =
      static_cast<std::int64_t>(job.arena.header().epoch.load(std::memory_order_acquire));
  if (selected != epoch) {
    return DataLoss(
        fmt::format("adopt: epoch {} was commanded, the arena is at {}", epoch, selected));
  }
  TESSERA_TRY(const engine::PieceTable table, engine::PieceTable::ReadCurrent(job.arena));
  TESSERA_TRY(job.pieces, RankPieces::Make(job.arena, table, *job.collection));
  job.views.Push(std::move(*job.commanded->view));
  job.commanded.reset();
  job.groups.KeepFrom({job.view().epoch, job.view().attempt});
  // The state of another step was handed in, so earlier decisions are not this job's past any more.
  const auto decided = static_cast<std::uint64_t>(job.decided);
  if (job.arena.header().end.load() != decided && UnfinishedStep(job) != decided) {
    job.session->ForgetDecided();
    job.reported.reset();
  }
  return OkStatus();
}

void RunConnects(tessera_job* job, tessera_connect_fn connect, void* context) {
  while (const std::optional<RankView> view = job->session->NextConnect()) {
    const CView shown(*view);
    JobRendezvous rendezvous(job, view->epoch, view->attempt);
    Status status = MeetAll(shown.c(), rendezvous);
    if (status) {
      job->connect_reason.clear();
      const int code = connect(context, job, &shown.c());
      if (code != 0) {
        const std::string why = job->connect_reason.empty()
                                    ? fmt::format("the job returned {}", code)
                                    : job->connect_reason;
        status = Unavailable(
            fmt::format("groups of epoch {} attempt {}: {}", view->epoch, view->attempt, why));
      }
    }
    job->session->ReportConnected({view->epoch, view->attempt}, status);
  }
}

void RunChecks(tessera_job* job, tessera_check_fn check, void* context) {
  while (const auto wanted = job->session->NextCheck()) {
    job->check = wanted->id;
    job->check_reason.clear();
    const int code = check(context, job, wanted->axis_size.data());
    const std::string& why = job->check_reason;
    Status status;
    if (code != 0 && job->session->IsCheckAbandoned(wanted->id)) {
      status = Unavailable("a change of its mesh has begun");
    } else if (code == 1) {
      status = FailedPrecondition(why.empty() ? "the program gives no reason" : why);
    } else if (code != 0) {
      status = Unavailable(why.empty() ? fmt::format("the program returned {}", code) : why);
    }
    job->session->ReportChecked(wanted->id, status);
  }
}

/// Starts a thread without signals: the job's own threads handle those of the process.
template <typename Run>
std::thread StartThread(Run run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

std::chrono::seconds CollectiveTimeout() {
  const char* const text = std::getenv(rank_variable::kCollectiveTimeout);
  return std::chrono::seconds(text == nullptr ? 0 : std::strtoll(text, nullptr, 10));
}

/// The connect callback of the library, for jobs without one.
int ConnectOwnGroups(void*, tessera_job* job, const tessera_view* view) {
  const Attempt attempt{view->epoch, view->attempt};
  auto groups = RankGroups::Connect(
      *view, std::make_shared<JobRendezvous>(job, attempt.epoch, attempt.attempt),
      CollectiveTimeout());
  if (!groups) {
    std::fprintf(stderr, "tessera: groups of epoch %lld: %s\n",
                 static_cast<long long>(attempt.epoch), groups.error().ToString().c_str());
    return Failed(groups.error());
  }
  job->groups.Put(attempt, std::move(*groups));
  return 0;
}

/// The library's groups for the current view.
Result<std::shared_ptr<const RankGroups>> OwnGroups(const tessera_job& job) {
  const tessera_view& view = job.view();
  auto groups = job.groups.Get({view.epoch, view.attempt});
  if (!groups) {
    return FailedPrecondition(
        fmt::format("epoch {} has no groups of the library's own", view.epoch));
  }
  return groups;
}

Status GatherRecords(const tessera_job& job, const tessera_record& mine,
                     std::span<tessera_record> all) {
  TESSERA_TRY(const auto groups, OwnGroups(job));
  return groups->world->AllGather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(all));
}

Status AllReduceSum(const tessera_job& job, const char* axis, std::span<float> values) {
  TESSERA_TRY(const auto groups, OwnGroups(job));
  if (axis == nullptr) return groups->world->AllReduceSum(values);
  TESSERA_TRY(const ptc::Axis along, ptc::ParseAxis(axis));
  return groups->along[static_cast<std::size_t>(along)]->AllReduceSum(values);
}

static_assert(TESSERA_PAUSE_DONE == engine::kRequestStepsDone);
static_assert(TESSERA_PAUSE_DATA == engine::kRequestNoData);
static_assert(TESSERA_PAUSE_BEFORE_UPDATE == engine::kRequestBeforeUpdate);

/// Reports the last step again with what came after its decision, because there may be no other.
void ReportLate(tessera_job& job, std::uint64_t request) {
  const bool is_last = request == engine::kRequestStepsDone && !job.metrics.empty();
  if (!job.reported || (!job.checkpoint && !is_last)) return;
  const bool wants_checkpoint = std::exchange(job.checkpoint, false);
  const engine::Metrics metrics = is_last ? std::exchange(job.metrics, {}) : engine::Metrics();
  if (job.view().rank != 0) return;
  if (wants_checkpoint) job.reported->checkpoint = true;
  for (const auto& [name, value] : metrics) job.reported->metrics.insert_or_assign(name, value);
  job.reported->busy = 0;  // is reported already
  job.session->ReportDecided(*job.reported);
}

Result<RankSession::Command> Wait(tessera_job& job, std::int64_t step, std::uint64_t request) {
  // Ranks of a node that wait at different steps are not let go on.
  if (const std::uint64_t left = UnfinishedStep(job); left != 0 && !job.has_waited) {
    return FailedPrecondition(
        fmt::format("the update of step {} is left by an earlier rank of this device: call "
                    "tessera_unfinished and make it before the first wait",
                    left));
  }
  job.has_waited = true;
  // What the program has begun since its last decision, such as filling its pieces.
  TESSERA_RETURN_IF_ERROR(job.arena.memory().Finish());
  ReportLate(job, request);
  job.initialise = false;  // its pieces are filled
  const std::string reason = std::exchange(job.pause_reason, {});
  const Clock::time_point began = Clock::now();
  auto command =
      job.session->Wait(step, request, request == engine::kRequestNoData ? reason : std::string());
  // While its state is copied, a job waits before the update of each step: that belongs to the
  // step. The time of a pause is not the time of a step.
  const bool is_inside =
      request != engine::kRequestNoData && (request & engine::kRequestBeforeUpdate) != 0;
  if (is_inside && command && command->act == RankCommand::kResume) {
    job.stood += Clock::now() - began;
  } else {
    job.last_decision.reset();
    job.stood = {};
  }
  return command;
}

/// Waits at the boundary and carries out the command.
/// \return false to leave
Result<bool> PassBoundary(tessera_job& job, std::int64_t step, std::uint64_t request) {
  while (true) {
    TESSERA_TRY(RankSession::Command answer, Wait(job, step, request));
    if (answer.act == RankCommand::kLeave) return false;
    if (answer.act == RankCommand::kResume) return true;
    job.commanded = std::move(answer);
    TESSERA_RETURN_IF_ERROR(Adopt(job));
    if (!job.session->WaitForGo(job.view().epoch)) return true;
    request = 0;  // the job stays paused: wait for the next command
  }
}

bool IsHeld(const engine::ArenaHeader& header, std::uint64_t step) {
  const std::uint64_t first = header.hold.load();
  return first != 0 && step >= first;
}

// The rank stores `begin` before it reads `hold`, the agent stores `hold` before it reads `begin`
// (sequentially consistent). So either the agent sees the begun update or the rank sees the hold.
void BeginUpdate(engine::ArenaHeader& header, std::uint64_t step) {
  constexpr std::chrono::microseconds kPause{200};
  const std::uint64_t before = header.begin.load();
  while (true) {
    while (IsHeld(header, step)) std::this_thread::sleep_for(kPause);
    header.begin.store(step);
    if (!IsHeld(header, step)) break;
    header.begin.store(before);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);  // no write to state goes before `begin`
}

}  // namespace
}  // namespace tessera::agents

using namespace tessera::agents;  // for the functions of the C interface below

int tessera_job_version(void) { return TESSERA_JOB_VERSION; }

int tessera_attach(tessera_job** job) {
  auto attached = Attach();
  if (!attached) return Failed(attached.error());
  *job = attached->release();
  return 0;
}

void tessera_detach(tessera_job* job) {
  if (job == nullptr) return;
  job->session->EndConnects();
  if (job->connector.joinable()) job->connector.join();
  if (job->checker.joinable()) job->checker.join();
  delete job;
}

const char* tessera_settings(tessera_job* job) { return job->settings.c_str(); }
const tessera_view* tessera_current_view(tessera_job* job) { return &job->view(); }
int tessera_must_initialise(tessera_job* job) { return job->initialise ? 1 : 0; }

int tessera_pieces(tessera_job* job, const tessera_piece** pieces, size_t* count) {
  *pieces = job->pieces.pieces().data();
  *count = job->pieces.pieces().size();
  return 0;
}

const void* tessera_memory_end(tessera_job* job) {
  const std::int64_t last = job->arena.capacity() - 1;
  return job->arena.AddressOf(last) + 1;
}

const tessera_piece* tessera_find_piece(tessera_job* job, const char* tensor) {
  for (const tessera_piece& piece : job->pieces.pieces()) {
    if (std::strcmp(piece.name, tensor) == 0) return &piece;
  }
  return nullptr;
}

int tessera_connect(tessera_job* job, tessera_connect_fn connect, void* context) {
  if (job->connector.joinable()) {
    return Failed(tessera::FailedPrecondition("connect: the callback is already set"));
  }
  const RankView& view = job->views.current().view();
  job->session->QueueConnect(view);
  job->connector = StartThread([job, call = connect == nullptr ? ConnectOwnGroups : connect,
                                context] { RunConnects(job, call, context); });
  const tessera::Status connected = job->session->WaitConnected({view.epoch, view.attempt});
  return connected ? 0 : Failed(connected.error());
}

int tessera_on_check(tessera_job* job, tessera_check_fn check, void* context) {
  if (job->checker.joinable()) {
    return Failed(tessera::FailedPrecondition("on_check: the callback is already set"));
  }
  job->session->TakeChecks();
  job->checker = StartThread([job, check, context] { RunChecks(job, check, context); });
  return 0;
}

int tessera_check_abandoned(tessera_job* job) {
  return job->session->IsCheckAbandoned(job->check) ? 1 : 0;
}

int tessera_abandoned(tessera_job* job, int64_t epoch, int64_t attempt) {
  return job->session->IsAbandoned({epoch, attempt}) ? 1 : 0;
}

int tessera_store_set(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                      const void* value, size_t size) {
  const tessera::Status set = job->session->StoreSet(
      {epoch, attempt}, key, std::string(static_cast<const char*>(value), size));
  return set ? 0 : Failed(set.error());
}

int tessera_store_get(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                      void** value, size_t* size, int timeout_ms) {
  const auto got =
      job->session->StoreGet({epoch, attempt}, key, std::chrono::milliseconds(timeout_ms));
  if (!got) return Failed(got.error());
  *value = std::malloc(std::max<std::size_t>(got->size(), 1));
  if (*value == nullptr) {
    return Failed(tessera::ResourceExhausted(fmt::format("no memory for {} bytes", got->size())));
  }
  std::memcpy(*value, got->data(), got->size());
  *size = got->size();
  return 0;
}

void tessera_free(void* value) { std::free(value); }

int tessera_shared_memory(tessera_job* job, int64_t epoch, int64_t attempt, const char* key,
                          size_t size) {
  auto fd = job->session->SharedMemory({epoch, attempt}, key, static_cast<std::int64_t>(size));
  if (!fd) return Failed(fd.error());
  return fd->Release();
}

int tessera_decide(tessera_job* job, int64_t step, const tessera_record* mine, double max_norm,
                   tessera_gather_fn gather, void* context, tessera_decision* decision) {
  tessera::engine::ArenaHeader& header = job->arena.header();
  tessera_record record = *mine;
  const std::uint64_t request = header.request.load(std::memory_order_acquire);
  const auto from = static_cast<std::int64_t>(header.request_step.load());
  record.request = step >= from ? request : 0;
  if (mine->request == TESSERA_PAUSE_DATA) record.request = TESSERA_PAUSE_DATA;
  if (const tessera::Status done = job->arena.memory().Finish(); !done) return Failed(done.error());
  header.grads_step.store(static_cast<std::uint64_t>(step), std::memory_order_release);

  std::shared_ptr<const RankGroups> own;
  if (gather == nullptr) own = job->groups.Get({job->view().epoch, job->view().attempt});
  if (own) {
    const std::chrono::duration<double> waited = own->waits->Take();
    const std::chrono::duration<double> since =
        job->last_decision ? Clock::now() - *job->last_decision : Clock::duration{};
    job->busy = std::max(0.0, (since - waited - job->stood).count());
  }
  std::vector<tessera_record> all(static_cast<std::size_t>(job->view().world));
  if (gather == nullptr) {
    if (const tessera::Status gathered = GatherRecords(*job, record, all); !gathered) {
      return Failed(gathered.error());
    }
  } else if (const int code = gather(context, &record, all.data()); code != 0) {
    return Failed(tessera::Unavailable(fmt::format("step {}: the gather returned {}", step, code)));
  }
  *decision = Decide(step, all, max_norm);
  // The gather may have marked gradients that nobody has used.
  if (const tessera::Status done = job->arena.memory().Finish(); !done) return Failed(done.error());

  // A reader that finds the same step before and after has read one decision.
  header.decision_step.store(0);
  header.decision_clip.store(std::bit_cast<std::uint64_t>(decision->clip));
  header.decision_skip.store(static_cast<std::uint64_t>(decision->skip));
  header.decision_pause.store(decision->pause);
  header.decision_loss.store(std::bit_cast<std::uint64_t>(decision->loss));
  header.decision_norm2.store(std::bit_cast<std::uint64_t>(decision->norm2));
  header.decision_tokens.store(static_cast<std::uint64_t>(decision->tokens));
  header.decision_step.store(static_cast<std::uint64_t>(step), std::memory_order_release);

  const Clock::time_point now = Clock::now();
  const double seconds =
      job->last_decision ? std::chrono::duration<double>(now - *job->last_decision).count() : 0;
  job->last_decision = now;
  job->decided = step;
  const std::chrono::duration<double> stood = std::exchange(job->stood, {});
  if (own) own->waits->Take();
  if (own && seconds > 0) own->patience->Note(std::chrono::duration<double>(seconds) - stood);
  RankDecision report{step,
                      decision->loss,
                      decision->norm2,
                      decision->tokens,
                      decision->clip,
                      decision->skip != 0,
                      decision->pause,
                      seconds,
                      0,
                      0,
                      std::exchange(job->busy, 0)};
  tessera::engine::Metrics metrics = std::exchange(job->metrics, {});
  const bool wants_checkpoint = std::exchange(job->checkpoint, false);
  if (job->view().rank == 0) {
    report.metrics = std::move(metrics);
    report.checkpoint = wants_checkpoint;
  }
  job->session->ReportDecided(report);
  job->reported = std::move(report);
  return 0;
}

void tessera_busy(tessera_job* job, double seconds) { job->busy = seconds; }

int tessera_log(tessera_job* job, const char* name, double value) {
  static_assert(TESSERA_MAX_METRICS == tessera::engine::kMaxMetrics);
  static_assert(TESSERA_MAX_METRIC_NAME == tessera::engine::kMaxMetricName);
  if (!tessera::engine::IsMetricName(name)) {
    return Failed(tessera::InvalidArgument(fmt::format(
        "'{}' is no name of a metric: a letter or _, then letters, digits and _ . / -, at most {} "
        "characters",
        name, TESSERA_MAX_METRIC_NAME)));
  }
  if (!job->metric_names.contains(name)) {
    if (job->metric_names.size() == TESSERA_MAX_METRICS) {
      return Failed(tessera::ResourceExhausted(
          fmt::format("metric '{}': a job has at most {} metrics", name, TESSERA_MAX_METRICS)));
    }
    job->metric_names.insert(name);
  }
  job->metrics.insert_or_assign(name, value);
  return 0;
}

int tessera_checkpoint(tessera_job* job) {
  job->checkpoint = true;
  return 0;
}

void tessera_loading(tessera_job* job, int64_t done, int64_t total) {
  job->session->ReportLoading({done, total});
}

void tessera_pause_reason(tessera_job* job, const char* reason) { job->pause_reason = reason; }
void tessera_connect_reason(tessera_job* job, const char* reason) {
  job->connect_reason = std::string_view(reason).substr(0, kLongestReason);
}
void tessera_check_reason(tessera_job* job, const char* reason) {
  job->check_reason = std::string_view(reason).substr(0, kLongestReason);
}

int tessera_unfinished(tessera_job* job, tessera_decision* decision) {
  const std::uint64_t step = UnfinishedStep(*job);
  if (step == 0) return 0;
  const tessera::engine::ArenaHeader& header = job->arena.header();
  *decision = {};
  decision->step = static_cast<std::int64_t>(step);
  decision->clip = std::bit_cast<double>(header.decision_clip.load());
  decision->skip = static_cast<int>(header.decision_skip.load());
  return 1;
}

int tessera_begin_update(tessera_job* job, int64_t step) {
  BeginUpdate(job->arena.header(), static_cast<std::uint64_t>(step));
  return 0;
}

int tessera_end_update(tessera_job* job, int64_t step) {
  if (const tessera::Status done = job->arena.memory().Finish(); !done) return Failed(done.error());
  job->arena.header().end.store(static_cast<std::uint64_t>(step), std::memory_order_release);
  return 0;
}

int tessera_all_reduce_sum(tessera_job* job, const char* axis, float* values, size_t count) {
  const tessera::Status summed = AllReduceSum(*job, axis, {values, count});
  return summed ? 0 : Failed(summed.error());
}

int tessera_boundary(tessera_job* job, int64_t step, uint64_t request, const tessera_view** view) {
  const auto goes_on = PassBoundary(*job, step, request);
  if (!goes_on) return Failed(goes_on.error());
  *view = &job->view();
  return *goes_on ? 1 : 0;
}

int tessera_wait(tessera_job* job, int64_t step, uint64_t request, tessera_command* command) {
  auto answer = Wait(*job, step, request);
  if (!answer) return Failed(answer.error());
  *command = static_cast<tessera_command>(answer->act);
  if (answer->act == RankCommand::kAdopt) job->commanded = std::move(*answer);
  return 0;
}

int tessera_adopt(tessera_job* job, const tessera_view** view) {
  if (const tessera::Status adopted = Adopt(*job); !adopted) return Failed(adopted.error());
  *view = &job->view();
  return 0;
}

int tessera_attached(tessera_job* job) {
  return job->session->WaitForGo(job->view().epoch) ? 1 : 0;
}
