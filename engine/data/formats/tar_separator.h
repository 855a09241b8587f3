// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Makes samples of tar shards distinct when they follow each other in another order.

#include <cstddef>
#include <span>
#include <string>

#include "ptc/base/result.h"

namespace tessera::engine {

/// In an archive only names show where a sample ends (tar.h). The names of two shards may be equal,
/// and a sample may come twice at the end of a pass. If a sample has the name of the one before it,
/// one character of its name is changed in all its members. Sizes stay.
class TarSeparator {
 public:
  /// Takes the next sample of the archive, whole members as Dataset::ReadRecord returns them, and
  /// changes its name if need be.
  /// \error kDataLoss if it has no members
  Status Next(std::span<std::byte> record);

 private:
  std::string last_;  // name of the sample before
};

}  // namespace tessera::engine
