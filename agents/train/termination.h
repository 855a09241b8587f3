// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// SIGTERM ends a rank at once, except in the middle of an update: state is never torn by it.

namespace tessera::agents::train {

/// Handles SIGTERM from now on.
void InstallTermination();

/// While one of these lives, SIGTERM waits; it then ends the process when the object goes.
/// At most one at a time.
class UpdateSection {
 public:
  UpdateSection();
  ~UpdateSection();
  UpdateSection(const UpdateSection&) = delete;
  UpdateSection& operator=(const UpdateSection&) = delete;
};

}  // namespace tessera::agents::train
