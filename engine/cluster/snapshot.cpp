// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "ptc/base/counted.h"
#include "ptc/base/enum_names.h"
#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr EnumNames kNodeStates(NodeState::kLeft,
                                {"joining", "alive", "suspect", "unmanaged", "dead", "left"});
constexpr EnumNames kJobStates(JobState::kUnknown,
                               {"starting", "running", "pausing", "paused", "reconfiguring",
                                "waiting_decision", "suspended", "stopped", "failed", "unknown"});
constexpr EnumNames kTxnPhases(TxnPhase::kInDoubt,
                               {"planned", "preparing", "precopying", "pausing", "transferring",
                                "verifying", "committing", "resuming", "done", "rolling_back",
                                "rolled_back", "failed", "needs_decision", "in_doubt"});
constexpr EnumNames kFlowStates(FlowState::kDone, {"waiting", "moving", "stalled", "done"});
constexpr EnumNames kSeverities(Severity::kError, {"debug", "info", "warning", "error"});
constexpr EnumNames kChangeKinds(ChangeKind::kBegin,
                                 {"reconfigure", "recover", "load", "hand_in", "begin"});
constexpr EnumNames kVerdicts(Check::Verdict::kSkipped, {"ok", "warning", "failed", "skipped"});

template <typename Enum, std::size_t kCount>
Result<Enum> Parse(std::string_view text, const EnumNames<Enum, kCount>& names,
                   std::string_view what) {
  if (const auto value = names.Find(text)) return *value;
  return InvalidArgument(
      fmt::format("{} '{}' is not one of {}", what, Escaped(text), names.Joined("|")));
}

}  // namespace

std::string ToText(const NetworkFaults& faults) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::int64_t count, std::string_view what, std::string_view then) {
    if (count > 0) parts.push_back(fmt::format("{} {}", Counted(count, what), then));
  };
  add(faults.corrupt, "corrupt frame", "requested again");
  add(faults.dropped, "stray frame", "dropped");
  add(faults.switched, "frame", "taken from another holder");
  add(faults.malformed, "malformed message", "dropped");
  add(faults.not_admitted, "request", "not admitted");
  add(faults.connections_closed, "connection", "closed because too many were open");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string_view ToString(NodeState state) { return kNodeStates.Of(state); }
std::string_view ToString(JobState state) { return kJobStates.Of(state); }
std::string_view ToString(TxnPhase phase) { return kTxnPhases.Of(phase); }
std::string_view ToString(ChangeKind kind) { return kChangeKinds.Of(kind); }
std::string_view ToString(FlowState state) { return kFlowStates.Of(state); }
std::string_view ToString(Severity severity) { return kSeverities.Of(severity); }

Result<NodeState> ParseNodeState(std::string_view text) {
  return Parse(text, kNodeStates, "node state");
}
Result<JobState> ParseJobState(std::string_view text) {
  return Parse(text, kJobStates, "job state");
}
Result<ChangeKind> ParseChangeKind(std::string_view text) {
  return Parse(text, kChangeKinds, "kind of change");
}
Result<TxnPhase> ParseTxnPhase(std::string_view text) {
  return Parse(text, kTxnPhases, "transaction phase");
}
Result<Severity> ParseSeverity(std::string_view text) {
  return Parse(text, kSeverities, "severity");
}

NodeNote NoteOf(const NodeStatus& node) {
  NodeNote note{node.node, node.state};
  for (const DeviceStatus& device : node.devices) {
    if (device.failed) note.failed.push_back(device.id.index);
  }
  std::ranges::sort(note.failed);
  return note;
}

std::string ToString(const NodeNote& note) {
  std::string text = std::to_string(note.node) + ' ' + std::string(ToString(note.state));
  for (const std::int32_t device : note.failed) text += ' ' + std::to_string(device);
  return text;
}

Result<NodeNote> ParseNodeNote(std::string_view text) {
  const auto wrong = [&] {
    return InvalidArgument("node note '" + std::string(text) + "': not NODE STATE [DEVICE]...");
  };
  auto next = [rest = text]() mutable {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
  };
  const auto number = [](std::string_view word) -> std::optional<std::int32_t> {
    std::int32_t value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = failure == std::errc() && end == word.data() + word.size();
    return whole && value >= 0 ? std::optional(value) : std::nullopt;
  };
  NodeNote note;
  const auto node = number(next());
  if (!node) return wrong();
  note.node = *node;
  TESSERA_TRY(note.state, ParseNodeState(next()));
  for (std::string_view word = next(); !word.empty(); word = next()) {
    const auto device = number(word);
    const bool ascends = device && (note.failed.empty() || note.failed.back() < *device);
    if (!ascends) return wrong();
    note.failed.push_back(*device);
  }
  return note;
}

bool IsFinal(TxnPhase phase) {
  return phase == TxnPhase::kDone || phase == TxnPhase::kRolledBack || phase == TxnPhase::kFailed;
}

std::string_view ToString(Check::Verdict verdict) { return kVerdicts.Of(verdict); }

Result<Check::Verdict> ParseVerdict(std::string_view text) {
  return Parse(text, kVerdicts, "verdict");
}

std::string ToText(const MoveInRounds& rounds) {
  if (rounds.rounds == 0) return {};
  std::string text = fmt::format("{} {}", rounds.move_memory, rounds.rounds);
  for (const ExtraMemory& device : rounds.extra) {
    text += fmt::format(" {}={}/{}", ptc::ToString(device.device), device.planned, device.measured);
  }
  return text;
}

Result<MoveInRounds> ParseMoveInRounds(const std::string& text) {
  MoveInRounds out;
  if (text.empty()) return out;
  const Error bad = InvalidArgument(fmt::format("'{}' is not a move in rounds", Escaped(text)));
  std::istringstream in(text);
  if (!(in >> out.move_memory >> out.rounds)) return bad;
  for (std::string word; in >> word;) {
    const std::size_t equal = word.find('=');
    const auto device = ptc::ParseDevice(word.substr(0, equal));
    if (!device || equal == std::string::npos) return bad;
    ExtraMemory extra{*device};
    char slash = 0;
    std::istringstream numbers(word.substr(equal + 1));
    if (!(numbers >> extra.planned >> slash >> extra.measured) || slash != '/') return bad;
    out.extra.push_back(extra);
  }
  return out;
}

}  // namespace tessera::engine
