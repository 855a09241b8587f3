// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/rank_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
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

Result<std::span<float>> Floats(const tessera_piece& piece, void* memory) {
  if (std::string_view(piece.dtype) != "f32" || memory == nullptr) {
    return InvalidArgument(fmt::format("piece of '{}' is {} {}, f32 in memory is needed",
                                       piece.name, piece.dtype,
                                       memory == nullptr ? "without memory" : "in memory"));
  }
  return std::span(static_cast<float*>(memory), static_cast<std::size_t>(piece.num_elements));
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

}  // namespace

std::span<const ParameterPiece> RankState::Find(std::string_view name) const {
  const auto [first, last] = std::equal_range(
      parameters.begin(), parameters.end(), name, [](const auto& a, const auto& b) {
        const auto key = [](const auto& x) -> std::string_view {
          if constexpr (requires { x.name; }) {
            return x.name;
          } else {
            return x;
          }
        };
        return key(a) < key(b);
      });
  return {first, last};
}

Result<RankState> BindState(std::span<const tessera_piece> pieces) {
  PieceMap by_box;
  for (const tessera_piece& piece : pieces) {
    TESSERA_TRY(const ptc::Box box, BoxOf(piece));
    if (!by_box.emplace(std::pair(std::string(piece.name), box), &piece).second) {
      return InvalidArgument(
          fmt::format("piece {} of '{}' comes twice", ptc::ToString(box), piece.name));
    }
  }
  RankState state;
  for (const auto& [key, piece] : by_box) {
    if (std::string_view(piece->role) != "param") continue;
    const auto& [name, box] = key;
    ParameterPiece parameter;
    parameter.name = name;
    parameter.shape.assign(piece->shape, piece->shape + piece->rank);
    parameter.box = box;
    TESSERA_TRY(parameter.value, Floats(*piece, piece->data));
    TESSERA_TRY(parameter.gradient, Floats(*piece, piece->gradient));
    const std::pair<const char*, std::span<float>*> moments[] = {
        {".exp_avg", &parameter.exp_avg}, {".exp_avg_sq", &parameter.exp_avg_sq}};
    for (const auto& [suffix, span] : moments) {
      const auto it = by_box.find({name + suffix, box});
      if (it == by_box.end()) {
        return InvalidArgument(
            fmt::format("piece {} of '{}' has no {}", ptc::ToString(box), name, suffix + 1));
      }
      TESSERA_TRY(*span, Floats(*it->second, it->second->data));
    }
    state.parameters.push_back(std::move(parameter));
  }
  TESSERA_TRY(state.step, Scalar(by_box, "job.step", 1));
  TESSERA_TRY(state.cursor, Scalar(by_box, "job.cursor", 3));
  return state;
}

}  // namespace tessera::agents::train
