// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace tessera::ptc {
namespace {

struct PatternFit {
  bool fits = false;
  NamePattern::Match match;
};

/// Two rows of `size` entries, on the stack for names of usual length.
class PatternRows {
 public:
  explicit PatternRows(std::size_t size) : size_(size) {
    if (2 * size > small_.size()) large_.resize(2 * size);
    std::ranges::fill(Current(), PatternFit{});
  }
  std::span<PatternFit> Current() { return Row(current_); }
  std::span<PatternFit> ClearedNext() {
    const std::span<PatternFit> next = Row(1 - current_);
    std::ranges::fill(next, PatternFit{});
    return next;
  }
  void Swap() { current_ = 1 - current_; }

 private:
  std::span<PatternFit> Row(std::size_t row) {
    const std::span<PatternFit> all = large_.empty() ? std::span<PatternFit>(small_) : large_;
    return all.subspan(row * size_, size_);
  }
  std::array<PatternFit, 256> small_;
  std::vector<PatternFit> large_;
  std::size_t size_;
  std::size_t current_ = 0;
};

}  // namespace

Result<NamePattern> NamePattern::Parse(std::string_view text) {
  if (text.empty()) return InvalidArgument("the pattern is empty");
  NamePattern pattern;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_layer = text.substr(i).starts_with(kLayerMark);
    if (is_layer || text.substr(i).starts_with(kExpertMark)) {
      const std::string_view mark = is_layer ? kLayerMark : kExpertMark;
      const Token token = is_layer ? Token::kLayer : Token::kExpert;
      if (std::ranges::count(pattern.parts_, token, &Part::token) > 0) {
        return InvalidArgument(fmt::format("pattern has {} twice", mark));
      }
      pattern.parts_.push_back({token});
      i += mark.size() - 1;
    } else if (text[i] == '{' || text[i] == '}') {
      return InvalidArgument(fmt::format("pattern has braces that are not those of {} or {}",
                                         kLayerMark, kExpertMark));
    } else if (text.substr(i, 2) == "**") {
      pattern.parts_.push_back({Token::kAny});
      ++i;
    } else if (text[i] == '*') {
      pattern.parts_.push_back({Token::kAnyButDots});
    } else {
      pattern.parts_.push_back({Token::kCharacter, text[i]});
    }
  }
  return pattern;
}

std::optional<NamePattern::Match> NamePattern::Fit(std::string_view name) const {
  // Most patterns differ from most names at the end or at the beginning.
  for (std::size_t n = 1; n <= parts_.size(); ++n) {
    const Part& part = parts_[parts_.size() - n];
    if (part.token != Token::kCharacter) break;
    if (n > name.size() || name[name.size() - n] != part.character) return std::nullopt;
  }
  std::size_t prefix = 0;
  for (; prefix < parts_.size() && parts_[prefix].token == Token::kCharacter; ++prefix) {
    if (prefix == name.size() || name[prefix] != parts_[prefix].character) return std::nullopt;
  }
  // rows[now][at] describes how the parts so far match the first `at` characters of the name.
  PatternRows rows(name.size() + 1);
  rows.Current()[prefix].fits = true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const Part& part : std::span(parts_).subspan(prefix)) {
    const std::span<PatternFit> fits = rows.Current();
    const std::span<PatternFit> next = rows.ClearedNext();
    for (std::size_t at = 0; at <= name.size(); ++at) {
      if (part.token == Token::kAny || part.token == Token::kAnyButDots) {
        const bool may_extend = at > 0 && (part.token == Token::kAny || name[at - 1] != '.');
        next[at] = may_extend && next[at - 1].fits ? next[at - 1] : fits[at];
      } else if (!fits[at].fits) {
        continue;
      } else if (part.token == Token::kLayer || part.token == Token::kExpert) {
        const auto digits = name.substr(at);
        std::int64_t number = 0;
        const auto last = std::find_if_not(digits.begin(), digits.end(), is_digit);
        const auto size = static_cast<std::size_t>(last - digits.begin());
        const bool starts = size > 0 && (at == 0 || !is_digit(name[at - 1]));
        const char* end = digits.data() + size;
        if (starts && std::from_chars(digits.data(), end, number).ec == std::errc()) {
          PatternFit& fit = next[at + size] = fits[at];
          (part.token == Token::kLayer ? fit.match.layer : fit.match.expert) = number;
        }
      } else if (at < name.size() && name[at] == part.character) {
        next[at + 1] = fits[at];
      }
    }
    rows.Swap();
  }
  const PatternFit& whole = rows.Current().back();
  if (!whole.fits) return std::nullopt;
  return whole.match;
}

}  // namespace tessera::ptc
