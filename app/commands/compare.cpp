// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `compare`: whether two checkpoints hold the same tensors.

#include "engine/reshard/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/checkpoint_options.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "engine/checkpoint/name_prefix.h"
#include "engine/reshard/tiles.h"

namespace tessera::app {
namespace {

using reshard::DifferentRange;
using reshard::TensorDifference;

Json formOf(const checkpoint::StoredTensor* tensor) {
  if (tensor == nullptr) return nullptr;
  return {{"dtype", ToString(tensor->dtype)}, {"shape", tensor->shape}};
}

/// The unit of ranges: bytes if an element is smaller than a byte.
std::string_view unitOf(const checkpoint::StoredTensor& tensor) {
  return ptc::IsPacked(tensor.dtype) ? "byte" : "element";
}

/// The index of an element, or the offset of a byte.
std::vector<std::int64_t> indicesOf(const checkpoint::StoredTensor& tensor, std::int64_t unit) {
  if (ptc::IsPacked(tensor.dtype)) return {unit};
  return reshard::IndicesOf(tensor.shape, unit);
}

Json differenceToJson(const TensorDifference& difference) {
  Json ranges = Json::array();
  for (const DifferentRange& range : difference.ranges)
    ranges.push_back({{"begin", range.begin},
                      {"end", range.end},
                      {"index", indicesOf(*difference.a, range.begin)},
                      {"a", range.a},
                      {"b", range.b}});
  return {{"name", difference.name},
          {"unit", difference.a != nullptr ? unitOf(*difference.a) : unitOf(*difference.b)},
          {"a", formOf(difference.a)},
          {"b", formOf(difference.b)},
          {"elements", difference.num_different},
          {"ranges", std::move(ranges)}};
}

/// "[2,17] to [2,19]: 0.25 and 0.5", "byte 17: 0x3f and 0x30".
std::string describeRange(const checkpoint::StoredTensor& tensor, const DifferentRange& range) {
  const auto at = [&](std::int64_t unit) {
    if (ptc::IsPacked(tensor.dtype)) return fmt::format("byte {}", unit);
    return fmt::format("[{}]", fmt::join(indicesOf(tensor, unit), ","));
  };
  std::string text = at(range.begin);
  if (range.end - range.begin > 1) text += fmt::format(" to {}", at(range.end - 1));
  // The texts are equal although the bits differ: NaNs with another payload.
  const std::string_view note = range.a == range.b ? ", with different bits" : "";
  return fmt::format("{}: {} and {}{}", text, range.a, range.b, note);
}

void printDifference(const TensorDifference& difference) {
  if (difference.b == nullptr) {
    fmt::print("{}  only in A: {}\n", difference.name, describeForm(*difference.a));
  } else if (difference.a == nullptr) {
    fmt::print("{}  only in B: {}\n", difference.name, describeForm(*difference.b));
  } else if (difference.ranges.empty()) {
    fmt::print("{}  {} in A, {} in B\n", difference.name, describeForm(*difference.a),
               describeForm(*difference.b));
  } else {
    const std::string_view unit = unitOf(*difference.a);
    fmt::print("{}  {}: {} {}s differ\n", difference.name, describeForm(*difference.a),
               difference.num_different, unit);
    std::int64_t shown = 0;
    for (const DifferentRange& range : difference.ranges) {
      fmt::print("  {}\n", describeRange(*difference.a, range));
      shown += range.end - range.begin;
    }
    if (shown < difference.num_different)
      fmt::print("  and {} more {}s\n", difference.num_different - shown, unit);
  }
}

/// A checkpoint to compare, and the prefix that its names have lost.
struct ComparedSide {
  std::shared_ptr<const checkpoint::Checkpoint> checkpoint;
  std::string prefix = {};
};

bool hasPrefix(const checkpoint::Checkpoint& checkpoint, const std::string& prefix) {
  return std::ranges::any_of(checkpoint.tensors(),
                             [&](const auto& tensor) { return tensor.name.starts_with(prefix); });
}

/// One --strip-prefix is of both sides, where it occurs; of two, each is of one side.
Result<ComparedSide> openSide(const Invocation& call, std::size_t word) {
  TESSERA_TRY(auto opened, openCheckpoint(call, call.arguments.word(word)));
  const std::vector<std::string> prefixes = call.arguments.values("strip-prefix");
  const bool isOfBoth = prefixes.size() == 1;
  const std::string prefix = prefixes.empty() ? "" : prefixes[isOfBoth ? 0 : word];
  if (prefix.empty() || (isOfBoth && !hasPrefix(*opened, prefix))) return ComparedSide{opened};
  TESSERA_TRY(opened, opened->WithoutPrefix(prefix));
  return ComparedSide{opened, prefix};
}

/// "26 of 26 names are equal without the prefix '_orig_mod.' of A: --strip-prefix _orig_mod. …";
/// empty if the names do not differ by a prefix.
std::string prefixNote(const ComparedSide& a, const ComparedSide& b) {
  const auto difference = checkpoint::FindPrefixDifference(*a.checkpoint, *b.checkpoint);
  if (!difference) return {};
  const std::string ofA = a.prefix + difference->of_a, ofB = b.prefix + difference->of_b;
  const std::string names =
      fmt::format("{} of {} names are equal without the prefix", difference->num_equal,
                  std::max(a.checkpoint->tensors().size(), b.checkpoint->tensors().size()));
  const auto quoted = [](const std::string& prefix) { return prefix.empty() ? "''" : prefix; };
  const std::string both =
      fmt::format("--strip-prefix {} --strip-prefix {}", quoted(ofA), quoted(ofB));
  if (!ofA.empty() && !ofB.empty())
    return fmt::format("{} '{}' of A and '{}' of B: {} removes them", names, ofA, ofB, both);
  const std::string prefix = ofA + ofB;
  // One option would take the prefix from the names of the other side as well.
  const bool isOfBoth = hasPrefix(*(ofA.empty() ? a : b).checkpoint, prefix);
  return fmt::format("{} '{}' of {}: {} removes it", names, prefix, ofB.empty() ? "A" : "B",
                     isOfBoth ? both : fmt::format("--strip-prefix {}", prefix));
}

/// Exit codes, as of cmp(1) and diff(1).
enum CompareCode : int { kEqual = 0, kDifferent = 1, kNotCompared = 2 };

int couldNotCompare(const Error& error) {
  printError(error, kNotCompared);
  return kNotCompared;
}

int runCompare(const Invocation& call) {
  TESSERA_OR_USAGE(const auto read, readMemoryAndThreads(call.arguments));
  TESSERA_OR_USAGE(const auto limit, call.arguments.integer("limit", 20, 1, 1'000'000));
  if (call.arguments.values("strip-prefix").size() > 2)
    return wrongUsage(
        InvalidArgument("--strip-prefix: give one for both sides, or two, of A and B"));
  const auto a = openSide(call, 0);
  if (!a) return couldNotCompare(a.error());
  const auto b = openSide(call, 1);
  if (!b) return couldNotCompare(b.error());

  countInterrupts();
  ByteProgress progress("comparing", call.json || call.quiet ? nullptr : stdout,
                        ByteProgress::Elsewhere::kLines);
  reshard::ReadOptions options = read;
  options.watch = progress.watch();
  const auto found = reshard::Compare(*a->checkpoint, *b->checkpoint, options);
  progress.end();
  if (!found) return couldNotCompare(found.error());
  const auto& differences = found->differences;
  const bool equal = differences.empty();
  const std::string prefix = equal ? std::string() : prefixNote(*a, *b);
  const auto shown = std::min(differences.size(), static_cast<std::size_t>(limit));
  if (call.json) {
    Json list = Json::array();
    for (std::size_t i = 0; i < shown; ++i) list.push_back(differenceToJson(differences[i]));
    Json out = {{"equal", equal},
                {"tensors", found->num_tensors},
                {"bytes", found->bytes},
                {"different", differences.size()},
                {"differences", std::move(list)}};
    if (!prefix.empty()) out["prefix"] = prefix;
    printLine(out);
  } else if (equal) {
    fmt::print("equal: {} tensors, {}\n", found->num_tensors, formatBytes(found->bytes));
  } else {
    for (std::size_t i = 0; i < shown; ++i) printDifference(differences[i]);
    if (shown < differences.size())
      fmt::print("and {} more, see --limit\n", differences.size() - shown);
    if (!prefix.empty()) fmt::print("{}\n", prefix);
    fmt::print("different: {} of {} tensors\n", differences.size(), found->num_tensors);
  }
  return equal ? kEqual : kDifferent;
}

}  // namespace

Command compareCommand() {
  return {
      {.verb = "compare",
       .summary = "Compare the tensors of two checkpoints, whatever their layouts",
       .words = {{"A", "file or folder of any format that `inspect` reads"},
                 {"B", "the other checkpoint"}},
       .options = {limitOption("name at most N tensors that differ", "20"),
                   {.name = "strip-prefix",
                    .value = "PREFIX",
                    .help = "compare as if no name began with PREFIX, such as \"_orig_mod.\"; "
                            "given twice, the first is of A and the second of B",
                    .repeats = true},
                   strictOption(),
                   memoryOption(),
                   threadsOption(),
                   quietOption()},
       .notes = {"Bits are compared: a NaN equals the same NaN, and 0 differs from -0. Needs no "
                 "cluster.",
                 "The exit code is 0 if the checkpoints are equal, 1 if they differ, and 2 if "
                 "they could not be compared. Tensors that differ are listed with their first "
                 "ranges and the first value of each."},
       .examples = {"tesseractl compare checkpoints/step-1000 step-1000-tp2",
                    "tesseractl compare --quiet a.safetensors b.safetensors"}},
      runCompare};
}

}  // namespace tessera::app
