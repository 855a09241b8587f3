// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Answers of a cluster to the requests of dialogs, for pictures and tests of comfort.

#include <optional>

#include "ptc/base/result.h"
#include "ui/requests.h"

namespace tessera::test {

std::optional<Result<ui::Answer>> SampleAnswer(const ui::Request& request);

}  // namespace tessera::test
