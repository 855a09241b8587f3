// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The version that --version prints.

namespace tessera::app {

/// Release and commit, for example "0.1.0 (1a2b3c4d5e6f)". Outside a git checkout: "0.1.0 (no
/// commit)".
extern const char* const kVersion;

}  // namespace tessera::app
