// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/mixed_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace tessera::ptc {

Result<MixedPlan> MakeMixedPlan(const MixedLayout& from, const Layout& to, const Topology& topology,
                                const PlanOptions& options) {
  MixedPlan plan;
  std::vector<std::uint64_t> words;
  for (const LayoutPart& part : from.parts()) {
    PlanOptions of_part = options;
    of_part.relaying = Relaying::kNever;
    of_part.only = &part.tensors;
    of_part.lost.insert(of_part.lost.end(), part.lost.begin(), part.lost.end());
    TESSERA_TRY(Outline outline, MakeOutline(part.layout, to, topology, of_part));
    words.push_back(outline.hash);
    words.push_back(part.tensors.size());
    words.insert(words.end(), part.tensors.begin(), part.tensors.end());
    plan.outlines.push_back(std::move(outline));
  }
  plan.hash = XXH3_64bits(words.data(), words.size() * sizeof(std::uint64_t));
  return plan;
}

DeviceMoves MovesOf(const MixedPlan& plan, const MixedLayout& from, const Layout& to,
                    std::span<const DeviceId> devices) {
  DeviceMoves all;
  for (std::size_t p = 0; p < plan.outlines.size(); ++p) {
    DeviceMoves moves = MovesOf(plan.outlines[p], from.parts()[p].layout, to, devices);
    std::ranges::move(moves.moves, std::back_inserter(all.moves));
    std::ranges::move(moves.reads, std::back_inserter(all.reads));
  }
  // Those of one tensor are of one part, and in order.
  std::ranges::stable_sort(all.moves, {}, [](const Move& move) {
    return std::visit([](const auto& m) { return m.tensor; }, move);
  });
  std::ranges::stable_sort(all.reads, {}, &StorageRead::tensor);
  return all;
}

PlanFigures FiguresOf(const MixedPlan& plan) {
  PlanFigures out;
  for (const Outline& outline : plan.outlines) {
    const PlanFigures part = FiguresOf(outline);
    out.to_hash = part.to_hash;
    out.lost_tensors += part.lost_tensors;
    out.lost_bytes += part.lost_bytes;
    out.bytes.kept += part.bytes.kept;
    out.bytes.device += part.bytes.device;
    out.bytes.host += part.bytes.host;
    out.bytes.network += part.bytes.network;
    out.bytes.storage += part.bytes.storage;
    out.network_direct += part.network_direct;
    out.single_source_pieces += part.single_source_pieces;
    out.single_source_bytes += part.single_source_bytes;
    if (part.transfer_seconds >= out.transfer_seconds) {
      out.transfer_seconds = part.transfer_seconds;
      out.busiest_port = part.busiest_port;
    }
  }
  out.hash = plan.hash;
  return out;
}

std::vector<DeviceFlow> DeviceFlows(const MixedPlan& plan) {
  std::map<std::pair<DeviceId, DeviceId>, std::int64_t> bytes;
  for (const Outline& part : plan.outlines) {
    for (const DeviceFlow& flow : DeviceFlows(part))
      bytes[{flow.source, flow.device}] += flow.bytes;
  }
  std::vector<DeviceFlow> out;
  for (const auto& [pair, sum] : bytes) out.push_back({pair.first, pair.second, sum});
  return out;
}

}  // namespace tessera::ptc
