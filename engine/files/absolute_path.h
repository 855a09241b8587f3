// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Absolute paths without exceptions.

#include <string>

namespace tessera::engine {

/// Returns `path` as an absolute path without `.`, `..` and a slash at its end. Symbolic links
/// stay. Returns `path` unchanged if the working directory was removed; opening it then reports
/// why.
/// \threadsafety Any thread.
std::string AbsolutePath(const std::string& path);

}  // namespace tessera::engine
