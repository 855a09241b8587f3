// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The folder of Tessera's own files.

#include <string>

namespace tessera::engine {

/// $TESSERA_HOME, else $XDG_DATA_HOME/tessera, else ~/.local/share/tessera.
std::string TesseraHome();

}  // namespace tessera::engine
