// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Patterns on tensor names: `h.{layer}.attn.*.weight`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::ptc {

/// `*` stands for any characters but dots, maybe none; `**` for any at all; `{layer}` and
/// `{expert}`, each at most once, for a whole number, all of its digits; every other character for
/// itself.
class NamePattern {
 public:
  /// \error kInvalidArgument for an empty text, braces around anything else, one of them twice
  static Result<NamePattern> Parse(std::string_view text);

  struct Match {
    // What `{layer}` and `{expert}` stand for: the leftmost that fit.
    std::optional<std::int64_t> layer = {};
    std::optional<std::int64_t> expert = {};
    friend bool operator==(const Match&, const Match&) = default;
  };
  /// Whether the pattern fits the whole name. O(pattern * name).
  std::optional<Match> Fit(std::string_view name) const;

 private:
  enum class Token : std::uint8_t { kCharacter, kAnyButDots, kAny, kLayer, kExpert };
  struct Part {
    Token token;
    char character = 0;
  };
  NamePattern() = default;
  std::vector<Part> parts_;
};

/// Where a name says its layer and its expert; used by patterns and in the tensors file.
inline constexpr std::string_view kLayerMark = "{layer}";
inline constexpr std::string_view kExpertMark = "{expert}";

}  // namespace tessera::ptc
