// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A TESSERA_HOME for one experiment in the folder for temporary files.

#include <string>

#include "app/commands/local_cluster.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Owns a folder and the cluster in it. The destructor ends the cluster and removes the folder; if
/// the owning process was killed, the next `make` does so.
class PrivateHome {
 public:
  /// \error kUnavailable naming the folder and the system's reason
  static Result<PrivateHome> make();
  PrivateHome(PrivateHome&& other) noexcept;
  PrivateHome& operator=(PrivateHome&&) = delete;
  ~PrivateHome();

  const std::string& path() const { return m_path; }
  /// Options for a cluster in this folder.
  LocalClusterOptions cluster(int nodes, int devices) const;

 private:
  explicit PrivateHome(std::string path) : m_path(std::move(path)) {}
  std::string m_path;  // empty: moved from
};

}  // namespace tessera::app
