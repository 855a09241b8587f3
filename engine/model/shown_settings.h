// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The settings of a job for those who may not read its secrets.

#include <string>

#include "engine/model/gpt.h"

namespace tessera::engine {

/// As ToJson, without secrets: URLs of data have no user, password and query.
std::string ShownJson(JobSettings settings);

}  // namespace tessera::engine
