// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/reshard_plan.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/reshard/metadata.h"
#include "ptc/convert.h"
#include "ptc/packed.h"
#include "ptc/rules/name_pattern.h"

namespace tessera::reshard {
namespace {

using checkpoint::Format;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Result<Arrangement> Arrange(const std::vector<OutTensor>& tensors, const std::string& destination,
                            const Options& options) {
  if (options.layout) return Shards(tensors, *options.layout);
  return WholeTensors(tensors, options.format,
                      std::filesystem::path(destination).filename().string(), options.files);
}

std::uint64_t HashOf(const ReshardPlan& plan) {
  std::string text = fmt::format("{}\n", plan.tile_bytes);
  for (const OutTensor& tensor : plan.tensors) {
    text += fmt::format("{}\n{} {}\n", tensor.name, ToString(tensor.dtype),
                        ptc::ToString(tensor.shape));
  }
  for (std::size_t f = 0; f < plan.arrangement.files.size(); ++f) {
    text += fmt::format("{} {}\n", plan.arrangement.files[f].name, plan.header_bytes[f]);
  }
  for (std::size_t p = 0; p < plan.arrangement.pieces.size(); ++p) {
    text += fmt::format("{} {} {}\n", checkpoint::ToString(plan.arrangement.pieces[p]),
                        plan.arrangement.locations[p].file, plan.arrangement.locations[p].offset);
  }
  return XXH3_64bits(text.data(), text.size());
}

/// Names the file whose header is too large, and the option that makes files with fewer tensors.
Error WithRemedy(Error error, const OutFile& file, const Options& options) {
  const std::string_view remedy =
      options.format == Format::kShardedSafetensors ? "choose a mesh with more ranks"
      : options.format == Format::kHuggingFace      ? "choose a larger --shards"
                                                    : "use --format huggingface --shards N";
  error.message = fmt::format("file '{}' of {} tensors: {}; {}", file.name,
                              file.header.tensors.size(), error.message, remedy);
  return error;
}

}  // namespace

Result<std::int64_t> TileBytes(std::int64_t memory_bytes, int threads, std::int64_t most) {
  if (threads < 1 || threads > kMostThreads) {
    return InvalidArgument(fmt::format("{} threads, not 1 to {}", threads, kMostThreads));
  }
  const std::int64_t least = std::max(kLeastMemory, threads * kLeastThreadMemory);
  if (memory_bytes < least) {
    return InvalidArgument(
        fmt::format("memory of {} bytes is less than the {} MiB that {} threads need", memory_bytes,
                    least / kMiB, threads));
  }
  const std::int64_t room = memory_bytes / threads - 3 * kMiB;
  while (most > room / 2) most /= 2;
  return most;
}

Result<std::vector<ptc::DType>> ConvertedDTypes(
    const std::vector<checkpoint::StoredTensor>& tensors, const std::vector<DTypeRule>& rules) {
  std::vector<ptc::DType> dtypes;
  for (const checkpoint::StoredTensor& tensor : tensors) dtypes.push_back(tensor.dtype);
  for (const DTypeRule& rule : rules) {
    std::optional<ptc::NamePattern> pattern;
    if (!rule.match.empty()) {
      TESSERA_TRY(pattern, ptc::NamePattern::Parse(rule.match));
    }
    if (!ptc::IsFloat(rule.dtype)) {
      return InvalidArgument(
          fmt::format("'{}' is not a floating-point dtype; tensors become f64, f32, f16, bf16, "
                      "f8e4m3 or f8e5m2",
                      ToString(rule.dtype)));
    }
    bool fits = false;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (pattern && !pattern->Fit(tensors[t].name)) continue;
      fits = true;
      if (ptc::IsFloat(tensors[t].dtype)) {
        dtypes[t] = rule.dtype;
      } else if (pattern && tensors[t].dtype != rule.dtype) {
        return InvalidArgument(fmt::format("tensor '{}' is {} and cannot become {}",
                                           tensors[t].name, ToString(tensors[t].dtype),
                                           ToString(rule.dtype)));
      }
    }
    if (pattern && !fits) {
      return InvalidArgument(fmt::format("'{}' matches no tensor", rule.match));
    }
  }
  return dtypes;
}

Result<ReshardPlan> MakeReshardPlan(const checkpoint::Checkpoint& source,
                                    const std::string& destination, const Options& options) {
  TESSERA_TRY(const std::int64_t tile_bytes,
              TileBytes(options.memory_bytes, options.threads, options.tile_bytes));
  TESSERA_TRY(const auto dtypes, ConvertedDTypes(source.tensors(), options.dtypes));
  std::vector<OutTensor> tensors;
  std::vector<TileSequence::Extent> extents;
  std::vector<ptc::Shape> unit_shapes;
  std::int64_t source_bytes = 0;
  for (std::size_t t = 0; t < dtypes.size(); ++t) {
    const checkpoint::StoredTensor& tensor = source.tensors()[t];
    tensors.push_back({tensor.name, dtypes[t], tensor.shape});
    TESSERA_TRY(ptc::Shape units, ptc::UnitShape(tensor.dtype, tensor.shape));
    extents.push_back({units, std::max(ptc::SizeBytes(tensor.dtype), ptc::SizeBytes(dtypes[t]))});
    unit_shapes.push_back(std::move(units));
    source_bytes += BytesOf({tensor.name, tensor.dtype, tensor.shape});
  }
  TESSERA_TRY(Arrangement arrangement, Arrange(tensors, destination, options));
  AddMetadata(source, options.format, arrangement);
  ReshardPlan plan{.tensors = std::move(tensors),
                   .unit_shapes = std::move(unit_shapes),
                   .arrangement = std::move(arrangement),
                   .tiles = TileSequence(extents, tile_bytes),
                   .tile_bytes = tile_bytes,
                   .source_bytes = source_bytes};
  for (const OutFile& file : plan.arrangement.files) {
    auto printed = checkpoint::PrintHeader(file.header, kHeaderAlignment);
    if (!printed) return WithRemedy(printed.error(), file, options);
    const std::string& header = *printed;
    plan.header_bytes.push_back(std::ssize(header));
    plan.output_bytes += std::ssize(header);
    if (!file.header.tensors.empty()) plan.output_bytes += file.header.tensors.back().end;
  }
  plan.hash = HashOf(plan);
  return plan;
}

}  // namespace tessera::reshard
