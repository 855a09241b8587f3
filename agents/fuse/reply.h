// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Helpers of all operations for replies.

#include <sys/stat.h>

#include <string_view>

#include "agents/fuse/errno_map.h"
#include "agents/fuse/operations.h"

namespace tessera::agents {

/// Timeout of attributes, seconds: they never change, except those of written files.
inline constexpr double kForEver = 86400;

FileService& ServiceOf(fuse_req_t request);
engine::vfs::Time Now();
/// Replies with the errno of the error, and logs unexpected errors.
void Fail(fuse_req_t request, const Error& error, FileRequest kind, std::string_view what);
struct stat ToStat(const FileService& service, const engine::vfs::Tree::Attributes& attributes);
/// Names of files are valid for 0 s, because the next open may need another version.
fuse_entry_param ToEntry(const FileService& service,
                         const engine::vfs::Tree::Attributes& attributes);

}  // namespace tessera::agents
