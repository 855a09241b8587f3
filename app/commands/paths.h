// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Paths and folders, without exceptions.

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace tessera::app {

/// `path` from the root on; `path` itself where the working folder is gone.
std::string absolutePath(const std::filesystem::path& path);

/// The entries of a folder, sorted. \param failure as of std::filesystem::directory_iterator
std::vector<std::filesystem::directory_entry> entriesOf(const std::filesystem::path& folder,
                                                        std::error_code& failure);

}  // namespace tessera::app
