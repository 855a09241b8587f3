// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "engine/reshard/reshard_plan.h"
#include "ptc/base/check.h"
#include "ptc/packed.h"

namespace tessera::reshard {
namespace {

using checkpoint::Checkpoint;
using checkpoint::StoredTensor;

/// A tensor with the same dtype and shape in both checkpoints.
struct TensorPair {
  int a = 0;
  int b = 0;
  std::int64_t num_different = 0;
  std::vector<DifferentRange> ranges = {};  // up to kMostRanges per tile, in any order
};

/// The differences of two tiles.
struct TileDifference {
  std::int64_t num_different = 0;
  std::vector<DifferentRange> ranges;  // the first kMostRanges
};

/// \param first row-major index of the first element of the tiles
TileDifference CompareTile(std::span<const std::byte> a, std::span<const std::byte> b,
                           std::int64_t element_bytes, std::int64_t first) {
  TileDifference out;
  if (std::memcmp(a.data(), b.data(), a.size()) == 0) return out;
  const std::int64_t elements = std::ssize(a) / element_bytes;
  bool inside = false;  // whether the previous element differs
  for (std::int64_t i = 0; i < elements; ++i) {
    const bool differs = std::memcmp(a.data() + i * element_bytes, b.data() + i * element_bytes,
                                     static_cast<std::size_t>(element_bytes)) != 0;
    if (differs) {
      ++out.num_different;
      if (inside && out.num_different > 1 && out.ranges.back().end == first + i) {
        ++out.ranges.back().end;
      } else if (out.ranges.size() < kMostRanges) {
        out.ranges.push_back({first + i, first + i + 1, {}, {}});
      }
    }
    inside = differs;
  }
  return out;
}

/// Joins adjacent ranges and keeps the first kMostRanges.
std::vector<DifferentRange> FirstRanges(std::vector<DifferentRange> ranges) {
  std::ranges::sort(ranges, {}, &DifferentRange::begin);
  std::vector<DifferentRange> joined;
  for (DifferentRange& range : ranges) {
    if (!joined.empty() && joined.back().end == range.begin) {
      joined.back().end = range.end;
    } else if (joined.size() == kMostRanges) {
      break;
    } else {
      joined.push_back(std::move(range));
    }
  }
  return joined;
}

/// Formats the unit at a row-major index.
Result<std::string> UnitAt(const Checkpoint& checkpoint, int tensor, std::int64_t index) {
  const StoredTensor& stored = checkpoint.tensors()[static_cast<std::size_t>(tensor)];
  std::vector<ptc::Interval> dims;
  TESSERA_TRY(const ptc::Shape units, ptc::UnitShape(stored.dtype, stored.shape));
  for (const std::int64_t i : IndicesOf(units, index)) dims.push_back({i, i + 1});
  TESSERA_TRY(const ptc::Box box, ptc::Box::Make(dims));
  std::array<std::byte, 8> bytes{};
  const auto size = static_cast<std::size_t>(ptc::SizeBytes(stored.dtype));
  TESSERA_RETURN_IF_ERROR(checkpoint.Read(tensor, box, std::span(bytes).first(size)));
  return FormatElement(stored.dtype, bytes.data());
}

/// Compares names, dtypes and shapes. Adds the tensors that must be read to `pairs`.
Comparison CompareTables(const Checkpoint& a, const Checkpoint& b, std::vector<TensorPair>& pairs) {
  Comparison out;
  const auto& of_a = a.tensors();
  const auto& of_b = b.tensors();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < of_a.size() || j < of_b.size()) {
    ++out.num_tensors;
    if (j == of_b.size() || (i < of_a.size() && of_a[i].name < of_b[j].name)) {
      out.differences.push_back({of_a[i].name, &of_a[i], nullptr});
      ++i;
    } else if (i == of_a.size() || of_b[j].name < of_a[i].name) {
      out.differences.push_back({of_b[j].name, nullptr, &of_b[j]});
      ++j;
    } else {
      if (of_a[i].dtype != of_b[j].dtype || of_a[i].shape != of_b[j].shape) {
        out.differences.push_back({of_a[i].name, &of_a[i], &of_b[j]});
      } else {
        pairs.push_back({static_cast<int>(i), static_cast<int>(j)});
      }
      ++i;
      ++j;
    }
  }
  return out;
}

}  // namespace

Result<Comparison> Compare(const Checkpoint& a, const Checkpoint& b, const ReadOptions& options) {
  TESSERA_TRY(const std::int64_t tile_bytes, TileBytes(options.memory_bytes, options.threads));
  std::vector<TensorPair> pairs;
  Comparison out = CompareTables(a, b, pairs);
  std::vector<TileSequence::Extent> extents;
  for (const TensorPair& pair : pairs) {
    const StoredTensor& tensor = a.tensors()[static_cast<std::size_t>(pair.a)];
    TESSERA_TRY(ptc::Shape units, ptc::UnitShape(tensor.dtype, tensor.shape));
    extents.push_back({std::move(units), ptc::SizeBytes(tensor.dtype)});
    out.bytes += BytesOf({tensor.name, tensor.dtype, tensor.shape});
  }
  Meter meter;
  meter.bytes_total = out.bytes;
  const TileSequence tiles(extents, tile_bytes);
  std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>> buffers(
      static_cast<std::size_t>(options.threads));
  std::mutex mutex;  // guards pairs
  const Status read = RunPieces(
      tiles.count(), options.threads, meter, options.watch,
      [&](int worker, std::int64_t number) -> Status {
        const auto tile = tiles.At(number);
        TensorPair& pair = pairs[static_cast<std::size_t>(tile.tensor)];
        const auto& extent = extents[static_cast<std::size_t>(tile.tensor)];
        auto& [buffer_a, buffer_b] = buffers[static_cast<std::size_t>(worker)];
        buffer_a.resize(static_cast<std::size_t>(tile_bytes));
        buffer_b.resize(static_cast<std::size_t>(tile_bytes));
        const auto size = static_cast<std::size_t>(tile.box.num_elements() * extent.element_bytes);
        const auto in_a = std::span(buffer_a).first(size);
        const auto in_b = std::span(buffer_b).first(size);
        TESSERA_RETURN_IF_ERROR(a.Read(pair.a, tile.box, in_a));
        TESSERA_RETURN_IF_ERROR(b.Read(pair.b, tile.box, in_b));
        TileDifference found =
            CompareTile(in_a, in_b, extent.element_bytes, FirstIndex(extent.shape, tile.box));
        if (found.num_different > 0) {
          const std::lock_guard lock(mutex);
          pair.num_different += found.num_different;
          std::ranges::move(found.ranges, std::back_inserter(pair.ranges));
        }
        meter.bytes_done += static_cast<std::int64_t>(size);
        return OkStatus();
      });
  if (!read) return read.error();
  for (TensorPair& pair : pairs) {
    if (pair.num_different == 0) continue;
    const StoredTensor& in_a = a.tensors()[static_cast<std::size_t>(pair.a)];
    TensorDifference difference{in_a.name, &in_a, &b.tensors()[static_cast<std::size_t>(pair.b)],
                                pair.num_different, FirstRanges(std::move(pair.ranges))};
    for (DifferentRange& range : difference.ranges) {
      TESSERA_TRY(range.a, UnitAt(a, pair.a, range.begin));
      TESSERA_TRY(range.b, UnitAt(b, pair.b, range.begin));
    }
    out.differences.push_back(std::move(difference));
  }
  std::ranges::sort(out.differences, {}, &TensorDifference::name);
  return out;
}

}  // namespace tessera::reshard
