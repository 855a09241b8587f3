// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What every source file of the tree keeps to: which layer may include which, where a library may
/// be seen, the licence of its folder.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// The complaints about one file, as lines `path:line: what`. `path` is relative to the root of the
/// tree and decides what holds for it.
std::vector<std::string> CheckSource(const std::string& path, std::string_view text);

/// CheckSource over all sources below `root`: ptc, engine, agents, ui, app, tests, packaging.
/// `num_files` counts what was read.
std::vector<std::string> CheckTree(const std::filesystem::path& root, int* num_files);

}  // namespace tessera::test
