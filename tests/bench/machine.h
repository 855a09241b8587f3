// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The machine that a benchmark's figures belong to.

#include <string>

namespace tessera::test {
/// "AMD EPYC, 2 cores".
std::string Machine();
}  // namespace tessera::test
