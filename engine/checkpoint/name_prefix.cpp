// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/name_prefix.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <unordered_set>

namespace tessera::checkpoint {
namespace {

constexpr std::size_t kMostPrefixes = 8;

/// The prefixes to try: none, and those of the first, the middle and the last name. One outlier,
/// such as lm_head.weight, is not all three.
std::vector<std::string> Candidates(const std::vector<StoredTensor>& tensors) {
  std::set<std::string> found = {""};
  for (const std::size_t at : {std::size_t{0}, tensors.size() / 2, tensors.size() - 1}) {
    for (std::string& prefix : PrefixesOf(tensors[at].name)) found.insert(std::move(prefix));
  }
  std::vector<std::string> shortest(found.begin(), found.end());
  std::ranges::stable_sort(shortest, {}, &std::string::size);
  if (shortest.size() > kMostPrefixes) shortest.resize(kMostPrefixes);
  return shortest;
}

std::string_view Without(std::string_view name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

}  // namespace

std::vector<std::string> PrefixesOf(std::string_view name) {
  std::vector<std::string> prefixes;
  for (std::size_t dot = name.find('.');
       dot != std::string_view::npos && prefixes.size() < kMostPrefixes;
       dot = name.find('.', dot + 1)) {
    prefixes.emplace_back(name.substr(0, dot + 1));
  }
  return prefixes;
}

std::vector<std::string> CommonPrefixes(const Checkpoint& checkpoint) {
  if (checkpoint.tensors().empty()) return {};
  // Names are sorted: what the first and the last begin with, all begin with.
  std::vector<std::string> prefixes = PrefixesOf(checkpoint.tensors().front().name);
  const std::string& last = checkpoint.tensors().back().name;
  std::erase_if(prefixes, [&](const std::string& prefix) { return !last.starts_with(prefix); });
  return prefixes;
}

std::string WrapperPrefix(const Checkpoint& checkpoint) {
  constexpr auto kWrappers =
      std::to_array<std::string_view>({"_orig_mod.", "module.", "_fsdp_wrapped_module."});
  std::string found;
  for (const std::string& prefix : CommonPrefixes(checkpoint)) {
    const std::string_view part = std::string_view(prefix).substr(found.size());
    if (std::ranges::find(kWrappers, part) == kWrappers.end()) break;
    found = prefix;
  }
  return found;
}

std::optional<PrefixDifference> FindPrefixDifference(const Checkpoint& a, const Checkpoint& b) {
  if (a.tensors().empty() || b.tensors().empty()) return std::nullopt;
  PrefixDifference best;
  bool differs = false;
  for (const std::string& of_b : Candidates(b.tensors())) {
    std::unordered_set<std::string_view> names;
    for (const StoredTensor& tensor : b.tensors()) names.insert(Without(tensor.name, of_b));
    for (const std::string& of_a : Candidates(a.tensors())) {
      const auto equal = static_cast<std::size_t>(std::ranges::count_if(
          a.tensors(),
          [&](const StoredTensor& tensor) { return names.contains(Without(tensor.name, of_a)); }));
      // The shortest prefixes come first, and longer ones must make more names equal.
      if (equal <= best.num_equal) continue;
      best = {of_a, of_b, equal};
      differs = !of_a.empty() || !of_b.empty();
    }
  }
  const std::size_t smaller = std::min(a.tensors().size(), b.tensors().size());
  if (!differs || 2 * best.num_equal < smaller) return std::nullopt;
  return best;
}

}  // namespace tessera::checkpoint
