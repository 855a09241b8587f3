// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/lost_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

constexpr std::size_t kShown = 4;    // at a terminal
constexpr std::size_t kListed = 64;  // for programs

const std::string& nameOf(const ptc::LostRange& range, const ptc::Layout& from) {
  return from.collection().tensors()[static_cast<std::size_t>(range.tensor)].name;
}

}  // namespace

std::string describeLost(const ptc::Outline& outline, const ptc::Layout& from) {
  if (outline.lost.empty()) return {};
  const std::string head =
      fmt::format("  lost     {}: ", Counted(std::ssize(outline.lost), "device"));
  if (outline.lost_tensors == 0) return head + "all that they held has a live copy\n";
  std::string text =
      fmt::format("{}no live copy of {} in {}: a snapshot or checkpoint must provide it\n", head,
                  formatBytes(outline.lost_bytes), Counted(outline.lost_tensors, "tensor"));
  for (const ptc::LostRange& range : ptc::LostRanges(outline, kShown))
    text += fmt::format("           {} {}\n", nameOf(range, from), ptc::ToString(range.box));
  if (ptc::LostRanges(outline, kShown + 1).size() > kShown) text += "           …\n";
  return text;
}

Json lostToJson(const ptc::Outline& outline, const ptc::Layout& from) {
  Json first = Json::array();
  for (const ptc::LostRange& range : ptc::LostRanges(outline, kListed))
    first.push_back({{"tensor", nameOf(range, from)}, {"range", ptc::ToString(range.box)}});
  return {{"devices", toJson(outline.lost)},
          {"tensors", outline.lost_tensors},
          {"bytes", outline.lost_bytes},
          {"first", std::move(first)}};
}

}  // namespace tessera::app
