# SPDX-License-Identifier: Apache-2.0
"""Errors that tests have to find.

Each is a name and edits of (file, text, replacement). A text must occur exactly once. The simulation
of clusters has to find those of MUTANTS, and the tests that UNIT_MUTANTS names those after them.
"""

RUN = "agents/registrar/transaction_run.cpp"
TXN = "agents/registrar/transaction_desk.cpp"
TXN_HEADER = "agents/registrar/transaction.h"
ACTIONS = "agents/registrar/transaction_actions.cpp"
OUTCOME = "agents/registrar/transaction_outcome.cpp"
DECISIONS = "agents/registrar/decisions.cpp"
NODES = "agents/registrar/registrar_nodes.cpp"
STEPS = "agents/registrar/step_recorder.cpp"
LOSSES = "agents/registrar/loss_desk.cpp"
RESTART = "agents/registrar/restarter.cpp"
AGENT = "agents/node/node_agent.cpp"
DESK = "agents/node/node_transactions.cpp"
NODE_TXN = "agents/node/node_transaction.cpp"
PART = "agents/node/transaction_part.cpp"
TRANSFER = "agents/node/change_transfer.cpp"
ADOPTION = "agents/node/adoption.cpp"
CHANGE_RANKS = "agents/node/change_ranks.cpp"
STARTER = "agents/node/rank_starter.cpp"
HELD = "agents/node/held_state.cpp"
EVENTS = "agents/node/rank_events.cpp"
EXITS = "agents/node/rank_exits.cpp"
ENDS = "agents/node/rank_ends.cpp"
REPORTS = "agents/node/step_reports.cpp"
COMMITTED = "agents/node/committed_digests.cpp"
COORDINATOR = "engine/txn/coordinator.cpp"
PARTICIPANT = "engine/txn/participant.cpp"
CUT = "engine/recovery/consistent_cut.cpp"

MUTANTS = [
    ("an event is handled inside the actions of another", [
        (RUN, "  if (draining_) return;\n", ""),
        (RUN, "    events_.push_back(engine::NodeRefused{prepare->node, sent.error().ToString()});",
         "    Feed(engine::NodeRefused{prepare->node, sent.error().ToString()});")]),
    ("a participant that never returns is waited for", [
        (ACTIONS, "    if (!Membership::IsSilent(*node) && !is_suspect) continue;\n", "    if (is_suspect || number >= 0) continue;\n")]),
    ("a round begins before all have verified the one before", [
        (COORDINATOR, "            if (round() == 0 || e.round != round_) return {};\n",
         "            if (round() == 0 || e.round != round_) return {};\n            if (e.node >= 0) return StartRound();\n")]),
    ("a round is reported before it is journaled", [
        (PARTICIPANT, "            return {JournalState{state_, moved_}, Report{ReportKind::kMoved, {}, 0, moved_}};",
         "            return {Report{ReportKind::kMoved, {}, 0, moved_}};")]),
    ("rounds that were given up count one more than all have verified", [
        (COORDINATOR, "            return GiveUp(e.reason, round_ - 1);", "            return GiveUp(e.reason, round_);")]),
    ("a device that was lost and has joined a move counts for what it held before", [
        (OUTCOME, "txn_->before->where.After(txn_->planned.to, moved, lost)",
         "txn_->before->where.After(txn_->planned.to, moved)")]),
    ("what could be done before rounds were given up is done after them", [
        (LOSSES, "      job.device_loss.reset();  // its state lies elsewhere now\n", "")]),
    ("a node in doubt gets abort without a look at the register", [
        (DECISIONS, "                   if (*held) return then(**held);",
         "                   if (*held) return then(engine::AbortOf(asked.transaction));")]),
    ("a promise that the journal refuses is made", [
        (PART, "  events_.push_front(engine::JournalFailed{state, std::move(put)});\n  return false;",
         "  return true;"),
        (NODE_TXN, "  TESSERA_RETURN_IF_ERROR(world_.machine.journal->Reserve());", "")]),
    ("an old decision of the slot counts for a new transaction", [
        (OUTCOME, "  job->slot = txn_->slot + 1;", "  job->slot = txn_->slot;"),
        (DECISIONS, "    then(*last + 1);", "    then(1);"),
        (RUN, "      held->transaction == terms_.id && (!held->commit || held->layout_hash == terms_.layout_hash);",
         "      true;"),
        (PART, "decision.commit && decision.transaction == terms_.id;", "decision.commit;"),
        (PART, "  if (commit && decision.layout_hash != terms_.layout_hash) {", "  if (false) {")]),
    ("the outcome is published before the register holds it", [
        (RUN, "      [this, commit, alive = std::weak_ptr(alive_)](const Result<engine::Decision>& held) {",
         "      [this, commit, decision, alive = std::weak_ptr(alive_)](const Result<engine::Decision>& held) {"),
        (RUN, "        OnWritten(commit, held);",
         "        OnWritten(commit, held ? held : Result<engine::Decision>(decision));"),
        (TXN, "    return journal_.Reserve();", "    return OkStatus();")]),
    ("commit before all have verified", [
        (COORDINATOR, "return compared_ && Answered(e.node, TxnPhase::kVerifying) ? Decide(true) : Actions{};",
         "return compared_ && e.node >= 0 && phase_ == TxnPhase::kVerifying ? Decide(true) : Actions{};")]),
    ("ranks resume before all have flipped", [
        (COORDINATOR, "            return Answered(e.node, phase_) ? OnFollowed() : Actions{};\n          },\n          [&](const NodeRestarted",
         "            return e.node >= 0 ? OnFollowed() : Actions{};\n          },\n          [&](const NodeRestarted")]),
    ("a node lets its ranks go before all have flipped", [
        (PARTICIPANT, "            return {Report{ReportKind::kCommitted, {}, 0}};\n          },\n          [&](const CleanedUp&)",
         "            return {Report{ReportKind::kCommitted, {}, 0}, ReleaseRanks{}, Forget{}};\n          },\n          [&](const CleanedUp&)")]),
    ("a node that has verified aborts alone", [
        (PARTICIPANT, "            return {ReadRegister{true}};",
         "            state_ = State::kAborted;\n            return {JournalState{state_}, CleanUp{}};")]),
    ("a node flips when it has verified", [
        (PARTICIPANT, "            return {JournalState{state_}, Report{ReportKind::kVerified, {}, 0}};",
         "            return {JournalState{state_}, Report{ReportKind::kVerified, {}, 0}, FlipAndAdopt{}};")]),
    ("a stale plan is accepted", [
        (TXN, "  if (!request.plan_hash().empty() && request.plan_hash() != summary.hash) {",
         "  if (request.plan_hash() == \"none\") {")]),
    ("begin equal to end is taken for a cut", [
        (CUT, "    if (why[i].empty() && s.end != cut.step) {", "    if (why[i].empty() && s.end > cut.step) {"),
        (HELD, "      (end != step && !lags)) {", "      end > step) {")]),
    ("a device that is behind is not brought forward", [
        (RESTART, "    if (!cut.lost.empty() && !cut.behind.empty()) {",
         "    if (!cut.lost.empty() && cut.behind.size() > 1000) {")]),
    ("the exit of a rank that has left is taken for a loss", [
        (EXITS, "  const bool exit_expected = rank->exit_expected || !belongs;",
         "  const bool exit_expected = belongs && false;"),
        (NODES, "  if (!is_of_job || m.joining()) return;",
         "  if (!job) return;")]),
    ("a restarted agent does not look for ranks that have left", [
        (EVENTS, "    if (HasLeft(id)) world_.ranks.Retire(rank);", "    if (HasLeft(id)) rank.last_line = {};"),
        (EVENTS, "  if (HasLeft(id)) return world_.ranks.Retire(*rank);", "  if (HasLeft(id)) return;")]),
    ("a device gets a second rank", [
        (STARTER, "  TESSERA_RETURN_IF_ERROR(ranks_.CheckFree(device));", "")]),
    ("a restarted agent forgets the transaction", [
        (DESK, "  if (!kept) return OkStatus();\n", "  if (kept) return TransactionPart::Clear(*world_.machine.journal);\n  if (!kept) return OkStatus();\n")]),
    ("a restarted registrar forgets the transaction", [
        (OUTCOME, "  if (!text) {\n    CloseRecords(0);", "  if (text) return journal_.Erase(kTxnKey);\n  if (!text) {\n    CloseRecords(0);")]),
    ("a transaction is forgotten before the row of its job is written", [
        (ADOPTION, "  if (stays && !is_job_journaled_) is_job_journaled_ = jobs_.Journal(*job).has_value();\n  return !stays || is_job_journaled_;",
         "  return stays || !stays;"),
        (NODE_TXN, "  TESSERA_RETURN_IF_ERROR(world_.machine.journal->Reserve());", "")]),
    ("nobody compares what nodes hold with what jobs need", [
        (NODES, "    CheckHeld(node);", "")]),
    ("a restarted participant goes on preparing", [
        (PARTICIPANT, "  p.must_abort_ = state < State::kVerified;", "  p.must_abort_ = false;"),
        (COORDINATOR, "            return Abort(fmt::format(\"the agent of n{} restarted\", e.node));",
         "            return On(NodeReconnected{e.node});"),
        (TRANSFER, "  if (!context_) {  // it is lost", "  if (!context_) Offer();\n  if (!context_) {  // it is lost")]),
    ("the ranks of a paused job train after a change", [
        (CHANGE_RANKS, "SendGo(id, p.epoch(), stay_paused)", "SendGo(id, p.epoch(), stay_paused && p.epoch() == 0)")]),
    ("updates are not held while digests are taken", [
        (COMMITTED, "  HoldUpdates(state);\n", "")]),
    ("a decision that not all ranks have is followed by one", [
        (HELD, "    if (header.decision_step.load() > step) header.decision_step.store(0);\n", "")]),
    ("what is held of a job that is elsewhere is kept", [
        (NODES, "    ForgetStaleState(node);", "")]),
    ("requests are not repeated", [
        (ACTIONS, "  RepeatRequests(now);", "")]),
    ("reports are not repeated", [
        (AGENT, "    transactions_.RepeatReport();\n", "")]),
    ("the step of another timeline is recorded", [
        (STEPS, "  if (!job || m.timeline() != job->timeline) return;", "  if (!job) return;")]),
    ("steps are not repeated", [
        (REPORTS, "  if (recent == recent_.end()) return;", "  if (after >= 0) return;\n  if (recent == recent_.end()) return;")]),
    ("the step of a cut is not recorded", [
        (STEPS, "    OnStep(report);\n    return Flush();", "    return;")]),
    ("ranks are killed inside an update", [
        (ENDS, "    if ((is_behind || is_in_update) && timers_.now() <= limit) {", "    if (is_behind && is_in_update && timers_.now() > limit) {")]),
    ("a restarted agent does not offer the cells of a round", [
        (NODE_TXN, "  if (change_.AdvanceTo(world_.devices, round, step)) transfer_.Offer();",
         "  if (round < 0 && change_.AdvanceTo(world_.devices, round, step)) transfer_.Offer();")]),
    ("a joining device does not get the decision of its gradients", [
        (TRANSFER, "        if (result.status) StorePending(pending);\n", "")]),
    ("nodes copy a state before all have it", [
        (COORDINATOR, "  if (ahead_ != Ahead::kReaching || !Answered(node, TxnPhase::kPrecopying)) return {};",
         "  if (ahead_ != Ahead::kReaching || (!Answered(node, TxnPhase::kPrecopying) && phase_ != TxnPhase::kPrecopying)) return {};")]),
    ("copies do not get the update of the step that they follow", [
        (TRANSFER, "  const Done end = leg.leg < leg.legs ? std::move(done) :", "  const Done end = leg.leg > 0 ? std::move(done) :"),
        (TRANSFER, "        follow_run_ = world_.update_copies(copied, update, [",
         "        if (update.step > 0) return end(OkStatus());\n        follow_run_ = world_.update_copies(copied, update, ["),
        (TXN_HEADER, "(recovery && recovery->steps_lost) || follows;", "(recovery && recovery->steps_lost) || (follows && id < 0);")]),
]

SOURCES = "ptc/plan/sources.cpp"
MOVES = "ptc/plan/moves.cpp"
COPY = "agents/move/mover_copy.cpp"
RECEIVE = "agents/move/mover_receive.cpp"
CURSOR = "engine/data/cursor.cpp"
CLIENTS = "agents/registrar/clients.cpp"
KEY_OWNER = "agents/net/key_owner.cpp"

# Driver and tests, and the errors of their part: planner, mover, transfer, cursor, roles.
UNIT_MUTANTS = [
    ("ptc_tests", ["plan_test", "bound_test"], [
        ("planner: a holder on the same host is not preferred", [
            (SOURCES, "      const bool is_near = holders.OnHost(host).has_value();\n",
             "      const bool is_near = holders.OnHost(host).has_value() && host < 0;\n")]),
        ("planner: all bytes of a host leave by its first device", [
            (SOURCES, "      for (Share& piece : of_load) piece.port = devices[At(piece.port)];",
             "      for (Share& piece : of_load) piece.port = devices[At(piece.port - piece.port)];")]),
        ("planner: hosts do not share the network", [
            (SOURCES, "    return Divide(loads, speeds, floor, network_.out);",
             "    for (Load& load : loads) load.ports.resize(1);\n"
             "    return Divide(loads, speeds, floor, network_.out);")]),
        ("planner: state is dropped before it is copied", [
            (MOVES, "    return a.move.index() < b.move.index();", "    return a.move.index() > b.move.index();")]),
    ]),
    ("agents_tests", ["mover_test"], [
        ("mover: the digest of a copied cell is not compared", [
            (COPY, "      if (digest == *copies.digest) continue;", "      if (digest != 1) continue;")]),
        ("mover: the memory of another node is known by its path alone", [
            (COPY, "  if (token == 0 || arena->header().token.load() != token) {", "  if (token == 0) {")]),
        ("mover: what arrives from another host is not noted", [
            (RECEIVE, "    arrived_.emplace(std::tuple(move.device, move.tensor, move.cell), digest);",
             "    if (digest == 1) arrived_.emplace(std::tuple(move.device, move.tensor, move.cell), digest);")]),
    ]),
    ("agents_tests", ["change_transfer_test"], [
        ("transfer: what had ended before a cancellation begins the next move", [
            (TRANSFER, "void ChangeTransfer::Cancel() {\n  lives_ = std::make_shared<const bool>(true);\n",
             "void ChangeTransfer::Cancel() {\n")]),
        ("transfer: a cancellation waits for the threads of a move", [
            (TRANSFER, "  if (move_) move_->Cancel();\n", "  move_.reset();\n")]),
    ]),
    ("engine_tests", ["data_order_test"], [
        ("cursor: the pass does not advance", [
            (CURSOR, "cursor.pass + position / num_samples, position", "cursor.pass, position")]),
        ("cursor: each pass has the order of the first one", [
            (CURSOR, "OrderKey(cursor.seed, cursor.pass + at / num_samples)", "OrderKey(cursor.seed, 0 * at)")]),
        ("cursor: the samples of all ranks begin at the same place", [
            (CURSOR, "cursor.next + end - static_cast<std::int64_t>(rest.size());",
             "cursor.next + end - begin - static_cast<std::int64_t>(rest.size());")]),
    ]),
    ("agents_tests", ["clients_test", "node_files_test"], [
        ("roles: a viewer may do what a later version adds", [
            (CLIENTS, "      return false;  // also what", "      return true;  // also what")]),
        ("roles: a viewer measures the links", [
            (CLIENTS, "      return !request.topology().measure();", "      return true;")]),
        ("roles: a node's key asks like a viewer's", [
            (CLIENTS, "(owner.role == Role::kViewer && OnlyLooks(request))", "OnlyLooks(request)")]),
        ("roles: what follows the number of a node is ignored", [
            (KEY_OWNER, "error == std::errc() && end == number.data() + number.size() && owner.node >= 0",
             "error == std::errc() && end != nullptr && owner.node >= 0")]),
    ]),
]
