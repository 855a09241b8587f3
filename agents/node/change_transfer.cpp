// SPDX-License-Identifier: Apache-2.0
#include "agents/node/change_transfer.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "agents/move/digest_wire.h"
#include "agents/node/step_words.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"
#include "engine/model/gpt.h"

namespace tessera::agents {
namespace {

/// What devices have received from others.
std::int64_t BytesDone(const Move& move) {
  std::int64_t bytes = 0;
  for (const auto& flow : move.flows()) bytes += flow->done.load();
  return bytes;
}

}  // namespace

void ChangeTransfer::Warm(std::function<void()> done) {
  context_ = change_.MakeContext(devices_, node_, world_.facts.machine, world_.open_checkpoint);
  pages_ =
      world_.warm_pages(context_, [this, lives = std::weak_ptr(lives_), done = std::move(done)] {
        if (lives.expired()) return;
        is_warming_ = false;
        done();
      });
  is_warming_ = pages_ != nullptr;
}

void ChangeTransfer::Offer() {
  if (std::exchange(is_offered_, true)) return;
  if (!context_)
    context_ = change_.MakeContext(devices_, node_, world_.facts.machine, world_.open_checkpoint);
  world_.serve(context_);
}

void ChangeTransfer::SaveGradients(std::function<void()> done) {
  if (!context_) return done();
  follow_run_ = world_.save_gradients(
      context_, [this, lives = std::weak_ptr(lives_), done = std::move(done)](const Status& saved) {
        if (lives.expired()) return;
        follow_run_.reset();
        if (!saved) why_not_saved_ = saved.error().ToString();
        done();
      });
}

void ChangeTransfer::Precopy(const engine::RunPrecopy& leg, const wire::StepDecision& followed,
                             std::function<void(bool is_whole)> done) {
  // An agent that has restarted fails in Start.
  if (!context_ || !change_.CheckStep(devices_, leg.step)) return done(false);
  const auto end = [this, leg, done = std::move(done)](const Status& status) {
    const bool is_last = leg.leg == leg.legs;
    if (status && is_last) {
      copied_ = leg.step;
      if (leg.legs == 1) TakeAhead(leg.step);
    } else if (!status && status.error().code != ErrorCode::kCancelled) {
      uplink_.ReportNodeEvent(
          engine::Severity::kWarning,
          fmt::format("transaction {} of '{}': the state after step {} is copied in the pause: {}",
                      change_.prepare().transaction(), change_.prepare().job(), leg.step,
                      status.error().ToString()));
    }
    done(status.has_value());
  };
  if (leg.legs == 1) return MoveState(context_, MoveMode::kVerifyMoved, end);
  CopyLeg(leg, followed, end);
}

void ChangeTransfer::CopyLeg(const engine::RunPrecopy& leg, const wire::StepDecision& followed,
                             Done done) {
  if (!why_not_saved_.empty()) {
    return done(Unavailable("gradients were not kept: " + why_not_saved_));
  }
  if (leg.legs != change_.legs() || leg.leg > leg.legs) {
    return done(FailedPrecondition(
        fmt::format("leg {} of {}, planned are {}", leg.leg, leg.legs, change_.legs())));
  }
  CountFlows();
  const std::optional<MoveResult> before = std::exchange(result_, std::nullopt);
  MoveState(LegOf(*context_, leg.leg, change_.TensorsOfLegs(leg.leg, leg.leg)),
            MoveMode::kVerifyMoved,
            [this, leg, followed, before, done = std::move(done)](const Status& status) {
              if (before) AddTo(*before);
              if (!status || leg.leg == 1) return done(status);
              Follow(leg, followed, done);
            });
}

void ChangeTransfer::Follow(const engine::RunPrecopy& leg, const wire::StepDecision& followed,
                            Done done) {
  const auto settings = engine::ParseJobSettings(change_.prepare().settings());
  if (!settings) return done(settings.error());
  if (leg.step < 1 || followed.step() != leg.step) {
    return done(FailedPrecondition(fmt::format(
        "the decision of step {} for the state after step {}", followed.step(), leg.step)));
  }
  const StepUpdate update{
      engine::CoefficientsOf(*settings, leg.step, std::bit_cast<double>(followed.clip())), leg.step,
      followed.skip()};
  const auto copied = LegOf(*context_, leg.leg, change_.TensorsOfLegs(1, leg.leg - 1));
  if (followed_move_) followed_before_ += BytesDone(*followed_move_);
  const Done end = leg.leg < leg.legs ? std::move(done) : Done([this, done](const Status& status) {
    if (!status) return done(status);
    CompareCopies(done);
  });
  followed_move_ = world_.start_move(
      SavedGradientsOf(*copied), MoveMode::kVerifyMoved,
      [this, copied, update, end, lives = std::weak_ptr(lives_)](MoveResult result) {
        if (lives.expired()) return;
        ReportNotes(result);
        if (!result.status) return end(result.status);
        follow_run_ = world_.update_copies(copied, update, [this, end, lives](const Status& made) {
          if (lives.expired()) return;
          follow_run_.reset();
          end(made);
        });
      });
}

// No copy of a leg before was compared with the state that it has followed.
void ChangeTransfer::CompareCopies(Done done) {
  CountFlows();
  const std::optional<MoveResult> before = std::exchange(result_, std::nullopt);
  MoveState(LegOf(*context_, change_.legs(), {}), MoveMode::kVerifyFull,
            [this, before, done = std::move(done)](const Status& status) {
              if (before) AddTo(*before);
              done(status);
            });
}

void ChangeTransfer::ForgetCopies() {
  copied_.reset();
  ahead_.reset();
  taken_ahead_.reset();
  result_.reset();
  if (!move_) return;
  for (const auto& flow : move_->flows()) {
    moved_before_[{flow->source, flow->destination}] += flow->done.load();
  }
  move_.reset();  // is counted
}

// After the commit the update of the next step would wait for them.
void ChangeTransfer::TakeAhead(std::int64_t step) {
  KeptState state{context_, result_->arrived, step, true};
  ahead_ = world_.start_kept_digests(
      std::move(state), [this, step, lives = std::weak_ptr(lives_)](KeptResult result) {
        if (lives.expired() || copied_ != step) return;
        ahead_.reset();
        if (result.status) taken_ahead_ = std::move(result);
        if (auto next = std::exchange(after_ahead_, nullptr)) next();
      });
}

// The registrar compares replicas before it decides, so it gets them with the report.
void ChangeTransfer::AfterAhead(const Status& status, const Done& done) {
  if (!status) return done(status);
  if (ahead_) {
    after_ahead_ = [this, done] { AfterAhead(OkStatus(), done); };
    return;
  }
  if (!taken_ahead_) return CompareReplicas(done);
  digests_.Keep(change_.prepare().transaction(), *context_, taken_ahead_->before,
                taken_ahead_->devices);
  done(OkStatus());
}

// After the commit there is nothing left to compare with.
void ChangeTransfer::CompareReplicas(const Done& done) {
  const wire::Prepare& prepare = change_.prepare();
  // Another state takes the place of the old one, or the transfer reads all of it.
  const bool is_replaced =
      prepare.has_hand_in() || prepare.has_snapshot() || prepare.has_checkpoint();
  if (is_replaced || prepare.verify_full() || !context_ || context_->mixed) return done(OkStatus());
  replicas_read_ = world_.start_move(
      context_, MoveMode::kReplicas,
      [this, lives = std::weak_ptr(lives_), done](const MoveResult& result) {
        if (lives.expired()) return;
        if (result.status) {
          digests_.Keep(change_.prepare().transaction(), *context_, result.before, {});
          replicas_ = result.digests.before;
        }
        done(result.status);
      });
}

std::optional<KeptResult> ChangeTransfer::TakenAhead(std::int64_t step) {
  ahead_.reset();
  if (copied_ != step) return std::nullopt;
  return std::exchange(taken_ahead_, std::nullopt);
}

Status ChangeTransfer::Start(std::int64_t step, const wire::StepDecision& pending, Done done) {
  if (!context_) {  // it is lost with the agent that made it
    return FailedPrecondition(fmt::format("n{} was restarted after it had prepared", node_));
  }
  if (!change_.prepare().has_hand_in()) {
    TESSERA_RETURN_IF_ERROR(change_.CheckStep(devices_, step));
  }
  if (change_.rounds() > 0) {  // they move after the decision
    CompareReplicas(done);
    return OkStatus();
  }
  const bool has_pending = pending.step() != 0;
  const auto with_gradients = [this, pending, done](const Status& status) {
    if (!status) return done(status);
    MoveGradients(pending, done);
  };
  if (copied_ == step && has_pending) {
    const bool reads_all = result_->digests.has_after;
    if (reads_all) {
      digests_.Keep(change_.prepare().transaction(), *context_, result_->before, result_->after);
    }
    MoveGradients(pending, [this, done, reads_all](const Status& status) {
      reads_all ? done(status) : AfterAhead(status, done);
    });
    return OkStatus();
  }
  if (copied_) ForgetCopies();  // all of it moves again
  const auto compare_and_move = [this](MoveMode mode, Done then) {
    CompareReplicas([this, mode, then = std::move(then)](const Status& status) {
      if (!status) return then(status);
      MoveState(context_, mode, then);
    });
  };
  if (has_pending) {
    compare_and_move(MoveMode::kVerifyMoved, with_gradients);
    return OkStatus();
  }
  // The new pieces may lie in the space of the gradients, so these are no longer valid.
  for (const auto& [id, table] : change_.next()) {
    devices_.Find(id)->arena->header().grads_step.store(0);
  }
  if (exchange_) {
    auto context = std::make_shared<MoveContext>(*context_);
    context->exchange = std::exchange(exchange_, nullptr);
    context_ = std::move(context);
  }
  const bool is_full = change_.prepare().verify_full();
  compare_and_move(is_full ? MoveMode::kVerifyFull : MoveMode::kVerifyMoved, std::move(done));
  return OkStatus();
}

void ChangeTransfer::MoveRound(Done done) {
  pages_.reset();
  context_ = change_.MakeContext(devices_, node_, world_.facts.machine, world_.open_checkpoint);
  is_offered_ = true;
  world_.serve(context_);
  const std::optional<MoveResult> before = std::exchange(result_, std::nullopt);
  MoveState(context_, MoveMode::kVerifyMoved,
            [this, before, done = std::move(done)](const Status& status) {
              if (before) AddTo(*before);
              if (status) CountFlows();
              done(status);
            });
}

void ChangeTransfer::CountFlows() {
  if (!move_) return;  // it was stopped when it had just ended
  SendProgress(true);
  for (const auto& flow : move_->flows()) {
    moved_before_[{flow->source, flow->destination}] += flow->total;
  }
}

void ChangeTransfer::AddTo(const MoveResult& before) {
  auto all = std::make_shared<CellArrivals>(*before.arrived);
  all->insert(result_->arrived->begin(), result_->arrived->end());
  result_->arrived = std::move(all);
  result_->checksums_equal += before.checksums_equal;
}

void ChangeTransfer::MoveState(std::shared_ptr<const MoveContext> context, MoveMode mode,
                               Done done) {
  reported_.clear();
  reported_storage_ = 0;
  move_ = world_.start_move(
      std::move(context), mode,
      [this, lives = std::weak_ptr(lives_), done = std::move(done)](MoveResult result) {
        if (lives.expired()) return;
        const StateDigests& taken = result.digests;
        if (taken.has_before || taken.has_after) {
          digests_.Keep(change_.prepare().transaction(), *context_, result.before, result.after);
        }
        result_ = std::move(result);
        ReportNotes(*result_);
        done(result_->status);
      });
}

void ChangeTransfer::MoveGradients(const wire::StepDecision& pending, Done done) {
  const auto gradients = GradientsOf(*context_);
  if (gradients->plan->moves.empty()) {
    StorePending(pending);
    return done(OkStatus());
  }
  gradient_move_ = world_.start_move(
      gradients, MoveMode::kVerifyMoved,
      [this, pending, lives = std::weak_ptr(lives_), done = std::move(done)](MoveResult result) {
        if (lives.expired()) return;
        result_->checksums_equal += result.checksums_equal;
        ReportNotes(result);
        if (result.status) StorePending(pending);
        done(result.status);
      });
}

void ChangeTransfer::ReportNotes(const MoveResult& result) const {
  for (const std::string& note : result.notes) {
    uplink_.ReportNodeEvent(engine::Severity::kWarning, note);
  }
}

void ChangeTransfer::StorePending(const wire::StepDecision& pending) {
  for (const auto& [id, table] : change_.next()) {
    if (change_.IsSource(id)) continue;  // its own rank has stored them
    engine::ArenaHeader& header = devices_.Find(id)->arena->header();
    Store(pending, header);
    header.grads_step.store(static_cast<std::uint64_t>(pending.step()));
  }
}

void ChangeTransfer::Cancel() {
  lives_ = std::make_shared<const bool>(true);
  if (replicas_read_) replicas_read_->Cancel();
  if (followed_move_) followed_move_->Cancel();
  if (move_) move_->Cancel();
  if (gradient_move_) gradient_move_->Cancel();
  // These wait, while the moves end as well.
  ahead_.reset();
  follow_run_.reset();
}

void ChangeTransfer::SendProgress(bool all) {
  if (!move_) return;
  const auto& flows = move_->flows();
  reported_.resize(flows.size());
  wire::FromNode message;
  auto* progress = message.mutable_progress();
  progress->set_transaction(change_.prepare().transaction());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const MoveFlow* const flow = flows[i].get();
    const std::int64_t done = flow->done.load();
    std::string reason = done < flow->total ? flow->note.text() : std::string();
    if (std::pair now(done, reason); all || now != reported_[i])
      reported_[i] = std::move(now);
    else
      continue;
    auto* row = progress->add_flows();
    Encode(flow->source, row->mutable_source());
    Encode(flow->destination, row->mutable_destination());
    const auto before = moved_before_.find({flow->source, flow->destination});
    const std::int64_t earlier = before == moved_before_.end() ? 0 : before->second;
    row->set_bytes_total(earlier + flow->total);
    row->set_bytes_done(earlier + done);
    if (!reason.empty()) row->set_reason(Utf8(reason));
  }
  const std::int64_t storage = move_->storage_done();
  std::int64_t gradients = followed_before_;
  for (const auto* const move : {followed_move_.get(), gradient_move_.get()}) {
    if (move != nullptr) gradients += BytesDone(*move);
  }
  const bool is_known = storage == reported_storage_ && gradients == reported_gradients_;
  if (!all && progress->flows_size() == 0 && is_known) return;
  reported_storage_ = storage;
  reported_gradients_ = gradients;
  progress->set_storage_done(storage);
  progress->set_gradients_done(gradients);
  uplink_.Send(std::move(message));
}

void ChangeTransfer::Describe(wire::TxnReport* report) const {
  StateDigests taken;
  if (result_) {
    report->set_checksums_equal(result_->checksums_equal);
    taken = taken_ahead_ ? taken_ahead_->digests : result_->digests;
  }
  if (replicas_ && !taken.has_before) {
    taken.has_before = true;
    taken.before = *replicas_;
  }
  if (taken.has_before || taken.has_after) Encode(taken, report->mutable_digests());
}

std::optional<KeptState> ChangeTransfer::Kept(std::int64_t step) const {
  if (!context_ || !result_ || !result_->status || result_->digests.has_after) return std::nullopt;
  return KeptState{context_, result_->arrived, step};
}

}  // namespace tessera::agents
