// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Samples of tar shards put one after the other in another order, and still told apart.

#include <cstddef>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// In an archive nothing but names tells where a sample ends (tar.h), and the names of two shards
/// may be the same, or a sample come twice at the end of a pass. Where a sample has the name of the
/// one before it, one character of its name becomes another, in all its members. Sizes stay.
class TarSeparator {
 public:
  /// The next sample of the archive, whole members as Dataset::ReadRecord gives them; may change
  /// it. \error kDataLoss where it holds no members
  Status Next(std::span<std::byte> record);

 private:
  std::string last_;  // name of the sample before
};

}  // namespace tessera::engine
