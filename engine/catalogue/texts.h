// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files of resources/models and resources/rules, which the build compiles in.

#include <span>
#include <string_view>

namespace tessera::engine {

struct NamedResource {
  std::string_view name;  // file name without .json
  std::string_view text;
};
/// In byte order of the names.
std::span<const NamedResource> ModelTexts();
std::span<const NamedResource> RuleTexts();

}  // namespace tessera::engine
