// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/follow.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/phase_text.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kApplyPoll{100};
/// A restart of the registrar takes a second. After this long the outcome counts as unknown.
constexpr std::chrono::seconds kSilence{60};

/// Shows the progress of a transaction: a bar on a terminal, JSON or plain lines elsewhere.
class TxnProgress {
 public:
  explicit TxnProgress(bool json) : m_json(json), m_terminal(!json && isatty(STDOUT_FILENO) != 0) {}

  /// \param stepSeconds of the job, as long as it trains
  void show(const engine::TxnStatus& txn, std::optional<double> stepSeconds) {
    const std::string phase(engine::ToString(txn.phase));
    // Before the pause `reason` is what it waits for. Later it is the reason of a rollback, which
    // is printed at the end.
    const bool precopies = txn.phase == engine::TxnPhase::kPrecopying;
    const bool may_wait = precopies || txn.phase == engine::TxnPhase::kPreparing;
    const std::string waits = may_wait ? txn.reason : "";
    const std::int64_t part = txn.round + txn.leg;  // it has rounds or legs, not both
    if (phase == m_phase && txn.bytes_done == m_bytes && waits == m_waits && part == m_part) return;
    const bool samePhase = phase == m_phase && waits.empty() == m_waits.empty() && part == m_part;
    m_part = part;
    m_phase = phase;
    m_bytes = txn.bytes_done;
    m_waits = waits;
    const std::string shown = phaseText(txn, stepSeconds);
    const std::string far = waits.empty() ? fmt::format("{} of {}", formatBytes(txn.bytes_done),
                                                        formatBytes(txn.bytes_total))
                                          : waits;
    if (m_json) {
      Json line = {
          {"phase", phase}, {"done_bytes", txn.bytes_done}, {"total_bytes", txn.bytes_total}};
      if (!waits.empty()) line["waits_for"] = waits;
      if (txn.round > 0) {
        line["round"] = txn.round;
        line["rounds"] = txn.rounds;
      }
      if (txn.legs > 0) {
        line["copying_step"] = txn.leg;
        line["copying_steps"] = txn.legs;
      }
      if (precopies && stepSeconds) line["step_seconds"] = *stepSeconds;
      printLine(line);
    } else if (m_terminal) {
      const double done = static_cast<double>(txn.bytes_done) /
                          static_cast<double>(std::max<std::int64_t>(txn.bytes_total, 1));
      std::string line = fmt::format("{:<13} {} {}", shown, formatBar(done), far);
      if (displayWidth(line) >= terminalWidth()) line = fmt::format("{} {}", shown, far);
      fmt::print("\r\033[K{}", line);
      flushOutput();
    } else if (!samePhase) {
      fmt::print("{} {}\n", shown, far);
      flushOutput();
    }
  }

  /// One line on stderr, below the bar.
  void note(const std::string& text) {
    endLine();
    fmt::print(stderr, "tesseractl: {}\n", text);
    m_phase.clear();
  }

  void endLine() const {
    if (m_terminal && !m_phase.empty()) {
      fmt::print("\n");
      flushOutput();
    }
  }

 private:
  bool m_json;
  bool m_terminal;
  std::string m_phase, m_waits;
  std::int64_t m_bytes = -1;
  std::int64_t m_part = 0;
};

std::string describeMeasured(const engine::MoveInRounds& rounds) {
  if (rounds.rounds == 0) return {};
  std::string text =
      fmt::format("{} rounds; beside the state, planned and measured:", rounds.rounds);
  for (const engine::ExtraMemory& device : rounds.extra)
    text += fmt::format(" {} {} {}", ptc::ToString(device.device), formatBytes(device.planned),
                        formatBytes(device.measured));
  return text + "\n";
}

/// The error of a change after which the layout of the job is not known from its exit code.
int undecided(const std::string& message) {
  printError(FailedPrecondition(message), kNeedsDecision);
  return kNeedsDecision;
}

int finishApply(const Invocation& call, const engine::HistoryEntry& record, TxnProgress& progress) {
  progress.endLine();
  const bool committed = record.result == "committed";
  if (call.json) {
    printLine({{"result", record.result},
               {"epoch", record.epoch},
               {"pause_seconds", record.pause},
               {"moved_bytes", record.bytes_moved},
               {"step", record.step},
               {"transaction", record.id},
               {"volume_bound_bytes", record.volume_bound},
               {"digest_before", record.digest_before},
               {"digest_after", record.digest_after},
               {"move_memory", toJson(record)["move_memory"]},
               {"reason", record.reason}});
  } else if (committed) {
    fmt::print("committed: epoch {}, step {}, {} moved (bound {}), pause {}\n", record.epoch,
               record.step, formatBytes(record.bytes_moved), formatBytes(record.volume_bound),
               formatSeconds(record.pause));
    fmt::print("{}", describeMeasured(record.in_rounds));
    if (record.digest_after.empty())
      fmt::print("digests are not known, see `tesseractl events`\n");
    else
      fmt::print("digest {} before, {} after\n", record.digest_before, record.digest_after);
  }
  if (committed) return kDone;
  if (record.result == "unknown") {
    return undecided(fmt::format(
        "the outcome of transaction {} of job '{}' is unknown: {}; `tesseractl txn show {}` shows "
        "its two layouts",
        record.id, record.job, record.reason, record.id));
  }
  if (record.result == "failed" && record.in_rounds.rounds > 0) {
    return undecided(
        fmt::format("transaction {} failed between two rounds: {}; `tesseractl status` shows how "
                    "job '{}' goes on",
                    record.id, record.reason, record.job));
  }
  return failed(FailedPrecondition(
      fmt::format("transaction {} {}{}", record.id,
                  record.result == "rolled_back" ? "was rolled back, nothing changed" : "failed",
                  record.reason.empty() ? "" : ": " + record.reason)));
}

/// "; `tesseractl txn show 3` shows the outcome".
std::string outcomeOf(std::int64_t id) {
  return fmt::format("; `tesseractl txn show {}` shows the outcome", id);
}

/// Ends with needs_decision or in_doubt.
int unresolved(const Invocation& call, const engine::TxnStatus& txn, const std::string& result,
               const std::string& why, TxnProgress& progress) {
  progress.endLine();
  if (call.json)
    printLine({{"result", result},
               {"epoch", nullptr},
               {"pause_seconds", txn.paused},
               {"moved_bytes", txn.bytes_done},
               {"step", nullptr},
               {"transaction", txn.id},
               {"reason", why}});
  return undecided(fmt::format("transaction {}: {}", txn.id, why));
}

/// The length of a step of the job whose state is copied while it trains. Asks at most once a
/// second.
class StepTime {
 public:
  std::optional<double> of(const engine::TxnStatus& txn, Session& session) {
    if (txn.phase != engine::TxnPhase::kPrecopying || !txn.reason.empty()) return {};
    if (Clock::now() - m_asked < std::chrono::seconds(1)) return m_seconds;
    m_asked = Clock::now();
    const auto snapshot = session.snapshot(std::chrono::seconds(2));
    if (snapshot) m_seconds = stepSecondsOf(*snapshot, txn.job);
    return m_seconds;
  }

 private:
  Clock::time_point m_asked;
  std::optional<double> m_seconds;
};

}  // namespace

int followTransaction(const Invocation& call, Session& session, std::int64_t id) {
  TxnProgress progress(call.json);
  StepTime stepTime;
  engine::TxnStatus last;
  last.id = id;
  int cancelsSent = 0;
  auto lastAnswer = Clock::now();
  const std::chrono::milliseconds silence = session.limit.value_or(kSilence);
  for (;;) {
    if (const int interrupts = numInterrupts(); interrupts > cancelsSent) {
      if (cancelsSent == 0) {
        progress.note("requesting a roll back from the coordinator");
        wire::Request cancel;
        cancel.mutable_cancel()->set_transaction(id);
        const auto reply = session.ask(std::move(cancel));
        // Past the commit there is nothing to roll back; the outcome follows in any case.
        if (!reply) progress.note(reply.error().ToString());
      } else if (cancelsSent == 1) {
        progress.note(
            "still waiting for the outcome, which the coordinator decides in any case; a further "
            "signal ends this program");
      } else {
        return unresolved(call, last, "in_doubt", "this program was interrupted" + outcomeOf(id),
                          progress);
      }
      cancelsSent = interrupts;
    }
    wire::Request request;
    request.mutable_txn()->set_transaction(id);
    const auto reply = session.ask(std::move(request), std::chrono::seconds(2));
    if (reply) {
      lastAnswer = Clock::now();
      if (reply->txn().has_transaction()) {
        auto txn = agents::Decode(reply->txn().transaction());
        if (!txn)
          return unresolved(call, last, "in_doubt", txn.error().ToString() + outcomeOf(id),
                            progress);
        last = std::move(*txn);
        progress.show(last, stepTime.of(last, session));
      }
      if (last.phase == engine::TxnPhase::kNeedsDecision ||
          last.phase == engine::TxnPhase::kInDoubt)
        return unresolved(call, last, std::string(engine::ToString(last.phase)), last.reason,
                          progress);
      if (!reply->txn().record().result().empty()) {
        const auto record = agents::Decode(reply->txn().record());
        if (!record)
          return unresolved(call, last, "in_doubt", record.error().ToString() + outcomeOf(id),
                            progress);
        return finishApply(call, *record, progress);
      }
      if (!reply->txn().has_transaction()) {
        return unresolved(call, last, "in_doubt",
                          "it does not run, and its record has no outcome; `tesseractl events` "
                          "shows what the registrar knows",
                          progress);
      }
    } else if (reply.error().code != ErrorCode::kTimeout &&
               reply.error().code != ErrorCode::kUnavailable) {
      // The key was revoked, or the cluster went down: the transaction ends without this program,
      // and the history can be read in either case.
      return unresolved(
          call, last, "in_doubt",
          fmt::format("{}; `tesseractl history {}` shows the outcome", reply.error().ToString(), id),
          progress);
    } else if (Clock::now() - lastAnswer > silence) {
      return unresolved(call, last, "in_doubt",
                        fmt::format("the registrar at {} has been silent for {:.0f} s{} once it "
                                    "answers",
                                    session.profile.registrar_endpoint,
                                    std::chrono::duration<double>(silence).count(), outcomeOf(id)),
                        progress);
    }
    std::this_thread::sleep_for(kApplyPoll);
  }
}

}  // namespace tessera::app
