// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What all operations need to answer a request.

#include <sys/stat.h>

#include <string_view>

#include "agents/fuse/errno_map.h"
#include "agents/fuse/operations.h"

namespace tessera::agents {

/// Nothing of an inode ever changes, but for those that are written.
inline constexpr double kForEver = 86400;

FileService& ServiceOf(fuse_req_t request);
engine::vfs::Time Now();
/// Answers with the number of the error, and logs what is no everyday one.
void Fail(fuse_req_t request, const Error& error, FileAsk ask, std::string_view what);
struct stat ToStat(const FileService& service, const engine::vfs::Tree::Attributes& attributes);
/// A file's name is looked up at each open: it may mean another version by then.
fuse_entry_param ToEntry(const FileService& service,
                         const engine::vfs::Tree::Attributes& attributes);

}  // namespace tessera::agents
