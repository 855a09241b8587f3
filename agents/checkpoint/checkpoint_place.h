// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checkpoints in folders and behind URLs of http and https. Only the ranges that are needed are
/// read from a server.

#include <memory>
#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/saved_folder.h"
#include "engine/cluster/checkpoint_status.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Opens a checkpoint of a cluster by its manifest.
/// \error as checkpoint::OpenSavedFolder and OpenSaved; those of HttpFiles::Open
Result<std::shared_ptr<const checkpoint::Checkpoint>> OpenCheckpointAt(const std::string& place);
/// The place without user, password and query of a URL, for messages.
std::string ShownPlace(const std::string& place);
/// As checkpoint::Examine. The files behind a URL are not examined.
checkpoint::FoundCheckpoint ExamineCheckpointAt(const std::string& place);

/// What lists show of a checkpoint.
engine::CheckpointEntry EntryOf(const checkpoint::FoundCheckpoint& found);

}  // namespace tessera::agents
