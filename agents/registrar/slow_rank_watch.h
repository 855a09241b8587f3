// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Names ranks that have become slower than their peers, and those that no longer are.

#include "agents/registrar/job.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class SlowRankWatch : public RegistrarPart {
 public:
  explicit SlowRankWatch(const Common& common) : RegistrarPart(common) {}

  /// Looks at what the last heartbeats say of the ranks of the job.
  void Note(Job& job) const;
};

}  // namespace tessera::agents
