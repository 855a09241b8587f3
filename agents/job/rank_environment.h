// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The environment variables that an agent sets for a rank process. The rank library reads them;
/// jobs need not.

#include <string>
#include <vector>

#include "agents/job/rank_view.h"

namespace tessera::agents {

namespace rank_variable {
inline constexpr const char* kSocket = "TESSERA_RANK_SOCKET";
inline constexpr const char* kJob = "TESSERA_JOB";
inline constexpr const char* kDevice = "TESSERA_DEVICE";
inline constexpr const char* kCudaDevice = "TESSERA_CUDA_DEVICE";
inline constexpr const char* kSettings = "TESSERA_SETTINGS";
inline constexpr const char* kSettingsFile = "TESSERA_SETTINGS_FILE";
inline constexpr const char* kInitialise = "TESSERA_INITIALISE";
inline constexpr const char* kFinishUpdate = "TESSERA_FINISH_UPDATE";
inline constexpr const char* kView = "TESSERA_VIEW";
inline constexpr const char* kViewFile = "TESSERA_VIEW_FILE";
inline constexpr const char* kLayoutFile = "TESSERA_LAYOUT_FILE";
inline constexpr const char* kCollectiveTimeout = "TESSERA_COLLECTIVE_TIMEOUT";
}  // namespace rank_variable

struct RankEnvironmentSpec {
  /// Other variables as KEY=VALUE. TESSERA_* and the names of TorchrunEnvironment are left out.
  std::vector<std::string> base;
  std::string socket;  // path of the RankPort
  RankId id;
  std::string settings;       // JSON text
  std::string settings_file;  // path of a file with the settings; if not empty, replaces `settings`
  bool initialise = false;    // the pieces hold no data yet
  bool finish_update = false;  // the process makes one update and ends
  RankView view;              // the view that the process is started for
  std::string view_file;      // path of a file with the view; if not empty, replaces `view`
  std::string layout_file;    // JSON of a layout of the job: names its tensors
  int cuda_device = -1;       // number of the CUDA device with the pieces; -1: host memory
  std::int64_t collective_timeout = 0;  // seconds; 0: it follows from the length of the steps
};

/// `base` and the variables of the rank library, and PYTHONHASHSEED, unless it is given. The keeper
/// adds TESSERA_ARENA_FD.
std::vector<std::string> RankEnvironment(const RankEnvironmentSpec& spec);

/// The variables that torchrun sets: RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE (among the
/// ranks of the same node), MASTER_ADDR, MASTER_PORT. They hold for the epoch that the process is
/// started for; later epochs are in its views. Empty for a rank outside the mesh.
std::vector<std::string> TorchrunEnvironment(const RankView& view,
                                             const std::string& master_address, int master_port);

}  // namespace tessera::agents
