// SPDX-License-Identifier: Apache-2.0
// How long planning takes, how near the plans are to their bounds, and how the time grows with
// devices and with tensors. Prints the machine; times are medians of repeated runs. --bound
// compares with the certificate; --small stops after the small clusters.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/gpt.h"
#include "ptc/certificate/certificate.h"
#include "ptc/plan/plan.h"
#include "tests/bench/machine.h"

using namespace tessera;
using ptc::Axis;

namespace {

constexpr int kRuns = 5;

struct Times {
  double least = 0;
  double median = 0;
};
template <typename F>
Times Measure(int runs, const F& run) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}
template <typename F>
double Milliseconds(const F& run) {
  return Measure(kRuns, run).median;
}

double PeakMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Llama 3 (Grattafiori et al., 2024, table 3) in bf16 with f32 masters and Adam's states.
struct Decoder {
  std::int64_t layers = 126;
  std::int64_t hidden = 16384;
  std::int64_t heads = 128;
  std::int64_t kv_heads = 8;
  std::int64_t ffn = 53248;
  std::int64_t vocab = 128256;
  bool with_states = true;  // else parameters only
};

ptc::CollectionPtr MakeDecoder(const Decoder& model, bool zero) {
  std::vector<ptc::TensorSpec> tensors;
  const auto add = [&](const std::string& name, ptc::Shape shape, std::vector<ptc::DimCut> dims,
                       ptc::StagePlace place, std::int64_t layer) {
    ptc::TensorSpec spec;
    spec.name = name;
    spec.dtype = ptc::DType::kBF16;
    spec.shape = std::move(shape);
    spec.place = place;
    spec.layer = layer;
    spec.rule.dims = std::move(dims);
    tensors.push_back(spec);
    if (!model.with_states) return;
    spec.dtype = ptc::DType::kF32;
    if (zero) spec.rule.flat = {Axis::kDp};
    for (const auto& [suffix, role] : {std::pair{".master", ptc::TensorRole::kMaster},
                                       {".exp_avg", ptc::TensorRole::kExpAvg},
                                       {".exp_avg_sq", ptc::TensorRole::kExpAvgSq}}) {
      spec.name = name + suffix;
      spec.role = role;
      tensors.push_back(spec);
    }
  };
  const ptc::DimCut whole;
  const ptc::DimCut tp{{Axis::kTp}};
  const auto heads = [&](bool of_query) {
    return ptc::DimCut{
        {Axis::kTp}, ptc::Split::kHeads, 1, ptc::HeadGroups{model.kv_heads, model.heads, of_query}};
  };
  const std::int64_t head_size = model.hidden / model.heads;
  using enum ptc::StagePlace;
  add("model.embed_tokens.weight", {model.vocab, model.hidden}, {tp, whole}, kFirst, 0);
  add("model.norm.weight", {model.hidden}, {whole}, kLast, 0);
  add("lm_head.weight", {model.vocab, model.hidden}, {tp, whole}, kLast, 0);
  for (std::int64_t l = 0; l < model.layers; ++l) {
    const std::string at = fmt::format("model.layers.{}.", l);
    const auto layer = [&](const char* name, ptc::Shape shape, std::vector<ptc::DimCut> dims) {
      add(at + name, std::move(shape), std::move(dims), kLayer, l);
    };
    layer("self_attn.q_proj.weight", {model.hidden, model.hidden}, {heads(true), whole});
    layer("self_attn.k_proj.weight", {model.kv_heads * head_size, model.hidden},
          {heads(false), whole});
    layer("self_attn.v_proj.weight", {model.kv_heads * head_size, model.hidden},
          {heads(false), whole});
    layer("self_attn.o_proj.weight", {model.hidden, model.hidden}, {whole, heads(true)});
    layer("mlp.gate_proj.weight", {model.ffn, model.hidden}, {tp, whole});
    layer("mlp.up_proj.weight", {model.ffn, model.hidden}, {tp, whole});
    layer("mlp.down_proj.weight", {model.hidden, model.ffn}, {whole, tp});
    layer("input_layernorm.weight", {model.hidden}, {whole});
    layer("post_attention_layernorm.weight", {model.hidden}, {whole});
  }
  return *ptc::Collection::Make(std::move(tensors), model.layers);
}

/// The first `count` devices of nodes of 8.
std::vector<ptc::DeviceId> Devices(std::int64_t count) {
  std::vector<ptc::DeviceId> devices;
  for (std::int64_t i = 0; i < count; ++i) {
    devices.push_back({static_cast<std::int32_t>(i / 8), static_cast<std::int32_t>(i % 8)});
  }
  return devices;
}

ptc::Layout On(std::string_view shape, const ptc::CollectionPtr& tensors) {
  const ptc::MeshShape mesh = *ptc::ParseMeshShape(shape);
  return *ptc::Layout::Make(*ptc::DeviceMesh::Make(mesh, Devices(mesh.num_ranks())), tensors);
}

/// Plans a change on the first devices in ascending order, on these as the planner places them, and
/// where replicas leave, on those of the replicas that stay.
void Time(const ptc::CollectionPtr& tensors, std::string_view from_shape, std::string_view to_shape,
          std::string_view note, bool with_bound) {
  const ptc::Layout from = On(from_shape, tensors);
  const ptc::Layout pinned = On(to_shape, tensors);
  const ptc::Topology topology;
  const auto print = [&](const ptc::Layout& to, std::string_view how) {
    const double milliseconds = Milliseconds([&] { (void)*ptc::MakeOutline(from, to, topology); });
    const ptc::Outline outline = *ptc::MakeOutline(from, to, topology);
    std::string ratio;
    if (with_bound) {
      const ptc::Certificate bound = ptc::Certify(from, to, topology);
      const double direct = bound.direct.seconds;
      ratio = fmt::format("  {:.4f} of the least time, {} of the least bytes",
                          direct > 0 ? outline.transfer_seconds / direct : 1.0,
                          outline.bytes.moved() == bound.volume ? "all" : "not");
    }
    fmt::print(
        "{:>5} devices {:>5} tensors {:<17} -> {:<17} {:<4} {:<6} {:>6.1f} ms {:>5} classes "
        "{:>6} flows {:>8.3f} TB moved, busiest {:>9} {:>6.1f} s{}\n",
        outline.devices.size(), from.collection().tensors().size(), from_shape, to_shape, note, how,
        milliseconds, outline.classes.size(), outline.flows.size(),
        static_cast<double>(outline.bytes.moved()) / 1e12, outline.busiest_port.name,
        outline.transfer_seconds, ratio);
    std::fflush(stdout);
  };
  const auto print_placed = [&](const std::vector<ptc::DeviceId>& devices, std::string_view how) {
    const auto find = [&] {
      return *ptc::FindPlacement(from, pinned.mesh().shape(), tensors, devices, topology);
    };
    const double milliseconds = Milliseconds([&] { (void)find(); });
    const ptc::Placement placement = find();
    print(*ptc::Layout::Make(placement.mesh, tensors), how);
    fmt::print("{:>5} devices placed in {:.1f} ms, {:.3f} TB in place of at most {:.3f}\n",
               devices.size(), milliseconds, static_cast<double>(placement.in_place_bytes) / 1e12,
               static_cast<double>(placement.bound_bytes) / 1e12);
  };
  print(pinned, "pinned");
  print_placed(Devices(pinned.mesh().num_ranks()), "placed");
  const ptc::MeshShape& before = from.mesh().shape();
  const ptc::MeshShape& after = pinned.mesh().shape();
  if (before[Axis::kTp] != after[Axis::kTp] || before[Axis::kPp] != after[Axis::kPp]) return;
  std::vector<ptc::DeviceId> staying;
  for (int rank = 0; rank < from.mesh().num_ranks(); ++rank) {
    if (from.mesh().Coordinate(rank, Axis::kDp) >= after[Axis::kDp]) continue;
    staying.push_back(from.mesh().devices()[static_cast<std::size_t>(rank)]);
  }
  print_placed(staying, "stay");
}

/// The same on the first devices, in racks of 32 hosts whose ports are as fast as those of eight.
void TimeInRacks(const ptc::CollectionPtr& tensors, std::string_view from_shape,
                 std::string_view to_shape, std::string_view note) {
  const ptc::Layout from = On(from_shape, tensors);
  const ptc::Layout to = On(to_shape, tensors);
  ptc::Topology topology;
  topology.rack_bytes_per_second = 8 * topology.network_bytes_per_second;
  for (const ptc::DeviceId device : from.mesh().devices()) {
    topology.rack_of_host[device.node] = device.node / 32;
  }
  const Times times = Measure(kRuns, [&] { (void)*ptc::MakeOutline(from, to, topology); });
  const ptc::Outline outline = *ptc::MakeOutline(from, to, topology);
  const double least = ptc::Certify(from, to, topology, {}, outline.port_prices).direct.seconds;
  fmt::print(
      "{:>5} devices in racks {:<17} -> {:<17} {:<4} {:>6.1f} ms (least {:>6.1f}), busiest {:>11} "
      "{:.4f} of the least time\n",
      outline.devices.size(), from_shape, to_shape, note, times.median, times.least,
      outline.busiest_port.name, outline.transfer_seconds / least);
}

void TimeMoves(const char* model, const ptc::Layout& from, const ptc::Layout& to,
               const char* note) {
  constexpr int kMoveRuns = 21;
  std::size_t moves = 0;
  const Times outline = Measure(kMoveRuns, [&] { (void)*ptc::MakeOutline(from, to, {}); });
  const Times plan = Measure(kMoveRuns, [&] { moves = ptc::MakePlan(from, to, {})->moves.size(); });
  fmt::print(
      "{:<10} {:<17} -> {:<17} {:<5} {:>3} devices {:>4} tensors {:>6} moves, outline {:>6.2f} ms "
      "(least {:>6.2f}), with all moves {:>6.2f} ms (least {:>6.2f})\n",
      model, ToString(from.mesh().shape()), ToString(to.mesh().shape()), note,
      std::max(from.mesh().num_ranks(), to.mesh().num_ranks()), from.collection().tensors().size(),
      moves, outline.median, outline.least, plan.median, plan.least);
}

void TimeMovesOfGpt(const char* model, const char* from_mesh, const char* to_mesh, bool zero) {
  const engine::JobSettings settings{.model = *engine::FindModel(model)};
  const auto layout = [&](const char* mesh) {
    return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *engine::MakeCollection(settings, zero));
  };
  TimeMoves(model, layout(from_mesh), layout(to_mesh), zero ? "zero" : "");
}

/// 16 devices and the 291 parameters of Llama-3-8B, without optimizer state.
void TimeSmallCluster() {
  const Decoder model{32, 4096, 32, 8, 14336, 128256, false};
  const auto tensors = MakeDecoder(model, false);
  for (const auto& [from, to] :
       {std::pair{"tp=4,dp=4", "tp=8,dp=2"}, std::pair{"tp=8,dp=2", "tp=8,pp=2"},
        std::pair{"tp=4,pp=2,dp=2", "tp=2,pp=4,dp=2"}}) {
    TimeMoves("llama-3-8b", On(from, tensors), On(to, tensors), "");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_bound = argc > 1 && std::string_view(argv[1]) == "--bound";
  fmt::print("{}\nplanning, median of {}\n", test::Machine(), kRuns);
  for (const bool zero : {false, true}) {
    TimeMovesOfGpt("gpt-mini", "dp=2,tp=2,pp=1 on 1x4", "dp=4,tp=2,pp=1 on 2x4", zero);
    TimeMovesOfGpt("gpt-mini", "dp=8,tp=2,pp=1 on 2x8", "dp=4,tp=4,pp=1 on 2x8", zero);
    TimeMovesOfGpt("gpt-mini", "dp=4,tp=2,pp=2 on 2x8", "dp=2,tp=2,pp=4 on 2x8", zero);
    TimeMovesOfGpt("gpt-mini", "dp=16,tp=4,pp=1 on 8x8", "dp=8,tp=8,pp=1 on 8x8", zero);
  }
  TimeSmallCluster();
  if (argc > 1 && std::string_view(argv[1]) == "--small") return 0;
  fmt::print("\nLlama-3-405B, bf16 with f32 masters and Adam\n");
  for (const bool zero : {false, true}) {
    const auto tensors = MakeDecoder({}, zero);
    const char* note = zero ? "zero" : "";
    Time(tensors, "tp=8,pp=16,dp=128", "tp=8,pp=16,dp=120", note, with_bound);
    Time(tensors, "tp=8,pp=16,dp=128", "tp=16,pp=8,dp=128", note, with_bound);
    Time(tensors, "tp=8,pp=16,dp=8", "tp=8,pp=16,dp=7", note, with_bound);
    TimeInRacks(tensors, "tp=8,pp=16,dp=128", "tp=8,pp=16,dp=120", note);
    TimeInRacks(tensors, "tp=8,pp=16,dp=128", "tp=16,pp=8,dp=128", note);
  }
  fmt::print("peak memory {:.0f} MiB\n\nover devices\n", PeakMiB());
  for (const bool zero : {false, true}) {
    const auto tensors = MakeDecoder({}, zero);
    for (int dp = 1; dp <= 256; dp *= 4) {
      Time(tensors, fmt::format("tp=8,pp=8,dp={}", dp), fmt::format("tp=16,pp=4,dp={}", dp),
           zero ? "zero" : "", with_bound);
    }
  }
  fmt::print("\nover tensors\n");
  for (std::int64_t layers = 8; layers <= 1024; layers *= 4) {
    Decoder model;
    model.layers = layers;
    Time(MakeDecoder(model, true), "tp=8,pp=8,dp=16", "tp=16,pp=4,dp=16", "zero", with_bound);
  }
  fmt::print("peak memory {:.0f} MiB\n", PeakMiB());
  return 0;
}
