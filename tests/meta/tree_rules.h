// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rules for every source file of the tree: which layers it may include, where a library may be
/// included, the licence of its folder.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// The violations in one file, as lines `path:line: what`. `path` is relative to the root of the
/// tree and selects the rules.
std::vector<std::string> CheckSource(const std::string& path, std::string_view text);

/// CheckSource over all sources below `root`: ptc, engine, agents, ui, app, tests, packaging,
/// resources.
/// `num_files` counts the files that were read.
std::vector<std::string> CheckTree(const std::filesystem::path& root, int* num_files);

}  // namespace tessera::test
