// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rows of the registrar's journal that cannot be read. They are kept under another key, so that
/// they stop neither this registrar nor the next one.

#include <cstdint>
#include <string>

#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::agents {

inline constexpr char kUnreadable[] = "unreadable/";  // followed by the first key

/// \return one sentence for an event
/// \error those of the journal
Result<std::string> SetAside(engine::DurableStore& journal, const std::string& key,
                             const std::string& value, const Error& why);

/// The number that a row holds.
/// \error kDataLoss naming the row, if it is anything but a number of at least 0
Result<std::int64_t> ParseNumberRow(const std::string& key, const std::string& value);

}  // namespace tessera::agents
