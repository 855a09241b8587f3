// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/outline.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>

#include "ptc/base/at.h"
#include "ptc/base/run_both.h"
#include "ptc/plan/device_table.h"
#include "ptc/plan/holders.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/lost.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/relay.h"
#include "ptc/plan/sort_by.h"
#include "ptc/plan/sources.h"
#include "ptc/plan/staged.h"

namespace tessera::ptc {
namespace {

/// Far below 2^63, so that twice the sum over devices does not overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 61;

Status CheckCountable(const Layout& layout) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(layout.collection().total_bytes(),
                             std::int64_t{layout.mesh().num_ranks()}, &bytes) ||
      bytes > kMostBytes) {
    return InvalidArgument(
        fmt::format("tensors of {} bytes on {} devices are more bytes than can be counted",
                    layout.collection().total_bytes(), layout.mesh().num_ranks()));
  }
  return OkStatus();
}

std::int64_t Elements(const std::vector<Box>& boxes) {
  std::int64_t elements = 0;
  for (const Box& box : boxes) elements += box.num_elements();
  return elements;
}

/// Counts the bytes that each device holds, receives and keeps in place.
class Memory {
 public:
  explicit Memory(const Kinds& kinds) : kinds_(kinds), kept_(kinds.kinds.size()) {
    staged_from_ = StagedByStage(kinds, kinds.from, &KindOnStages::from_stages);
    staged_to_ = StagedByStage(kinds, kinds.to, &KindOnStages::to_stages);
    for (const Kind& kind : kinds.kinds) {
      auto& [held, needed] = elements_.emplace_back();
      for (const auto& boxes : kind.pieces.held) held.push_back(Elements(boxes));
      for (const auto& boxes : kind.pieces.needed) needed.push_back(Elements(boxes));
    }
  }

  std::int64_t OldBytes(int rank) const {
    std::int64_t bytes = 0;
    for (std::size_t s : staged_from_[At(kinds_.from.StageOf(rank))]) {
      const KindOnStages& staged = kinds_.staged[s];
      const Kind& kind = KindOf(staged);
      bytes += elements_[At(staged.kind)].first[At(kinds_.from.PartOf(kind.from_axes, rank))] *
               SizeBytes(kind.from_dtype) * staged.num_tensors;
    }
    return bytes;
  }

  std::int64_t NewBytes(int rank) const {
    std::int64_t bytes = 0;
    for (std::size_t s : staged_to_[At(kinds_.to.StageOf(rank))]) {
      const KindOnStages& staged = kinds_.staged[s];
      const Kind& kind = KindOf(staged);
      bytes += elements_[At(staged.kind)].second[At(kinds_.to.PartOf(kind.to_axes, rank))] *
               SizeBytes(kind.to_dtype) * staged.num_tensors;
    }
    return bytes;
  }

  std::int64_t KeptBytes(int from_rank, int to_rank) {
    const int from_stage = kinds_.from.StageOf(from_rank);
    std::int64_t bytes = 0;
    for (std::size_t s : staged_to_[At(kinds_.to.StageOf(to_rank))]) {
      const KindOnStages& staged = kinds_.staged[s];
      const Kind& kind = KindOf(staged);
      if (kind.converts() || !kinds_.from.IsOn(staged.from_stages, from_stage)) continue;
      bytes += KeptElements(staged.kind, kinds_.from.PartOf(kind.from_axes, from_rank),
                            kinds_.to.PartOf(kind.to_axes, to_rank)) *
               SizeBytes(kind.from_dtype) * staged.num_tensors;
    }
    return bytes;
  }

 private:
  const Kind& KindOf(const KindOnStages& staged) const { return kinds_.kinds[At(staged.kind)]; }

  std::int64_t KeptElements(int kind, int from_part, int to_part) {
    const TensorPieces& pieces = kinds_.kinds[At(kind)].pieces;
    const std::uint64_t key =
        static_cast<std::uint64_t>(from_part) << 32U | static_cast<std::uint64_t>(to_part);
    const auto [known, is_new] = kept_[At(kind)].try_emplace(key, 0);
    if (!is_new) return known->second;
    for (const Box& piece : pieces.needed[At(to_part)]) {
      if (KeptIn(pieces.held[At(from_part)], piece)) known->second += piece.num_elements();
    }
    return known->second;
  }

  const Kinds& kinds_;
  std::vector<std::vector<std::size_t>> staged_from_, staged_to_;  // by stage
  std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> elements_;
  std::vector<std::unordered_map<std::uint64_t, std::int64_t>> kept_;  // by kind; never iterated
};

/// Counts the moved cells that only one device holds.
class SingleSources {
 public:
  SingleSources(const Kinds& kinds, const Classes& classes, const Holders& holders,
                const DeviceTable& table)
      : kinds_(kinds), classes_(classes), table_(table) {
    for (std::size_t c = 0; c < classes.list().size(); ++c) {
      const std::span<const int> devices = holders.Of(static_cast<int>(c)).devices;
      only_holder_.push_back(devices.size() == 1 ? devices.front() : -1);
    }
    for (int axes = 0; axes < kinds.to.num_axes_ids(); ++axes) {
      const std::size_t parts = At(kinds.to.num_parts(axes));
      std::vector<int>& counts = ranks_.emplace_back(At(kinds.to.num_stages()) * parts);
      for (int rank = 0; rank < kinds.to.mesh().num_ranks(); ++rank) {
        ++counts[At(kinds.to.StageOf(rank)) * parts + At(kinds.to.PartOf(axes, rank))];
      }
    }
  }

  void Count(Outline& outline) const {
    for (std::size_t s = 0; s < kinds_.staged.size(); ++s) {
      const KindOnStages& staged = kinds_.staged[s];
      const Kind& kind = kinds_.kinds[At(staged.kind)];
      for (std::size_t c = 0; c < kind.cells.size(); ++c) {
        const int holder = only_holder_[At(classes_.Of(s, c))];
        if (holder < 0 || !IsMoved(staged, kind, kind.cells[c], holder)) continue;
        outline.single_source_pieces += staged.num_tensors;
        outline.single_source_bytes +=
            kind.elements[c] * SizeBytes(kind.from_dtype) * staged.num_tensors;
      }
    }
  }

 private:
  /// Whether another device than `holder` needs the cell.
  bool IsMoved(const KindOnStages& staged, const Kind& kind, const Cell& cell, int holder) const {
    const std::size_t parts = At(kinds_.to.num_parts(kind.to_axes));
    int needers = 0;
    for (std::int64_t stage : kinds_.to.stages(staged.to_stages)) {
      for (std::size_t part : cell.needers.ToVector()) {
        needers += ranks_[At(kind.to_axes)][static_cast<std::size_t>(stage) * parts + part];
      }
    }
    if (needers != 1) return needers > 1;
    const std::optional<int> rank = table_.to[At(holder)];
    return !rank || !kinds_.to.IsOn(staged.to_stages, kinds_.to.StageOf(*rank)) ||
           !cell.needers.Contains(At(kinds_.to.PartOf(kind.to_axes, *rank)));
  }

  const Kinds& kinds_;
  const Classes& classes_;
  const DeviceTable& table_;
  std::vector<int> only_holder_;         // by class; -1: several
  std::vector<std::vector<int>> ranks_;  // by list of axes: the new ranks of each (stage, part)
};

std::vector<Conversion> ConversionsOf(const Collection& from, const Collection& to) {
  std::map<std::tuple<TensorRole, DType, DType>, Conversion> conversions;
  for (std::size_t t = 0; t < from.tensors().size(); ++t) {
    const TensorSpec& spec = from.tensors()[t];
    const DType dtype = to.tensors()[t].dtype;
    if (spec.dtype == dtype) continue;
    const auto [it, is_new] = conversions.try_emplace({spec.role, spec.dtype, dtype});
    Conversion& conversion = it->second;
    if (is_new) conversion = {spec.role, spec.dtype, dtype, 0, 0, spec.name};
    ++conversion.num_tensors;
    conversion.bytes += *NumElements(spec.shape) * SizeBytes(spec.dtype);
  }
  std::vector<Conversion> list;
  for (auto& [key, conversion] : conversions) list.push_back(std::move(conversion));
  return list;
}

static_assert(std::endian::native == std::endian::little, "hashed words are little-endian");

/// Hashes words without a copy of all of them.
class OutlineHash {
 public:
  OutlineHash() { XXH3_64bits_reset(state_.get()); }
  void Add(std::initializer_list<std::int64_t> words) {
    XXH3_64bits_update(state_.get(), words.begin(), words.size() * sizeof(std::int64_t));
  }
  std::uint64_t Value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

std::uint64_t HashOf(const Outline& outline) {
  OutlineHash hash;
  hash.Add({std::bit_cast<std::int64_t>(outline.from_hash),
            std::bit_cast<std::int64_t>(outline.to_hash)});
  for (const ClassFlow& flow : outline.flows) {
    const DeviceId device = outline.devices[At(flow.device)];
    const DeviceId source = outline.devices[At(flow.source)];
    hash.Add({device.node, device.index, flow.held_class, flow.element_bytes, source.node,
              source.index, flow.bytes});
  }
  for (const Relay& relay : outline.relays) {
    hash.Add({relay.held_class, relay.element_bytes, relay.bytes, std::ssize(relay.devices)});
    for (const int position : relay.devices) {
      const DeviceId device = outline.devices[At(position)];
      hash.Add({device.node, device.index});
    }
  }
  for (DeviceId device : outline.lost) hash.Add({device.node, device.index});
  return hash.Value();
}

/// The senders of all bytes, with what is relayed.
struct Routes {
  std::vector<Relay> relays;
  Sources sources;
  std::int64_t network_direct = 0;
};

/// Decides whether to relay, and chooses the senders.
/// \param relays what can be relayed
Routes ChooseRoutes(std::vector<Demand> demands, std::vector<Relay> relays, const Holders& holders,
                    const DeviceTable& table, const Topology& topology, Relaying relaying) {
  Routes direct, relayed;
  const auto choose_direct = [&] {
    const ForwardLoads none({}, table.devices.size());
    direct.sources = ChooseSources(demands, holders, table, topology, none);
    direct.network_direct = direct.sources.network_bytes;
  };
  const ForwardLoads forwards(relays, table.devices.size());
  const auto choose_relayed = [&](std::vector<Demand> all) {
    relayed.sources =
        ChooseSources(WithoutForwarded(std::move(all), relays), holders, table, topology, forwards);
    relayed.network_direct = relayed.sources.network_bytes + forwards.total;
  };
  if (relays.empty()) {
    choose_direct();
    return direct;
  }
  if (relaying == Relaying::kIfFaster) {
    RunBoth(choose_direct, [&] { choose_relayed(demands); });
  } else {
    choose_relayed(std::move(demands));
  }
  relayed.relays = std::move(relays);
  if (relaying == Relaying::kAlways) return relayed;
  // Forwards begin when everything has arrived and has been verified.
  const double seconds = relayed.sources.seconds_to_arrive +
                         static_cast<double>(forwards.most()) / topology.host_bytes_per_second;
  return seconds > direct.sources.busiest_port.seconds ? std::move(direct) : std::move(relayed);
}

/// Computes what PlanOptions::with_figures names.
void AddFigures(const Layout& from, const Layout& to, const Classes& classes,
                const Holders& holders, const DeviceTable& table, const Needs& needs,
                Outline& outline) {
  const Kinds& kinds = *outline.kinds;
  outline.conversions = ConversionsOf(from.collection(), to.collection());
  Memory memory(kinds);
  for (std::size_t d = 0; d < table.devices.size(); ++d) {
    const std::optional<int> old_rank = table.from[d];
    const std::optional<int> new_rank = table.to[d];
    const std::int64_t kept = old_rank && new_rank ? memory.KeptBytes(*old_rank, *new_rank) : 0;
    outline.bytes.kept += kept;
    outline.repacked.push_back(needs.stay_bytes[d] - kept);
    outline.peak_memory.push_back((old_rank ? memory.OldBytes(*old_rank) : 0) +
                                  (new_rank ? memory.NewBytes(*new_rank) : 0) - kept);
  }
  for (const std::int64_t bytes : outline.repacked) outline.bytes.device += bytes;
  SingleSources(kinds, classes, holders, table).Count(outline);
}

}  // namespace

Result<Outline> MakeOutline(const Layout& from, const Layout& to, const Topology& topology,
                            const PlanOptions& options) {
  TESSERA_RETURN_IF_ERROR(
      CheckSameTensors(from.collection(), to.collection(), options.convert_dtypes));
  TESSERA_RETURN_IF_ERROR(CheckCountable(from));
  TESSERA_RETURN_IF_ERROR(CheckCountable(to));
  const auto kinds = std::make_shared<const Kinds>(MakeKinds(from, to, options.only));
  DeviceTable table = MakeDeviceTable(from, to, topology, options.lost);
  const Classes classes(*kinds);
  const Holders holders(*kinds, classes, table);
  Needs needs;
  std::vector<Relay> relays;
  const auto find_needs = [&] { needs = FindNeeds(*kinds, classes, table); };
  // Forwarded bytes have the new dtype, and what no device holds is read by each device itself.
  const bool may_relay = !options.convert_dtypes && options.lost.empty();
  if (may_relay && options.relaying != Relaying::kNever) {
    RunBoth([&] { relays = FindRelays(*kinds, classes, table, holders); }, find_needs);
  } else {
    find_needs();
  }
  Routes routes = ChooseRoutes(std::move(needs.demands), std::move(relays), holders, table,
                               topology, options.relaying);
  Sources& sources = routes.sources;

  Outline outline;
  outline.from_hash = from.hash();
  outline.to_hash = to.hash();
  outline.kinds = kinds;
  outline.classes = classes.list();
  outline.flows = std::move(sources.flows);
  outline.relays = std::move(routes.relays);
  outline.network_direct = routes.network_direct;
  outline.storage = std::move(sources.storage);
  outline.lost = LostDevices(from, options.lost);
  if (!outline.lost.empty()) CountLost(*kinds, classes, holders, outline);
  outline.busiest_port = std::move(sources.busiest_port);
  outline.port_prices = std::move(sources.port_prices);
  outline.transfer_seconds = outline.busiest_port.seconds;
  outline.topology = topology;
  outline.bytes.host = sources.host_bytes;
  outline.bytes.network = sources.network_bytes;
  for (const StorageNeed& need : outline.storage) outline.bytes.storage += need.bytes;
  if (options.with_figures) AddFigures(from, to, classes, holders, table, needs, outline);
  outline.devices = std::move(table.devices);
  outline.first_flow.resize(outline.devices.size() + 1);
  for (const ClassFlow& flow : outline.flows) ++outline.first_flow[At(flow.device) + 1];
  for (std::size_t d = 1; d < outline.first_flow.size(); ++d) {
    outline.first_flow[d] += outline.first_flow[d - 1];
  }
  outline.hash = HashOf(outline);
  return outline;
}

PlanFigures FiguresOf(const Outline& outline) {
  return {.from_hash = outline.from_hash,
          .to_hash = outline.to_hash,
          .hash = outline.hash,
          .bytes = outline.bytes,
          .lost_tensors = outline.lost_tensors,
          .lost_bytes = outline.lost_bytes,
          .network_direct = outline.network_direct,
          .single_source_pieces = outline.single_source_pieces,
          .single_source_bytes = outline.single_source_bytes,
          .busiest_port = outline.busiest_port,
          .transfer_seconds = outline.transfer_seconds};
}

std::vector<DeviceFlow> DeviceFlows(const Outline& outline) {
  struct Sent {
    int source = 0, device = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Sent> all;
  all.reserve(outline.flows.size());
  for (const ClassFlow& flow : outline.flows) all.push_back({flow.source, flow.device, flow.bytes});
  for (const Relay& relay : outline.relays) {
    for (std::size_t i = 0; i < relay.devices.size(); ++i) {
      const std::int64_t bytes = relay.RangeBytes(i);
      for (const int other : relay.devices) {
        if (other != relay.devices[i]) all.push_back({relay.devices[i], other, bytes});
      }
    }
  }
  std::erase_if(all, [](const Sent& sent) { return sent.bytes == 0; });
  const std::size_t num_devices = outline.devices.size();
  SortByNumber(all, num_devices, [](const Sent& sent) { return sent.device; });
  SortByNumber(all, num_devices, [](const Sent& sent) { return sent.source; });
  std::vector<DeviceFlow> flows;
  const Sent* last = nullptr;
  for (const Sent& sent : all) {
    if (last != nullptr && last->source == sent.source && last->device == sent.device) {
      flows.back().bytes += sent.bytes;
    } else {
      flows.push_back(
          {outline.devices[At(sent.source)], outline.devices[At(sent.device)], sent.bytes});
    }
    last = &sent;
  }
  return flows;
}

}  // namespace tessera::ptc
