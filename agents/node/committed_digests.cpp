// SPDX-License-Identifier: Apache-2.0
#include "agents/node/committed_digests.h"

#include <fmt/format.h>

#include <utility>

#include "agents/move/digest_wire.h"
#include "agents/wire/convert.h"
#include "agents/wire/utf8.h"

namespace tessera::agents {

CommittedDigests::Last& CommittedDigests::Begin(std::int64_t transaction,
                                                const MoveContext& change) {
  Forget(last_ ? last_->job : std::string());
  return last_.emplace(
      Last{transaction, change.key.job, change.from, change.to, change.lost, {}, {}, {}, {}});
}

void CommittedDigests::Complete(KeptResult result) {
  wire::StateDigests& report = last_->report.emplace();
  report.set_transaction(last_->transaction);
  if (result.status) {
    Encode(result.digests, report.mutable_sides());
    last_->before = std::move(result.before);
    last_->after = std::move(result.devices);
  } else {
    report.set_error(Utf8(result.status.error().ToString()));
  }
  Report(report);
}

void CommittedDigests::Take(std::int64_t transaction, KeptState state) {
  Begin(transaction, *state.change).held = state;
  HoldUpdates(state);
  run_ = world_.start_kept_digests(
      std::move(state), [this, run = ++runs_, lives = std::weak_ptr(lives_)](KeptResult result) {
        if (lives.expired() || run != runs_ || !last_) return;
        run_.reset();
        last_->held.reset();
        Complete(std::move(result));
      });
}

void CommittedDigests::Adopt(std::int64_t transaction, const MoveContext& change,
                             KeptResult result) {
  Begin(transaction, change);
  Complete(std::move(result));
}

void CommittedDigests::Keep(std::int64_t transaction, const MoveContext& change,
                            std::vector<DeviceDigests> before, std::vector<DeviceDigests> after) {
  Last& last = Begin(transaction, change);
  last.before = std::move(before);
  last.after = std::move(after);
}

void CommittedDigests::Report(const wire::StateDigests& report) const {
  wire::FromNode message;
  *message.mutable_state_digests() = report;
  uplink_.Send(std::move(message));
}

void CommittedDigests::OnAsk(const wire::AskStateDigests& message) {
  if (last_ && last_->transaction == message.transaction()) {
    if (last_->report) return Report(*last_->report);
    if (run_) return;
  }
  wire::StateDigests none;
  none.set_transaction(message.transaction());
  none.set_error("its agent does not know them any more");
  Report(none);
}

void CommittedDigests::OnAskCells(const wire::AskGroupCells& message) {
  if (!last_ || last_->transaction != message.transaction()) return;
  const ptc::CellOwners owners =
      message.before() ? ptc::CellOwners::kHolders : ptc::CellOwners::kNeeders;
  const ptc::DeviceCells cells(last_->from, last_->to, owners, last_->lost);
  std::vector<DeviceDigests> rows;
  for (const DeviceDigests& device : message.before() ? last_->before : last_->after) {
    std::vector<std::uint64_t> digests = OfGroup(cells, device, message.group());
    if (!digests.empty()) rows.push_back({device.device, std::move(digests)});
  }
  wire::FromNode out;
  auto* answer = out.mutable_group_cells();
  answer->set_transaction(message.transaction());
  answer->set_before(message.before());
  answer->set_group(message.group());
  EncodeDigests(rows, answer->mutable_devices());
  uplink_.Send(std::move(out));
}

void CommittedDigests::Forget(const std::string& job) {
  if (!last_ || last_->job != job) return;
  ++runs_;
  run_.reset();
  if (last_->held) ReleaseUpdates(*last_->held);
  last_.reset();
}

}  // namespace tessera::agents
