// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rows of a journal that cannot be read and are not needed. They are kept under another key, so
/// that they stop neither this process nor the next one.

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::engine {

inline constexpr char kUnreadable[] = "unreadable/";  // followed by the first key

/// \param file the journal's name, such as `registrar.db`
/// \return one sentence for an event
/// \error those of the journal
Result<std::string> SetAside(DurableStore& journal, std::string_view file, const std::string& key,
                             const std::string& value, const Error& why);

/// The number that a row holds.
/// \error kDataLoss naming the row, if it is anything but a number of at least 0
Result<std::int64_t> ParseNumberRow(const std::string& key, const std::string& value);

}  // namespace tessera::engine
