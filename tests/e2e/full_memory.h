// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// GPUs that a job nearly fills.

#include <QString>
#include <initializer_list>
#include <string>

namespace tessera::test {

/// Memory for `up --memory`, of which gpt-mini takes 95 % on the device that needs most on any of
/// these meshes, such as "tp=4 on 2x2".
QString FullMemory(std::initializer_list<std::string> meshes);

}  // namespace tessera::test
