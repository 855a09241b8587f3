// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What happens to a simulated cluster while a panel shows it: losses, restarts, other users.

#include <QString>
#include <memory>
#include <random>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::test {

/// Sends its acts past the panel. What the cluster refuses is no failure.
class ClusterWeather {
 public:
  /// All outlive it.
  ClusterWeather(const ui::ClusterModel& model, ui::ClusterCommands& commands,
                 std::mt19937_64& random);

  /// Does one thing.
  /// \return its name
  QString act();
  /// Starts jobs where fewer than two are left, and whatever else users need to have something to
  /// do.
  void repair();
  int jobsStarted() const { return m_jobs; }
  int refusals() const { return *m_refusals; }

 private:
  int below(int limit);
  template <typename R>
  void send(const R& request);
  void startJob();
  void startNodes();

  const ui::ClusterModel& m_model;
  ui::ClusterCommands& m_commands;
  std::mt19937_64& m_random;
  int m_jobs = 0;
  int m_failedGpus = 0;
  int m_addedNodes = 0;
  std::shared_ptr<int> m_refusals = std::make_shared<int>(0);
  std::shared_ptr<bool> m_starting = std::make_shared<bool>(false);
};

}  // namespace tessera::test
