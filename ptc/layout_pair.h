// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The layouts before and after a change, read from their texts.

#include <string_view>

#include "ptc/layout.h"

namespace tessera::ptc {

struct LayoutPair {
  Layout from, to;
};

/// Parses both texts at the same time, each in its own thread, and computes both hashes. Equal
/// texts are parsed once.
/// \error as ParseLayout; that of `from` if both have one
Result<LayoutPair> ParseLayoutPair(std::string_view from, std::string_view to);

}  // namespace tessera::ptc
