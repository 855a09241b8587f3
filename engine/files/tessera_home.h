// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where Tessera keeps its own files on a machine.

#include <string>

namespace tessera::engine {

/// $TESSERA_HOME, else $XDG_DATA_HOME/tessera, else ~/.local/share/tessera.
std::string TesseraHome();

}  // namespace tessera::engine
