// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Listing a folder without exceptions.

#include <filesystem>
#include <system_error>
#include <vector>

namespace tessera::app {

/// The entries of a folder, sorted.
/// \param failure as of std::filesystem::directory_iterator
std::vector<std::filesystem::directory_entry> entriesOf(const std::filesystem::path& folder,
                                                        std::error_code& failure);

}  // namespace tessera::app
