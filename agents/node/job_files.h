// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files from which the ranks of a job read its settings and its layout. `directory` is that of
/// the node.

#include <cstdint>
#include <string>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

std::string SettingsPath(const std::string& directory, const std::string& job);
std::string LayoutPath(const std::string& directory, const std::string& job);
/// `settings`: JSON.
/// \error kUnavailable naming the folder; as engine::WriteWholeFile
Status WriteJobFiles(const std::string& directory, const std::string& job,
                     const std::string& settings, const ptc::Layout& layout);
/// Writes the view for which the rank of a device is started: of a large job it is longer than a
/// variable of the environment may be.
/// \return the path
/// \error as WriteJobFiles
Result<std::string> WriteViewFile(const std::string& directory, const std::string& job,
                                  std::int32_t device, const std::string& view);
/// Ignores errors: the files of a job are written again when it starts.
void RemoveJobFiles(const std::string& directory, const std::string& job);

}  // namespace tessera::agents
