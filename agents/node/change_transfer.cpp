// SPDX-License-Identifier: Apache-2.0
#include "agents/node/change_transfer.h"

#include <fmt/format.h>

#include <utility>

#include "agents/move/digest_wire.h"
#include "agents/node/step_words.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

void ChangeTransfer::Warm() {
  context_ = change_.MakeContext(devices_, node_, world_.facts.machine, world_.open_checkpoint);
  pages_ = world_.warm_pages(context_);
}

void ChangeTransfer::Offer() {
  if (std::exchange(is_offered_, true)) return;
  if (!context_)
    context_ = change_.MakeContext(devices_, node_, world_.facts.machine, world_.open_checkpoint);
  world_.serve(context_);
}

void ChangeTransfer::Precopy(std::int64_t step, std::function<void()> done) {
  // An agent that has restarted fails in Start.
  if (!context_ || !change_.CheckStep(devices_, step)) return done();
  MoveState(MoveMode::kVerifyMoved, [this, step, done = std::move(done)](const Status& status) {
    if (status) {
      copied_ = step;
      TakeAhead(step);
    } else if (status.error().code != ErrorCode::kCancelled) {
      uplink_.ReportNodeEvent(
          engine::Severity::kWarning,
          fmt::format("transaction {} of '{}': the state after step {} is copied in the pause: {}",
                      change_.prepare().transaction(), change_.prepare().job(), step,
                      status.error().ToString()));
    }
    done();
  });
}

// After the commit the update of the next step would wait for them.
void ChangeTransfer::TakeAhead(std::int64_t step) {
  KeptState state{context_, result_->arrived, step, true};
  ahead_ = world_.start_kept_digests(std::move(state),
                                     [this, lives = std::weak_ptr(lives_)](KeptResult result) {
                                       if (lives.expired() || !result.status) return;
                                       taken_ahead_ = std::move(result);
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
  if (change_.rounds() > 0) {  // that comes after the decision
    done(OkStatus());
    return OkStatus();
  }
  const bool has_pending = pending.step() != 0;
  const auto with_gradients = [this, pending, done](const Status& status) {
    if (!status) return done(status);
    MoveGradients(pending, done);
  };
  if (copied_ == step && has_pending) {
    with_gradients(OkStatus());
    return OkStatus();
  }
  if (has_pending) {
    MoveState(MoveMode::kVerifyMoved, with_gradients);
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
  MoveState(is_full ? MoveMode::kVerifyFull : MoveMode::kVerifyMoved, std::move(done));
  return OkStatus();
}

void ChangeTransfer::MoveRound(Done done) {
  pages_.reset();
  context_ = change_.MakeContext(devices_, node_, world_.facts.machine, world_.open_checkpoint);
  is_offered_ = true;
  world_.serve(context_);
  const std::optional<MoveResult> before = std::exchange(result_, std::nullopt);
  MoveState(MoveMode::kVerifyMoved, [this, before, done = std::move(done)](const Status& status) {
    if (before) AddTo(*before);
    if (status && move_) {  // else it was stopped when it had just ended
      SendProgress(true);
      for (const auto& flow : move_->flows()) {
        moved_before_[{flow->source, flow->destination}] += flow->total;
      }
    }
    done(status);
  });
}

void ChangeTransfer::AddTo(const MoveResult& before) {
  auto all = std::make_shared<CellArrivals>(*before.arrived);
  all->insert(result_->arrived->begin(), result_->arrived->end());
  result_->arrived = std::move(all);
  result_->checksums_equal += before.checksums_equal;
}

void ChangeTransfer::MoveState(MoveMode mode, Done done) {
  reported_.clear();
  reported_storage_ = 0;
  move_ = world_.start_move(
      context_, mode,
      [this, lives = std::weak_ptr(lives_), done = std::move(done)](MoveResult result) {
        if (lives.expired()) return;
        const StateDigests& taken = result.digests;
        if (taken.has_before || taken.has_after) {
          digests_.Keep(change_.prepare().transaction(), *context_, result);
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
  ahead_.reset();
  if (move_) move_->Cancel();
  if (gradient_move_) gradient_move_->Cancel();
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
  std::int64_t gradients = 0;
  if (gradient_move_) {
    for (const auto& flow : gradient_move_->flows()) gradients += flow->done.load();
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
  if (!result_) return;
  report->set_checksums_equal(result_->checksums_equal);
  const StateDigests& taken = result_->digests;
  if (taken.has_before || taken.has_after) Encode(taken, report->mutable_digests());
}

std::optional<KeptState> ChangeTransfer::Kept(std::int64_t step) const {
  if (!context_ || !result_ || !result_->status || result_->digests.has_after) return std::nullopt;
  return KeptState{context_, result_->arrived, step};
}

}  // namespace tessera::agents
