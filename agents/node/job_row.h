// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What registrar and agents alike keep of a job in their journals.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

struct JobRow {
  std::string settings;  // JSON of engine::JobSettings
  ptc::Layout layout;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
};
/// An object; more members may be put beside these.
nlohmann::json ToJson(const JobRow& row);
/// \param key of the row, for messages
/// \param json takes the whole object where given
/// \error kDataLoss naming the row
Result<JobRow> ParseJobRow(const std::string& key, const std::string& text,
                           nlohmann::json* json = nullptr);

}  // namespace tessera::agents
