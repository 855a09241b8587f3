// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/cut_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tessera::app {
namespace {

std::string names(const std::vector<ptc::Axis>& axes) {
  std::string text;
  for (const ptc::Axis axis : axes) {
    if (!text.empty()) text += ',';
    text += ToString(axis);
  }
  return text;
}

std::string describeDimCut(const ptc::DimCut& cut) {
  if (cut.axes.empty()) return "whole";
  std::string text = "over " + names(cut.axes);
  if (cut.heads)
    text += cut.heads->of_query
                ? fmt::format(" by {} query heads of {} groups", cut.heads->query, cut.heads->kv)
                : fmt::format(" by {} kv heads", cut.heads->kv);
  if (cut.split == ptc::Split::kCeil)
    text += cut.multiple > 1 ? fmt::format(" rounded up to {}", cut.multiple) : " rounded up";
  return text;
}

}  // namespace

std::string describeCut(const ptc::TensorSpec& spec) {
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < spec.rule.dims.size(); ++d) {
    const ptc::DimCut& cut = spec.rule.dims[d];
    if (spec.segments && spec.segments->dim == static_cast<int>(d)) {
      std::vector<std::string> blocks;
      bool isCut = false;
      for (const ptc::Segment& block : spec.segments->blocks) {
        const ptc::DimCut& own = block.cut.value_or(cut);
        isCut = isCut || !own.axes.empty();
        blocks.push_back(fmt::format("{} {}", block.size, describeDimCut(own)));
      }
      if (isCut) parts.push_back(fmt::format("dim {}: {}", d, fmt::join(blocks, " | ")));
    } else if (!cut.axes.empty()) {
      parts.push_back(fmt::format("dim {} {}", d, describeDimCut(cut)));
    }
  }
  if (!spec.rule.flat.empty())
    parts.push_back(fmt::format("flat over {}{}", names(spec.rule.flat),
                                spec.rule.bucket.empty() ? "" : " in buckets"));
  if (spec.expert) parts.push_back(fmt::format("{} experts over ep", spec.expert->count));
  return parts.empty() ? "replicated" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string describeStage(const ptc::TensorSpec& spec) {
  if (spec.place == ptc::StagePlace::kLayer) return "its layer's";
  std::string text(ToString(spec.place));
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace tessera::app
