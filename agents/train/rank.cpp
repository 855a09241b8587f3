// SPDX-License-Identifier: Apache-2.0
#include "agents/train/rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "agents/data/job_data.h"
#include "agents/job/job_rendezvous.h"
#include "agents/job/tessera_job.h"
#include "agents/train/model/initialise.h"
#include "agents/train/step_time.h"
#include "agents/train/termination.h"
#include "agents/train/trainer.h"

namespace tessera::agents::train {
namespace {

constexpr std::chrono::seconds kConnectTimeout{60};

/// An error of the rank library.
Error JobError(const char* what) {
  return Unavailable(fmt::format("{}: {}", what, tessera_last_error()));
}

/// One rank, from attach to leave.
///
/// Run and everything that it calls run on the main thread, OnConnect on the thread of the rank
/// library. They share what mutex_ guards.
class Rank {
 public:
  /// Makes the update that is missing, without other ranks.
  Status RunLastUpdate() {
    TESSERA_RETURN_IF_ERROR(Prepare());
    TESSERA_TRY(coming_, LoneGroups(*tessera_current_view(job_)));
    TESSERA_TRY(const bool made, FinishUpdate());
    tessera_detach(job_);
    if (made) return OkStatus();
    return FailedPrecondition("this device is not one update behind its decision");
  }

  Status Run() {
    TESSERA_RETURN_IF_ERROR(Prepare());
    if (tessera_connect(job_, &Rank::OnConnect, this) != 0) {
      return ConnectError().value_or(JobError("cannot connect"));
    }
    if (tessera_must_initialise(job_) != 0) TESSERA_RETURN_IF_ERROR(InitialisePieces());
    if (const auto finished = FinishUpdate(); !finished) return finished.error();
    tessera_command command{};
    if (tessera_wait(job_, -1, 0, &command) != 0) return JobError("cannot wait for the start");
    if (command == TESSERA_RESUME && !trains_) {
      TESSERA_RETURN_IF_ERROR(Bind(*tessera_current_view(job_)));
    }
    while (true) {
      if (command == TESSERA_LEAVE) break;
      bool stays_paused = false;
      if (command == TESSERA_ADOPT) {
        TESSERA_TRY(stays_paused, Adopt());
      }
      auto next = TrainUntilPaused(stays_paused);
      if (!next) {
        // The other ranks wait in a collective that this rank will not join: break it for them too.
        Groups groups = trainer_->groups();
        groups.Abort();
        return next.error();
      }
      command = *next;
    }
    tessera_detach(job_);
    return OkStatus();
  }

 private:
  /// Attaches and opens the data.
  Status Prepare() {
    TESSERA_TRY(least_step_time_, LeastStepTime());
    if (tessera_attach(&job_) != 0) return JobError("cannot attach");
    TESSERA_TRY(const auto settings, engine::ParseJobSettings(tessera_settings(job_)));
    DataAccess access = AccessOf(settings);
    TESSERA_TRY(auto data, OpenData(settings, access.cancel.get_token()));
    fingerprint_ = data.fingerprint();
    trainer_.emplace(settings, std::move(data), std::move(access));
    return OkStatus();
  }

  /// Reports its progress, which users see and which keeps the start of the job waiting.
  Result<engine::DataMix> OpenData(const engine::JobSettings& settings, std::stop_token cancel) {
    tessera_loading(job_, 0, 0);
    engine::IndexOptions index;
    index.cancel = std::move(cancel);
    std::int64_t all = 1;  // bytes
    index.progress = [&](std::int64_t done, std::int64_t total) {
      all = std::max(all, total);
      if (done < total) tessera_loading(job_, done, total);  // all files may not be found yet
    };
    TESSERA_TRY(auto data, OpenJobData(settings, index));
    tessera_loading(job_, all, all);
    return data;
  }

  static int OnConnect(void* context, tessera_job*, const tessera_view* view) {
    return static_cast<Rank*>(context)->Connect(*view);
  }

  /// On the rank library's thread.
  int Connect(const tessera_view& view) {
    const auto rendezvous = std::make_shared<JobRendezvous>(job_, view.epoch, view.attempt);
    const std::chrono::seconds given(trainer_->settings().collective_timeout);
    auto groups = ConnectGroups(view, rendezvous, fingerprint_, kConnectTimeout,
                                StageMessageFloats(trainer_->settings(), view),
                                std::make_shared<Patience>(given));
    const std::lock_guard lock(mutex_);
    if (!groups) {
      // An abandoned attempt is no error of this rank. A failure before the start ends the rank.
      if (!rendezvous->Abandoned() && trains_) {
        fmt::print(stderr, "tessera-train: groups of epoch {}: {}\n", view.epoch,
                   groups.error().ToString());
      }
      connect_error_ = groups.error();
      return -1;
    }
    coming_ = std::move(*groups);  // in place of groups of an attempt that failed
    return 0;
  }

  std::optional<Error> ConnectError() {
    const std::lock_guard lock(mutex_);
    return connect_error_;
  }

  Result<std::span<const tessera_piece>> Pieces() {
    const tessera_piece* pieces = nullptr;
    std::size_t count = 0;
    if (tessera_pieces(job_, &pieces, &count) != 0) return JobError("cannot list the pieces");
    return std::span(pieces, count);
  }

  Status InitialisePieces() {
    TESSERA_TRY(const auto pieces, Pieces());
    TESSERA_TRY(const RankState state, BindState(pieces));
    Initialise(trainer_->settings(), state);
    return OkStatus();
  }

  /// Binds the trainer to the groups that were built for `view` and to the current pieces.
  Status Bind(const tessera_view& view) {
    std::optional<Groups> groups;
    {
      const std::lock_guard lock(mutex_);
      groups = std::exchange(coming_, std::nullopt);
    }
    if (!groups || groups->epoch != view.epoch || groups->attempt != view.attempt) {
      return Internal(
          fmt::format("no groups of epoch {}, attempt {} were built", view.epoch, view.attempt));
    }
    trains_ = true;
    TESSERA_TRY(const auto pieces, Pieces());
    auto before = trainer_->Bind(pieces, std::move(*groups), view.micro_batch);
    if (!before) return before.error();
    return OkStatus();
  }

  /// Makes the update that an earlier rank of this device left out after its decision.
  /// \return whether there was one
  Result<bool> FinishUpdate() {
    tessera_decision decision{};
    if (tessera_unfinished(job_, &decision) == 0) return false;
    TESSERA_RETURN_IF_ERROR(Bind(*tessera_current_view(job_)));
    TESSERA_RETURN_IF_ERROR(Update(decision));
    return true;
  }

  /// Makes the update before which the ranks have paused, if there is one, in the old layout or in
  /// the new one.
  Status MakeUpdateLeft() {
    tessera_decision decision{};
    return tessera_unfinished(job_, &decision) == 0 ? OkStatus() : Update(decision);
  }

  Status Update(const tessera_decision& decision) {
    TESSERA_RETURN_IF_ERROR(trainer_->PrepareUpdate(decision.clip, decision.skip != 0));
    const UpdateSection section;
    if (tessera_begin_update(job_, decision.step) != 0) return JobError("cannot begin the update");
    trainer_->CommitUpdate();
    if (tessera_end_update(job_, decision.step) != 0) return JobError("cannot end the update");
    return OkStatus();
  }

  /// Returns whether the job stays paused.
  Result<bool> Adopt() {
    const tessera_view* view = nullptr;
    if (tessera_adopt(job_, &view) != 0) return JobError("cannot adopt the new layout");
    TESSERA_RETURN_IF_ERROR(Bind(*view));
    trainer_->OnChange();
    const int stays_paused = tessera_attached(job_);
    if (stays_paused < 0) return JobError("cannot report the new layout as attached");
    return stays_paused == 1;
  }

  /// Makes steps until the job pauses, none if it `stays_paused`, and returns the next command.
  Result<tessera_command> TrainUntilPaused(bool stays_paused) {
    const std::int64_t max_steps = trainer_->settings().max_steps;
    while (true) {
      std::uint64_t pause = stays_paused ? 0 : TESSERA_PAUSE_DONE;
      if (!std::exchange(stays_paused, false) && (max_steps == 0 || trainer_->step() < max_steps)) {
        TESSERA_RETURN_IF_ERROR(MakeUpdateLeft());
        if (max_steps > 0 && trainer_->step() >= max_steps) continue;
        TESSERA_TRY(pause, Step());
        if (pause == 0) continue;
      }
      if (pause == TESSERA_PAUSE_DATA) {
        trainer_->DropBatch();
        tessera_pause_reason(job_, trainer_->data_problem().c_str());
      }
      tessera_command command{};
      if (tessera_wait(job_, trainer_->step(), pause, &command) != 0) {
        return JobError("cannot wait in the pause");
      }
      if (command != TESSERA_RESUME) return command;
      DropAbandoned();
    }
  }

  /// Destroys groups whose transaction was rolled back.
  void DropAbandoned() {
    const std::lock_guard lock(mutex_);
    if (!coming_ || tessera_abandoned(job_, coming_->epoch, coming_->attempt) == 0) return;
    coming_.reset();
  }

  /// Reads this rank's part of the next batch. Returns whether every rank has read its part.
  Result<bool> AllCanRead() {
    const std::int64_t mine = trainer_->FetchBatch() ? 1 : 0;
    Collective& world = *trainer_->groups().world;
    std::vector<std::int64_t> all(static_cast<std::size_t>(world.size()));
    TESSERA_RETURN_IF_ERROR(world.AllGather(std::as_bytes(std::span(&mine, 1)),
                                            std::as_writable_bytes(std::span(all))));
    return std::find(all.begin(), all.end(), 0) == all.end();
  }

  /// Makes one step. Returns 0, or why the job pauses: the number of a transaction, or
  /// TESSERA_PAUSE_DATA. Where the data of this step cannot be read, no step is made.
  Result<std::uint64_t> Step() {
    // Only the first step after a start, a change or a pause has no batch yet.
    if (!trainer_->HasBatch()) {
      TESSERA_TRY(const bool all_can, AllCanRead());
      if (!all_can) return TESSERA_PAUSE_DATA;
    }
    const std::int64_t step = trainer_->step() + 1;
    const auto began = std::chrono::steady_clock::now();
    trainer_->groups().waits->Take();
    TESSERA_TRY(const tessera_record record, trainer_->ComputeGradients());
    const std::chrono::duration<double> gradients = std::chrono::steady_clock::now() - began;
    tessera_busy(job_, (gradients - trainer_->groups().waits->Take()).count());
    std::this_thread::sleep_until(began + least_step_time_);
    tessera_decision decision{};
    if (tessera_decide(job_, step, &record, trainer_->settings().max_norm, &Rank::Gather, this,
                       &decision) != 0) {
      if (gather_error_) return *gather_error_;
      return JobError("no step decision");
    }
    if (TESSERA_WAITS_BEFORE_UPDATE(decision)) return decision.pause;
    TESSERA_RETURN_IF_ERROR(Update(decision));
    trainer_->groups().patience->Note(std::chrono::steady_clock::now() - began);
    return decision.pause;
  }

  static int Gather(void* context, const tessera_record* mine, tessera_record* all) {
    auto* rank = static_cast<Rank*>(context);
    Collective& world = *rank->trainer_->groups().world;
    const Status status = world.AllGather(
        std::as_bytes(std::span(mine, 1)),
        std::as_writable_bytes(std::span(all, static_cast<std::size_t>(world.size()))));
    if (status) return 0;
    rank->gather_error_ = status.error();
    return -1;
  }

  tessera_job* job_ = nullptr;
  std::uint64_t fingerprint_ = 0;
  std::optional<Trainer> trainer_;
  StepTime least_step_time_{};
  std::optional<Error> gather_error_;
  std::atomic<bool> trains_ = false;  // the trainer has been bound

  std::mutex mutex_;
  std::optional<Groups> coming_;        // guarded by mutex_
  std::optional<Error> connect_error_;  // guarded by mutex_
};

}  // namespace

Status FinishLastUpdate() {
  Rank* const rank = new Rank;  // never destroyed, as below
  return rank->RunLastUpdate();
}

Status RunRank() {
  InstallTermination();
  // Never destroyed: after an error, the rank library's thread and abandoned collectives may still
  // use it until the process exits.
  Rank* const rank = new Rank;
  return rank->Run();
}

}  // namespace tessera::agents::train
