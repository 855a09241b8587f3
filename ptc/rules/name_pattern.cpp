// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace tessera::ptc {
namespace {

/// A way to match the parts so far with the first `at` characters of a name.
struct PatternEnd {
  std::size_t at = 0;
  NamePattern::Match match;
};

/// The ways to match the parts so far, ascending by `at`. Of those that end at the same place only
/// the leftmost counts. On the stack for names of usual length.
class PatternEnds {
 public:
  explicit PatternEnds(std::size_t most) : most_(most) {
    if (2 * most > small_.size()) large_.resize(2 * most);
  }
  std::span<const PatternEnd> Current() { return Row(current_).first(count_); }
  void AddToNext(const PatternEnd& end) { Row(1 - current_)[next_count_++] = end; }
  void Swap() {
    current_ = 1 - current_;
    count_ = std::exchange(next_count_, 0);
  }

 private:
  std::span<PatternEnd> Row(std::size_t row) {
    const std::span<PatternEnd> all = large_.empty() ? std::span<PatternEnd>(small_) : large_;
    return all.subspan(row * most_, most_);
  }
  std::array<PatternEnd, 256> small_;
  std::vector<PatternEnd> large_;
  std::size_t most_;
  std::size_t current_ = 0;
  std::size_t count_ = 0, next_count_ = 0;
};

/// Matches a wildcard.
/// \pre there is a current way
void ExtendEnds(PatternEnds& ends, std::string_view name, bool over_dots) {
  const std::span<const PatternEnd> current = ends.Current();
  auto own = current.begin();
  const PatternEnd* from = nullptr;
  for (std::size_t at = current.front().at; at <= name.size(); ++at) {
    if (from != nullptr && !over_dots && name[at - 1] == '.') from = nullptr;
    if (own != current.end() && own->at == at) {
      if (from == nullptr) from = &*own;
      ++own;
    }
    if (from != nullptr) ends.AddToNext({at, from->match});
  }
}

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

std::optional<std::size_t> NamePattern::Step(const Part& part, std::string_view name,
                                             std::size_t at, Match& match) {
  if (part.token == Token::kCharacter) {
    if (at == name.size() || name[at] != part.character) return std::nullopt;
    return at + 1;
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = name.substr(at);
  const auto last = std::find_if_not(digits.begin(), digits.end(), is_digit);
  const auto size = static_cast<std::size_t>(last - digits.begin());
  if (size == 0 || (at > 0 && is_digit(name[at - 1]))) return std::nullopt;
  std::int64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + size, number).ec != std::errc()) {
    return std::nullopt;
  }
  (part.token == Token::kLayer ? match.layer : match.expert) = number;
  return at + size;
}

std::optional<NamePattern::Match> NamePattern::Fit(std::string_view name) const {
  // Most patterns differ from most names at the end or at the beginning.
  for (std::size_t n = 1; n <= parts_.size(); ++n) {
    const Part& part = parts_[parts_.size() - n];
    if (part.token != Token::kCharacter) break;
    if (n > name.size() || name[name.size() - n] != part.character) return std::nullopt;
  }
  // Up to the first wildcard there is one way to match at most.
  const auto is_wildcard = [](const Part& part) {
    return part.token == Token::kAny || part.token == Token::kAnyButDots;
  };
  PatternEnd begin;
  auto rest = parts_.begin();
  for (; rest != parts_.end() && !is_wildcard(*rest); ++rest) {
    const auto after = Step(*rest, name, begin.at, begin.match);
    if (!after) return std::nullopt;
    begin.at = *after;
  }
  PatternEnds ends(name.size() + 1);
  ends.AddToNext(begin);
  ends.Swap();
  for (; rest != parts_.end(); ++rest) {
    if (is_wildcard(*rest)) {
      ExtendEnds(ends, name, rest->token == Token::kAny);
    } else {
      for (PatternEnd end : ends.Current()) {
        const auto after = Step(*rest, name, end.at, end.match);
        if (!after) continue;
        end.at = *after;
        ends.AddToNext(end);
      }
    }
    ends.Swap();
    if (ends.Current().empty()) return std::nullopt;
  }
  const PatternEnd& whole = ends.Current().back();
  if (whole.at != name.size()) return std::nullopt;
  return whole.match;
}

}  // namespace tessera::ptc
