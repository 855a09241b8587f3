// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/rank_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace tessera::agents::train {
namespace {

Result<ptc::Box> BoxOf(const tessera_piece& piece) {
  if (piece.rank < 0 || piece.rank > ptc::kMaxRank) {
    return InvalidArgument(fmt::format("piece of '{}' has rank {}", piece.name, piece.rank));
  }
  std::vector<ptc::Interval> dims;
  for (int d = 0; d < piece.rank; ++d) dims.push_back({piece.begin[d], piece.end[d]});
  return ptc::Box::Make(dims).Context(fmt::format("piece of '{}'", piece.name));
}

using PieceMap = std::map<std::pair<std::string, ptc::Box>, const tessera_piece*>;

template <typename T>
Result<std::span<T>> Elements(const tessera_piece& piece, std::string_view dtype) {
  if (piece.dtype != dtype || piece.data == nullptr) {
    return InvalidArgument(
        fmt::format("piece of '{}' is {} {}, {} in memory is needed", piece.name, piece.dtype,
                    piece.data == nullptr ? "without memory" : "in memory", dtype));
  }
  return std::span(static_cast<T*>(piece.data), static_cast<std::size_t>(piece.num_elements));
}

Result<std::int64_t*> Scalar(const PieceMap& pieces, std::string_view name,
                             std::int64_t num_elements) {
  for (const auto& [key, piece] : pieces) {
    if (key.first != name) continue;
    if (std::string_view(piece->dtype) != "i64" || piece->num_elements != num_elements ||
        piece->data == nullptr) {
      return InvalidArgument(fmt::format("'{}' is {} of {} elements, i64 of {} is needed", name,
                                         piece->dtype, piece->num_elements, num_elements));
    }
    return static_cast<std::int64_t*>(piece->data);
  }
  return NotFound(fmt::format("this rank has no '{}'", name));
}

Result<ParameterPiece> BindParameter(const tessera_piece& piece, const ptc::Box& box) {
  ParameterPiece parameter;
  parameter.name = piece.name;
  parameter.shape.assign(piece.shape, piece.shape + piece.rank);
  parameter.box = box;
  if (std::string_view(piece.dtype) == "bf16") {
    TESSERA_TRY(parameter.bf16, Elements<std::uint16_t>(piece, "bf16"));
  } else {
    TESSERA_TRY(parameter.value, Elements<float>(piece, "f32"));
  }
  if (piece.gradient == nullptr) {
    return InvalidArgument(
        fmt::format("piece {} of '{}' has no gradient", ptc::ToString(box), piece.name));
  }
  parameter.gradient = {static_cast<float*>(piece.gradient),
                        static_cast<std::size_t>(piece.num_elements)};
  return parameter;
}

/// Returns the optimizer state whose exp_avg is `piece`.
Result<OptimizerPiece> BindOptimizer(const PieceMap& pieces, const tessera_piece& piece,
                                     const ptc::Box& box, const ParameterPiece& parameter) {
  OptimizerPiece optimizer;
  TESSERA_TRY(optimizer.exp_avg, Elements<float>(piece, "f32"));
  const auto part = [&](const char* suffix) -> Result<std::span<float>> {
    const auto it = pieces.find({parameter.name + suffix, box});
    if (it == pieces.end()) {
      return InvalidArgument(fmt::format("piece {} of '{}' has no {}", ptc::ToString(box),
                                         parameter.name, suffix + 1));
    }
    return Elements<float>(*it->second, "f32");
  };
  TESSERA_TRY(optimizer.exp_avg_sq, part(".exp_avg_sq"));
  if (!parameter.bf16.empty()) {
    TESSERA_TRY(optimizer.master, part(".master"));
  }
  const auto offset = ptc::ContiguousOffset(parameter.box, box);
  if (!offset) {
    return InvalidArgument(fmt::format("piece {} of '{}' is not one range of its parameter's {}",
                                       ptc::ToString(box), piece.name,
                                       ptc::ToString(parameter.box)));
  }
  optimizer.offset = static_cast<std::size_t>(*offset);
  return optimizer;
}

}  // namespace

std::span<const ParameterPiece> RankState::Find(std::string_view name) const {
  const auto first = std::lower_bound(
      parameters.begin(), parameters.end(), name,
      [](const ParameterPiece& piece, std::string_view wanted) { return piece.name < wanted; });
  auto last = first;
  while (last != parameters.end() && last->name == name) ++last;
  return {first, last};
}

Result<RankState> BindState(std::span<const tessera_piece> pieces) {
  PieceMap by_box;
  for (const tessera_piece& piece : pieces) {
    TESSERA_TRY(const ptc::Box box, BoxOf(piece));
    if (!by_box.emplace(std::pair(std::string(piece.name), box), &piece).second) {
      return InvalidArgument(
          fmt::format("piece {} of '{}' is listed twice", ptc::ToString(box), piece.name));
    }
  }
  RankState state;
  for (const auto& [key, piece] : by_box) {
    if (std::string_view(piece->role) != "param") continue;
    TESSERA_TRY(auto parameter, BindParameter(*piece, key.second));
    state.parameters.push_back(std::move(parameter));
  }
  constexpr std::string_view kExpAvg = ".exp_avg";
  for (const auto& [key, piece] : by_box) {
    if (std::string_view(piece->role) != "exp_avg") continue;
    const auto& [name, box] = key;
    const std::string_view owner = std::string_view(name).substr(
        0, name.ends_with(kExpAvg) ? name.size() - kExpAvg.size() : 0);
    const auto of_owner = state.Find(owner);
    const auto parameter =
        std::find_if(of_owner.begin(), of_owner.end(), [&box = box](const ParameterPiece& p) {
          return p.box.rank() == box.rank() && ptc::Contains(p.box, box);
        });
    if (parameter == of_owner.end()) {
      return InvalidArgument(
          fmt::format("piece {} of '{}' belongs to no parameter", ptc::ToString(box), name));
    }
    TESSERA_TRY(auto optimizer, BindOptimizer(by_box, *piece, box, *parameter));
    state.parameters[static_cast<std::size_t>(&*parameter - state.parameters.data())]
        .optimizer.push_back(std::move(optimizer));
  }
  for (ParameterPiece& parameter : state.parameters) {
    auto& ranges = parameter.optimizer;
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i - 1].offset + ranges[i - 1].size() > ranges[i].offset) {
        return InvalidArgument(fmt::format("optimizer pieces of '{}' overlap", parameter.name));
      }
    }
  }
  TESSERA_TRY(state.step, Scalar(by_box, "job.step", 1));
  TESSERA_TRY(state.cursor, Scalar(by_box, "job.cursor", 3));
  return state;
}

}  // namespace tessera::agents::train
