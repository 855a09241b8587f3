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
  std::vector<std::string> base;  // KEY=VALUE of everything else; its TESSERA_* are left out
  std::string socket;             // path that RankPort listens on
  RankId id;
  std::string settings;       // JSON text, or
  std::string settings_file;  // the path of a file with it; used where not empty
  bool initialise = false;    // the pieces hold no data yet
  RankView view;              // that the process is started for
  std::string layout_file;    // JSON of a layout of the job: names its tensors
};

/// `base` and what the rank library needs, but for TESSERA_ARENA_FD, which the keeper adds.
std::vector<std::string> RankEnvironment(const RankEnvironmentSpec& spec);

}  // namespace tessera::agents
