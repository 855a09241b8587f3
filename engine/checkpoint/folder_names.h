// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Lists the files of a checkpoint's folder.

#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// The names of the folder's entries that end with `suffix`, ascending. Hidden files are left out.
/// \error kUnavailable if the folder cannot be listed
Result<std::vector<std::string>> NamesEndingIn(const std::string& folder, std::string_view suffix);

/// The names that end with `suffix` and are not among `read`, which may be in any order, each in a
/// line for people: "'a.bin' is not read: WHY".
/// \error as NamesEndingIn
Result<std::vector<std::string>> UnreadFiles(const std::string& folder, std::string_view suffix,
                                             std::vector<std::string> read, std::string_view why);

}  // namespace tessera::checkpoint
