// SPDX-License-Identifier: Apache-2.0
/// \file
/// Spreads a copy over steps.

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/search/kind_pieces.h"
#include "engine/search/overlap.h"
#include "ptc/base/at.h"
#include "ptc/plan/kinds.h"

namespace tessera::engine {
namespace {

constexpr double kOfAStep = 0.9;     // the rest is for what the estimates do not know
constexpr double kLeastPart = 0.02;  // of the state, in one step
constexpr std::size_t kMostSteps = 32;

/// A parameter with its optimizer state.
struct ParameterState {
  int kind = 0;  // of the parameter
  std::vector<int> tensors;
  std::int64_t bytes = 0;  // that are written anew, on all devices together
};

/// By index of kinds.staged: the bytes of one tensor that do not stay where they are.
std::vector<std::int64_t> FreshBytes(const ptc::Kinds& kinds, const ptc::Layout& from,
                                     const ptc::Layout& to) {
  std::vector<std::int64_t> out;
  for (const ptc::KindOnStages& staged : kinds.staged) {
    const std::int64_t element = ptc::SizeBytes(kinds.kinds[At(staged.kind)].from_dtype);
    std::int64_t bytes = 0;
    for (int rank = 0; rank < to.mesh().num_ranks(); ++rank) {
      const ptc::DeviceId device = to.mesh().devices()[At(rank)];
      const auto [held, needed] = PiecesOn(kinds, staged, from.mesh().RankOf(device), rank);
      for (const ptc::Box& piece : needed) {
        if (ptc::KeptIn(held, piece) == nullptr) bytes += piece.num_elements() * element;
      }
    }
    out.push_back(bytes);
  }
  return out;
}

bool IsOptimizerState(ptc::TensorRole role) {
  return role == ptc::TensorRole::kMaster || role == ptc::TensorRole::kExpAvg ||
         role == ptc::TensorRole::kExpAvgSq;
}

}  // namespace

std::vector<std::vector<int>> SpreadOverSteps(const ptc::Outline& plan, const ptc::Layout& from,
                                              const ptc::Layout& to, const CopyTimes& times) {
  const auto& tensors = from.collection().tensors();
  const std::vector<std::int64_t> fresh = FreshBytes(*plan.kinds, from, to);
  const auto staged = [&](std::size_t t) { return At(plan.kinds->staged_of_tensor[t]); };
  std::map<std::string_view, ParameterState> groups;  // by the name of the parameter
  std::vector<int> last;
  double all = 0;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::string_view name = tensors[t].name;
    const bool is_param = tensors[t].role == ptc::TensorRole::kParam;
    if (!is_param && !IsOptimizerState(tensors[t].role)) {
      last.push_back(static_cast<int>(t));
      continue;
    }
    ParameterState& group = groups[is_param ? name : name.substr(0, name.rfind('.'))];
    if (is_param) group.kind = plan.kinds->staged[staged(t)].kind;
    group.tensors.push_back(static_cast<int>(t));
    group.bytes += fresh[staged(t)];
    all += static_cast<double>(fresh[staged(t)]);
  }
  std::vector<const ParameterState*> order;
  for (const auto& [name, group] : groups) order.push_back(&group);
  std::stable_sort(
      order.begin(), order.end(), [](const ParameterState* a, const ParameterState* b) {
        return std::tie(a->kind, a->tensors.front()) < std::tie(b->kind, b->tensors.front());
      });

  std::vector<std::vector<int>> legs;
  double copied = 0, room = 0;  // parts of the state; `room` of this leg
  for (const ParameterState* group : order) {
    const double part = all > 0 ? static_cast<double>(group->bytes) / all : 0;
    if (legs.empty() || (room < part && part > 0)) {
      room = (kOfAStep * times.step - copied * times.gradients) / times.state;
      if (room < std::max(kLeastPart, part) || legs.size() == kMostSteps) return {};
      legs.emplace_back();
    }
    room -= part;
    copied += part;
    legs.back().insert(legs.back().end(), group->tensors.begin(), group->tensors.end());
  }
  if (legs.empty()) return {};
  legs.back().insert(legs.back().end(), last.begin(), last.end());
  for (std::vector<int>& leg : legs) std::sort(leg.begin(), leg.end());
  return legs;
}

}  // namespace tessera::engine
