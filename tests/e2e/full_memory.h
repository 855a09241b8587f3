// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// GPUs that a job nearly fills.

#include <QString>
#include <initializer_list>
#include <string>

#include "tests/support/exact_job.h"

namespace tessera::test {

/// Returns the memory for `up --memory` of which the job takes 95 % on the device that needs most
/// on any of these meshes, such as "tp=4 on 2x2".
QString FullMemory(const ExactJob& kind, std::initializer_list<std::string> meshes);

}  // namespace tessera::test
