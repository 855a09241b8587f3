// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// SIGTERM ends a rank at once, except during an update, so that it never leaves torn state.

namespace tessera::agents::train {

/// Installs the handler of SIGTERM.
void InstallTermination();

/// While an object exists, SIGTERM is held back; the destructor then ends the process. At most one
/// object at a time.
class UpdateSection {
 public:
  UpdateSection();
  ~UpdateSection();
  UpdateSection(const UpdateSection&) = delete;
  UpdateSection& operator=(const UpdateSection&) = delete;
};

}  // namespace tessera::agents::train
