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

/// A pattern that a whole name must match. `*` matches any characters except dots, `**` matches any
/// characters; both also match nothing. `{layer}` and `{expert}`, each at most once, match a whole
/// number with all of its digits. Every other character matches itself.
class NamePattern {
 public:
  /// \error kInvalidArgument if the text is empty, if braces enclose another word, or if `{layer}`
  ///     or `{expert}` appears twice
  static Result<NamePattern> Parse(std::string_view text);

  struct Match {
    // The numbers that `{layer}` and `{expert}` match; the leftmost if several do.
    std::optional<std::int64_t> layer = {};
    std::optional<std::int64_t> expert = {};
    friend bool operator==(const Match&, const Match&) = default;
  };
  /// Matches the whole name. O(pattern * name). Allocates nothing for names of up to 127 bytes.
  std::optional<Match> Fit(std::string_view name) const;

 private:
  enum class Token : std::uint8_t { kCharacter, kAnyButDots, kAny, kLayer, kExpert };
  struct Part {
    Token token;
    char character = 0;
  };
  NamePattern() = default;
  /// Matches a part other than a wildcard with the name from `at` on. Returns where it ends.
  /// \pre at <= name.size()
  static std::optional<std::size_t> Step(const Part& part, std::string_view name, std::size_t at,
                                         Match& match);
  std::vector<Part> parts_;
};

/// The placeholders of the layer and the expert in patterns and in the names of the tensors file.
inline constexpr std::string_view kLayerMark = "{layer}";
inline constexpr std::string_view kExpertMark = "{expert}";

}  // namespace tessera::ptc
