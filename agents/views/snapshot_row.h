// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What agents and the registrar keep of a snapshot in their journals.

#include <cstdint>
#include <string>

#include "agents/views/share_reader.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct SnapshotRow {
  std::uint64_t id = 0;
  SharedState state;
  std::string digest = {};       // of the whole state; the registrar's row only
  std::int64_t of_timeline = 0;  // of the job that may return to it; the registrar's row only
};

/// JSON.
std::string ToText(const SnapshotRow& row);
/// \error kDataLoss naming `key` and what is wrong
Result<SnapshotRow> ParseSnapshotRow(const std::string& key, const std::string& text);

}  // namespace tessera::agents
