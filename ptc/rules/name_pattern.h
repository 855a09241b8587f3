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

/// `*` stands for any characters but dots, maybe none; `**` for any at all; `{layer}`, at most
/// once, for a whole number, all of its digits; every other character for itself.
class NamePattern {
 public:
  /// \error kInvalidArgument for an empty text, braces around anything else, `{layer}` twice
  static Result<NamePattern> Parse(std::string_view text);

  struct Match {
    std::optional<std::int64_t> layer;  // what `{layer}` stands for: the leftmost that fits
    friend bool operator==(const Match&, const Match&) = default;
  };
  /// Whether the pattern fits the whole name. O(pattern * name).
  std::optional<Match> Fit(std::string_view name) const;

 private:
  enum class Token : std::uint8_t { kCharacter, kAnyButDots, kAny, kLayer };
  struct Part {
    Token token;
    char character = 0;
  };
  NamePattern() = default;
  std::vector<Part> parts_;
};

/// Where a name says its layer; used by patterns and in the tensors file.
inline constexpr std::string_view kLayerMark = "{layer}";

}  // namespace tessera::ptc
