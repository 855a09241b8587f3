// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Only one `up` or `down` of a cluster at a time.

#include <string>
#include <utility>

#include "engine/files/descriptor.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Excludes every other holder of the lock of one home and name while it exists, also in this
/// process and on other hosts that share the home. The file CLUSTERS/NAME.lock names the holder.
/// The kernel releases the lock when a process ends, so a killed `up` leaves none.
class ClusterLock {
 public:
  /// \param clusters folder of the clusters; created if it is missing
  /// \param verb of the caller, for the message that others get
  /// \error kFailedPrecondition naming verb, cluster and pid of the holder; kUnavailable naming the
  ///     file
  static Result<ClusterLock> take(const std::string& clusters, const std::string& name,
                                  const std::string& verb);

 private:
  explicit ClusterLock(engine::Descriptor file) : m_file(std::move(file)) {}
  engine::Descriptor m_file;
};

}  // namespace tessera::app
