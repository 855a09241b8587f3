// SPDX-License-Identifier: Apache-2.0
#include "engine/search/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/model/job_layout.h"
#include "engine/search/enumerate.h"
#include "engine/store/memory_needs.h"
#include "ptc/base/counted.h"

namespace tessera::engine {
namespace {

using ptc::Axis;

/// Returns the bytes of state and gradients of a whole copy, without arena headers and alignment.
std::int64_t CopyBytes(const ptc::Collection& tensors) {
  std::int64_t bytes = tensors.total_bytes();
  for (const ptc::TensorSpec& spec : tensors.tensors()) {
    if (spec.role != ptc::TensorRole::kParam) continue;
    std::int64_t elements = 1;
    for (const std::int64_t size : spec.shape) elements *= size;
    bytes += 4 * elements;
  }
  return bytes;
}

/// \error of the layout
Result<std::int64_t> FullestRank(const ptc::MeshShape& mesh, const ptc::RuledTensors& job) {
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t i = 0; i < mesh.num_ranks(); ++i) devices.push_back({0, i});
  TESSERA_TRY(auto placed, ptc::DeviceMesh::Make(mesh, std::move(devices)));
  TESSERA_TRY(const auto layout, MakeLayout(job, std::move(placed)));
  return MemoryNeeds(layout, layout).MostOfLayout();
}

/// The devices up to which a set that fits is looked for: several times what one copy needs.
std::int64_t WorthTrying(std::int64_t copy_bytes, std::int64_t capacity) {
  constexpr std::int64_t kLeast = 64, kMost = 4096, kTimes = 4;
  if (capacity <= 0) return kLeast;
  return std::clamp(kTimes * (copy_bytes / capacity + 1), kLeast, kMost);
}

std::string NameOf(const JobSettings& settings) {
  return settings.program ? "the job" : fmt::format("model {}", settings.model.name);
}

}  // namespace

std::optional<Fit> SmallestFit(const JobSettings& settings, std::int64_t capacity,
                               std::int64_t most_devices) {
  struct Variant {
    bool zero;
    ptc::RuledTensors job;
    std::int64_t copy_bytes;
  };
  if (capacity <= 0) return std::nullopt;
  std::vector<Variant> variants;
  for (const bool zero : {false, true}) {
    if (auto job = TensorsOf(settings, zero)) {
      variants.push_back({zero, *job, CopyBytes(*job->tensors)});
    }
  }
  for (std::int64_t ranks = 1; ranks <= most_devices; ++ranks) {
    const std::vector<ptc::MeshShape> meshes = MeshesOf(settings, ranks);
    for (const auto& [zero, job, copy_bytes] : variants) {
      if (copy_bytes / ranks > capacity) continue;
      std::optional<Fit> best;
      for (const ptc::MeshShape& mesh : meshes) {
        if (zero && mesh[Axis::kDp] == 1) continue;
        const auto needed = FullestRank(mesh, job);
        if (!needed || *needed > capacity || (best && best->needed <= *needed)) continue;
        best = Fit{mesh, {.zero = zero}, *needed};
      }
      if (best) return best;
    }
  }
  return std::nullopt;
}

Status CheckFits(const JobSettings& settings, const ptc::DeviceMesh& mesh,
                 const StepOptions& options, const Capacities& capacities) {
  TESSERA_TRY(const auto job, TensorsOf(settings, options.zero));
  TESSERA_TRY(const auto layout, MakeLayout(job, mesh));
  MemoryNeeds needs(layout, layout);
  std::int64_t needed = 0, smallest = 0;
  bool fits = true;
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    const auto device = capacities.find(mesh.devices()[static_cast<std::size_t>(rank)]);
    const std::int64_t capacity = device == capacities.end() ? 0 : device->second;
    const std::int64_t bytes = needs.OfLayout(rank);
    fits = fits && bytes <= capacity;
    needed = std::max(needed, bytes);
    smallest = rank == 0 ? capacity : std::min(smallest, capacity);
  }
  if (fits) return OkStatus();
  const std::int64_t most_devices = WorthTrying(CopyBytes(*job.tensors), smallest);
  const auto fit = SmallestFit(settings, smallest, most_devices);
  return ResourceExhausted(fmt::format(
      "{} needs {} per device with {}; devices have {}: {}", NameOf(settings), BytesText(needed),
      ShortText(mesh.shape(), {.zero = options.zero}), BytesText(smallest),
      fit ? fmt::format("the smallest set that fits has {} as {}",
                        Counted(fit->mesh.num_ranks(), "device"),
                        ShortText(fit->mesh, fit->options))
          : fmt::format("no set of up to {} devices fits", most_devices)));
}

std::string BytesText(std::int64_t bytes) {
  constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
  const auto size = static_cast<double>(bytes);
  if (size >= kGiB) return fmt::format("{:.1f} GiB", size / kGiB);
  if (size >= 100 * kMiB) return fmt::format("{:.0f} MiB", size / kMiB);
  return fmt::format("{:.1f} MiB", size / kMiB);
}

std::string RateText(double bytes_per_second) {
  static constexpr std::array<const char*, 5> kUnits = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  while (bytes_per_second >= 1000 && unit + 1 < kUnits.size()) {
    bytes_per_second /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes_per_second, kUnits[unit]);
}

std::string ShortText(const ptc::MeshShape& mesh, const StepOptions& options) {
  std::string text;
  for (const Axis axis : ptc::kAxesInText) {
    if (mesh[axis] == 1) continue;
    if (!text.empty()) text += ',';
    text += fmt::format("{}={}", ptc::ToString(axis), mesh[axis]);
  }
  if (text.empty()) text = "dp=1";
  if (options != StepOptions{}) text += " with " + ToString(options);
  return text;
}

}  // namespace tessera::engine
