// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A TESSERA_HOME for one experiment, in the system's folder for temporary files.

#include <string>

#include "app/commands/local_cluster.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Owns a folder and the cluster that was started in it: both end with it. What an owner that was
/// killed has left is ended and removed by the next one.
class PrivateHome {
 public:
  /// \error kUnavailable naming the folder and the system's reason
  static Result<PrivateHome> make();
  PrivateHome(PrivateHome&& other) noexcept;
  PrivateHome& operator=(PrivateHome&&) = delete;
  ~PrivateHome();

  const std::string& path() const { return m_path; }
  /// The cluster that may be started here; `nodes` and `devices` are the caller's choice.
  LocalClusterOptions cluster(int nodes, int devices) const;

 private:
  explicit PrivateHome(std::string path) : m_path(std::move(path)) {}
  std::string m_path;  // empty: moved from
};

}  // namespace tessera::app
