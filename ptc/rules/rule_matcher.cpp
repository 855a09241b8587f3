// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rule_matcher.h"

#include <algorithm>
#include <charconv>

namespace tessera::ptc {
namespace {

constexpr std::string_view kUsualWord = "layers.";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetterOrDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The literal text before {layer}: "layers." of `**layers.{layer}.mlp`, "block_" of
/// `block_{layer}.w`. Empty if a wildcard is there.
std::string_view WordBefore(std::string_view pattern, std::size_t mark) {
  std::string_view before = pattern.substr(0, mark);
  std::size_t begin = before.size();
  if (before.ends_with('.')) --begin;
  while (begin > 0 && std::string_view(".*}").find(before[begin - 1]) == std::string_view::npos) {
    --begin;
  }
  before.remove_prefix(begin);
  return before == "." ? std::string_view() : before;
}

bool IsForAnEnd(const std::optional<StagePlace>& stage) {
  return stage == StagePlace::kFirst || stage == StagePlace::kLast ||
         stage == StagePlace::kFirstAndLast;
}

/// Where `word` begins in `text`, at `from` or later; not inside a longer word.
std::size_t FindWord(std::string_view text, std::string_view word, std::size_t from = 0) {
  std::size_t at = text.find(word, from);
  while (at != std::string_view::npos && at > 0 && IsLetterOrDigit(text[at - 1])) {
    at = text.find(word, at + 1);
  }
  return at;
}

/// The number after `word` at `at`, if it ends there or at a dot.
std::optional<std::int64_t> NumberAfter(std::string_view name, std::size_t at,
                                        std::string_view word) {
  const std::string_view digits = name.substr(at + word.size());
  const char* const end = digits.data() + digits.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || !IsDigit(digits.front())) return std::nullopt;
  return stop == end || *stop == '.' ? std::optional(number) : std::nullopt;
}

}  // namespace

RuleMatcher::RuleMatcher(const std::vector<CutRule>& rules)
    : rules_(rules), index_(rules), words_{std::string(kUsualWord)} {
  for (const CutRule& rule : rules) {
    const std::size_t mark = rule.match.find(kLayerMark);
    if (mark == std::string::npos) continue;
    const std::string word(WordBefore(rule.match, mark));
    if (!word.empty() && std::ranges::count(words_, word) == 0) words_.push_back(word);
  }
  const auto names_layer = [this](const CutRule& rule) {
    return std::ranges::any_of(words_, [&](const std::string& word) {
      return FindWord(rule.match, word) != std::string::npos;
    });
  };
  for (const CutRule& rule : rules) {
    leaves_layers_.push_back(IsForAnEnd(rule.stage) && !names_layer(rule));
  }
}

std::optional<std::int64_t> RuleMatcher::LayerOf(std::string_view name) const {
  std::optional<std::int64_t> layer;
  std::size_t leftmost = name.size();
  for (const std::string& word : words_) {
    for (std::size_t at = FindWord(name, word); at < leftmost; at = FindWord(name, word, at + 1)) {
      const auto number = NumberAfter(name, at, word);
      if (!number) continue;
      layer = number;
      leftmost = at;
    }
  }
  return layer;
}

std::optional<RuleMatcher::Fit> RuleMatcher::Match(std::size_t rule, std::string_view name) const {
  const auto match = rules_[rule].pattern.Fit(name);
  if (!match) return std::nullopt;
  if (match->layer) return Fit{*match};
  const auto layer = LayerOf(name);
  if (layer && leaves_layers_[rule]) return std::nullopt;
  return Fit{*match, layer};
}

std::optional<std::int64_t> RuleMatcher::TornLayer(std::size_t rule, std::string_view name) const {
  if (!leaves_layers_[rule] || !rules_[rule].pattern.Fit(name)) return std::nullopt;
  return LayerOf(name);
}

}  // namespace tessera::ptc
