// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The environment variables by which an agent tells a rank process who it is. The rank library
/// reads them; a job sees none of it.

#include <string>
#include <vector>

#include "agents/job/rank_view.h"

namespace tessera::agents {

namespace rank_variable {
inline constexpr const char* kSocket = "TESSERA_RANK_SOCKET";
inline constexpr const char* kJob = "TESSERA_JOB";
inline constexpr const char* kDevice = "TESSERA_DEVICE";
inline constexpr const char* kSettings = "TESSERA_SETTINGS";
inline constexpr const char* kSettingsFile = "TESSERA_SETTINGS_FILE";
inline constexpr const char* kInitialise = "TESSERA_INITIALISE";
inline constexpr const char* kView = "TESSERA_VIEW";
inline constexpr const char* kLayoutFile = "TESSERA_LAYOUT_FILE";
}  // namespace rank_variable

struct RankEnvironmentSpec {
  /// KEY=VALUE of everything else; its TESSERA_* and what TorchrunEnvironment names are left out.
  std::vector<std::string> base;
  std::string socket;  // path that RankPort listens on
  RankId id;
  std::string settings;       // JSON text, or
  std::string settings_file;  // the path of a file with it; used where not empty
  bool initialise = false;    // the pieces hold no data yet
  RankView view;              // that the process is started for
  std::string layout_file;    // JSON of a layout of the job: names its tensors
};

/// `base` and what the rank library needs, but for TESSERA_ARENA_FD, which the keeper adds.
std::vector<std::string> RankEnvironment(const RankEnvironmentSpec& spec);

/// What programs that torchrun starts read: RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE
/// (among the ranks of the same node), MASTER_ADDR, MASTER_PORT. They hold for the epoch that the
/// process is started for; a later one is in its view. Empty for a rank outside the mesh.
std::vector<std::string> TorchrunEnvironment(const RankView& view,
                                             const std::string& master_address, int master_port);

}  // namespace tessera::agents
