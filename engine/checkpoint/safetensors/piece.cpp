// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/safetensors/piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "engine/checkpoint/tiling.h"
#include "ptc/packed.h"

namespace tessera::checkpoint {
namespace {

using ptc::Box;

/// The indices of the pieces, sorted by tensor and then by `rest`.
template <typename Rest>
std::vector<int> Sorted(const std::vector<Piece>& pieces, Rest rest) {
  std::vector<int> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int i) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    return std::tuple_cat(std::tie(piece.tensor), rest(piece));
  });
  return order;
}

/// Assigns the boxes of one tensor to shards.
class Dealer {
 public:
  explicit Dealer(std::map<int, std::int64_t>& load) : load_(load) {}

  /// \param held the pieces of one tensor, by box and shard
  void Deal(const std::vector<const Piece*>& held, std::vector<Piece>& out) {
    std::vector<Box> distinct;
    for (const Piece* piece : held) {
      if (piece->box && (distinct.empty() || distinct.back() != *piece->box)) {
        distinct.push_back(*piece->box);
      }
    }
    const auto whole = Box::Whole(held[0]->shape);
    // Boxes that tile the tensor do not overlap. This is so for all even cuts.
    const bool overlap = whole && FindTilingFlaw(*whole, distinct).has_value();
    std::vector<Box> taken;
    for (std::size_t begin = 0; begin < held.size();) {
      std::size_t end = begin;
      while (end < held.size() && held[end]->box == held[begin]->box) ++end;
      const std::optional<Box>& box = held[begin]->box;
      if (overlap && box) {
        std::vector<Box> rest = {*box};
        for (const Box& other : taken) rest = Subtract(rest, other);
        taken.push_back(*box);
        for (const Box& part : rest) Give(held, begin, end, part, out);
      } else {
        Give(held, begin, end, box, out);
      }
      begin = end;
    }
  }

 private:
  void Give(const std::vector<const Piece*>& held, std::size_t begin, std::size_t end,
            const std::optional<Box>& box, std::vector<Piece>& out) {
    const Piece* best = held[begin];
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (load_[held[i]->shard] < load_[best->shard]) best = held[i];
    }
    out.push_back(*best);
    out.back().box = box;
    load_[best->shard] += Bytes(out.back());
  }

  std::map<int, std::int64_t>& load_;
};

Status CheckTensor(const std::vector<Piece>& pieces, std::span<const int> group, bool whole_only) {
  const Piece& first = pieces[static_cast<std::size_t>(group[0])];
  const auto fail = [&](std::string_view what) {
    return InvalidArgument(fmt::format("tensor '{}' {}", first.tensor, what));
  };
  if (auto elements = ptc::NumElements(first.shape); !elements) {
    return fail(fmt::format("cannot be written: {}", elements.error().message));
  }
  const auto whole = Box::Whole(first.shape);
  std::vector<Box> boxes;
  for (const int i : group) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    if (piece.dtype != first.dtype || piece.shape != first.shape) {
      return fail("has pieces of different dtypes or shapes");
    }
    if (piece.shard < 0) return fail(fmt::format("has a piece of shard {}", piece.shard));
    if (piece.box.has_value() != whole.has_value() ||
        (whole && (piece.box->rank() != whole->rank() || !Contains(*whole, *piece.box)))) {
      return fail(fmt::format("has piece {} that does not fit its shape {}", ToString(piece),
                              ptc::ToString(piece.shape)));
    }
    if (!piece.box) continue;
    if (auto units = ptc::UnitBox(piece.dtype, piece.shape, *piece.box); !units) {
      return std::move(units).Context(fmt::format("tensor '{}'", piece.tensor)).error();
    }
    boxes.push_back(*piece.box);
  }
  if (group.size() > 1 && (whole_only || !whole)) {
    return fail(fmt::format("has {} pieces where one is allowed", group.size()));
  }
  const auto flaw = whole ? FindTilingFlaw(*whole, boxes) : std::nullopt;
  if (!flaw) return OkStatus();
  return fail(fmt::format("{} range {}", flaw->missing ? "has no piece for" : "has two pieces for",
                          ptc::ToString(flaw->where)));
}

Status CheckPieces(const std::vector<Piece>& pieces, const std::vector<int>& by_tensor,
                   bool whole_only) {
  for (std::size_t begin = 0; begin < by_tensor.size();) {
    const auto name = [&](std::size_t i) -> const std::string& {
      return pieces[static_cast<std::size_t>(by_tensor[i])].tensor;
    };
    std::size_t end = begin + 1;
    while (end < by_tensor.size() && name(end) == name(begin)) ++end;
    TESSERA_RETURN_IF_ERROR(
        CheckTensor(pieces, std::span(by_tensor).subspan(begin, end - begin), whole_only));
    begin = end;
  }
  return OkStatus();
}

/// Fills files in this order with at most `most_bytes`, or one piece, each. Returns at least
/// `least` files.
/// \pre least <= by_tensor.size()
std::vector<PlannedFile> Fill(const std::vector<Piece>& pieces, const std::vector<int>& by_tensor,
                              std::int64_t most_bytes, std::size_t least) {
  std::vector<PlannedFile> files(1);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < by_tensor.size(); ++i) {
    const std::int64_t more = Bytes(pieces[static_cast<std::size_t>(by_tensor[i])]);
    const bool needed =
        files.size() + (by_tensor.size() - i) <= least;  // each remaining piece needs a file
    if (!files.back().pieces.empty() && (needed || more > most_bytes - bytes)) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().pieces.push_back(by_tensor[i]);
    bytes += more;
  }
  return files;
}

/// The least size of the largest of `count` files. It lies between the largest piece and all bytes
/// together. A smaller limit never needs fewer files, so it is found by bisection.
std::int64_t LeastBytes(const std::vector<Piece>& pieces, const std::vector<int>& by_tensor,
                        std::size_t count) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const Piece& piece : pieces) {
    low = std::max(low, Bytes(piece));
    high += Bytes(piece);
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (Fill(pieces, by_tensor, middle, 1).size() <= count) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Result<std::vector<PlannedFile>> PlanWhole(const std::vector<Piece>& pieces,
                                           const std::vector<int>& by_tensor,
                                           const FileLimits& limits) {
  const auto count = static_cast<std::size_t>(std::max(limits.count, 1));
  if (count > std::max<std::size_t>(by_tensor.size(), 1)) {
    return InvalidArgument(
        fmt::format("{} files were requested for {} tensors", count, by_tensor.size()));
  }
  const std::int64_t most =
      limits.count > 0 ? LeastBytes(pieces, by_tensor, count) : limits.most_bytes;
  std::vector<PlannedFile> files = Fill(pieces, by_tensor, most, count);
  if (files.size() == 1) {
    files[0].name = "model.safetensors";
    return files;
  }
  for (std::size_t f = 0; f < files.size(); ++f) {
    files[f].name = fmt::format("model-{:05}-of-{:05}.safetensors", f + 1, files.size());
  }
  return files;
}

std::vector<PlannedFile> PlanByShard(const std::vector<Piece>& pieces,
                                     const std::vector<int>& by_tensor) {
  std::map<int, std::vector<PlannedFile>> shards;
  if (by_tensor.empty()) shards[0].emplace_back();  // a checkpoint has at least one file
  std::map<int, std::pair<int, std::size_t>>
      last;  // for each shard: the previous piece and its file
  for (const int i : by_tensor) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    auto& files = shards[piece.shard];
    const auto before = last.find(piece.shard);
    const bool again =
        before != last.end() &&
        pieces[static_cast<std::size_t>(before->second.first)].tensor == piece.tensor;
    const std::size_t file = again ? before->second.second + 1 : 0;
    if (file == files.size()) files.emplace_back();
    files[file].pieces.push_back(i);
    last[piece.shard] = {i, file};
  }
  std::vector<PlannedFile> all;
  for (auto& [shard, files] : shards) {
    for (std::size_t f = 0; f < files.size(); ++f) {
      files[f].name = fmt::format("shard-{:05}-model-{:05}-of-{:05}.safetensors", shard + 1, f + 1,
                                  files.size());
      all.push_back(std::move(files[f]));
    }
  }
  return all;
}

}  // namespace

std::int64_t NumElements(const Piece& piece) { return piece.box ? piece.box->num_elements() : 0; }

std::int64_t Bytes(const Piece& piece) {
  if (!piece.box) return 0;
  const auto bytes = ptc::ByteCount(piece.dtype, piece.box->shape());
  return bytes ? *bytes : 0;
}

std::string ToString(const Piece& piece) {
  return fmt::format("'{}' {}", piece.tensor, piece.box ? ptc::ToString(*piece.box) : "[empty]");
}

std::vector<Piece> StoreOnce(std::vector<Piece> held) {
  const auto order = Sorted(held, [](const Piece& p) { return std::tie(p.box, p.shard); });
  std::map<int, std::int64_t> load;
  std::vector<Piece> once;
  std::vector<const Piece*> group;
  for (std::size_t i = 0; i < order.size(); ++i) {
    group.push_back(&held[static_cast<std::size_t>(order[i])]);
    const bool last = i + 1 == order.size() ||
                      held[static_cast<std::size_t>(order[i + 1])].tensor != group[0]->tensor;
    if (!last) continue;
    Dealer(load).Deal(group, once);
    group.clear();
  }
  std::ranges::sort(once, {}, [](const Piece& p) { return std::tie(p.shard, p.tensor, p.box); });
  return once;
}

Result<std::vector<PlannedFile>> PlanFiles(Format format, const std::string& name,
                                           const std::vector<Piece>& pieces,
                                           const FileLimits& limits) {
  const bool sharded = format == Format::kShardedSafetensors;
  if (format != Format::kSafetensors && format != Format::kHuggingFace && !sharded) {
    return InvalidArgument(
        fmt::format("checkpoints of format {} are read only", checkpoint::ToString(format)));
  }
  const auto by_tensor = Sorted(pieces, [](const Piece& p) { return std::tie(p.box); });
  TESSERA_RETURN_IF_ERROR(CheckPieces(pieces, by_tensor, !sharded));
  if (sharded) return PlanByShard(pieces, by_tensor);
  if (format == Format::kHuggingFace) return PlanWhole(pieces, by_tensor, limits);
  return std::vector<PlannedFile>{{name, by_tensor}};
}

}  // namespace tessera::checkpoint
