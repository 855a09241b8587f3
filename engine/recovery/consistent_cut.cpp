// SPDX-License-Identifier: Apache-2.0
#include "engine/recovery/consistent_cut.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::engine {
namespace {

/// Why the state of the device cannot be used at any step; empty if it can.
std::string WhyUnusable(const HeldState& s) {
  const std::string name = ToString(s.device);
  if (s.node == HeldState::Node::kGone) return fmt::format("n{} was lost", s.device.node);
  if (s.failed) return fmt::format("{} failed", name);
  if (!s.holds_state) return fmt::format("{} no longer holds the state", name);
  if (s.begin != s.end) {
    return fmt::format("{} holds half of the update of step {}", name, s.begin);
  }
  return {};
}

}  // namespace

ConsistentCut FindConsistentCut(std::span<const HeldState> devices, bool can_follow) {
  ConsistentCut cut;
  for (const HeldState& s : devices) {
    if (s.node == HeldState::Node::kSilent) {
      cut.waits_for = fmt::format("n{} is not there", s.device.node);
      return cut;
    }
    if (s.node == HeldState::Node::kUnsettled) {
      cut.waits_for = fmt::format("n{} still has to follow the outcome of a change", s.device.node);
      return cut;
    }
    if (s.node == HeldState::Node::kThere && s.has_rank) {
      cut.waits_for = fmt::format("the rank on {} is still ending", ToString(s.device));
      return cut;
    }
  }

  std::vector<std::string> why;
  const HeldState* decided = nullptr;
  for (const HeldState& s : devices) {
    why.push_back(WhyUnusable(s));
    if (why.back().empty()) cut.step = std::max(cut.step, s.end);
    // The decision on a device that cannot be used is still that of all ranks.
    const bool has_header = s.node == HeldState::Node::kThere && s.holds_state;
    if (has_header && (!decided || s.decision.step > decided->decision.step)) decided = &s;
  }
  const auto can_make = [&](const HeldState& s, std::int64_t step) {
    return can_follow && decided && decided->decision.step == step && s.end + 1 == step &&
           s.grads_step == step;
  };
  // An update that is decided and made nowhere is made on all devices, or the step is made again.
  bool has_intact = false, can_all = true;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!why[i].empty()) continue;
    has_intact = true;
    can_all = can_all && can_make(devices[i], cut.step + 1);
  }
  if (has_intact && can_all) ++cut.step;

  for (std::size_t i = 0; i < devices.size(); ++i) {
    const HeldState& s = devices[i];
    if (why[i].empty() && s.end != cut.step) {
      if (can_make(s, cut.step)) {
        cut.behind.push_back(s.device);
        cut.decision = decided->decision;
      } else {
        why[i] = fmt::format("{} is after step {}, others after step {}", ToString(s.device), s.end,
                             cut.step);
      }
    }
    if (!why[i].empty()) cut.lost.push_back({s.device, why[i]});
  }
  return cut;
}

std::string ReasonOf(std::span<const LostDevice> lost) {
  std::string text;
  std::vector<std::string_view> said;
  for (const LostDevice& device : lost) {
    if (std::find(said.begin(), said.end(), device.why) != said.end()) continue;
    said.push_back(device.why);
    if (!text.empty()) text += ", ";
    text += device.why;
  }
  return text;
}

}  // namespace tessera::engine
