// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Resolves links in paths. A file system may hang, and a loop must not wait for it.

#include <chrono>
#include <functional>
#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// The path without links and "..", as std::filesystem::weakly_canonical; empty if that fails. Waits
/// as long as the file system takes.
std::string ResolvePath(const std::string& path);

/// The same, on a thread that is left behind after `patience`. Until it ends, further calls with the
/// path fail at once.
/// \error kUnavailable naming the path if its file system has not answered, or if those of many
///     others have not
/// \threadsafety Any thread.
Result<std::string> ResolvePathWithin(
    const std::string& path, std::chrono::milliseconds patience,
    const std::function<std::string(const std::string&)>& resolve = ResolvePath);

}  // namespace tessera::agents
