// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Tests a connection: queries each agent of a cluster and names a remedy for each problem.

#include <QObject>
#include <QTimer>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "agents/client/cluster.h"
#include "ui/connections.h"

namespace tessera::app {

/// The row of a cluster that refused the connection.
/// \pre `state` is kRefused or kLost
ui::AgentTest refusal(const agents::Profile& profile, agents::LinkState state,
                      const std::string& detail);
/// The row of one node.
/// \param checks results of its doctor; empty if it did not answer
/// \param now this machine's wall clock when the answer arrived, `latency` of the round trip
ui::AgentTest findingsOf(const engine::NodeStatus& node, const std::vector<engine::Check>& checks,
                         double now, double latency);

/// One test. Lives on the GUI thread, and deletes itself some time after its end.
class ClusterTest : public QObject {
  Q_OBJECT

 public:
  static constexpr int kPatienceMs = 8000;

  /// `done` is called exactly once, later, unless the test is destroyed before.
  ClusterTest(agents::Profile profile, std::function<void(ui::AgentTest)> row,
              std::function<void(Result<void>)> done, QObject* parent = nullptr);
  ~ClusterTest() override;
  void start();
  void cancel();

 private:
  void onLink(agents::LinkState state, const std::string& detail);
  void askNodes();
  void report();
  void end(Result<void> result);

  agents::Profile m_profile;
  std::function<void(ui::AgentTest)> m_row;
  std::function<void(Result<void>)> m_done;
  std::unique_ptr<agents::ClusterClient> m_client;
  std::jthread m_closing;  // destroys the client, which may wait for the network; then this
  std::chrono::steady_clock::time_point m_begin, m_asked;
  bool m_connected = false;
  std::optional<engine::ClusterSnapshot> m_snapshot;
  std::optional<std::vector<engine::Check>> m_checks;
  double m_answeredAt = 0, m_latency = 0;
  QTimer m_patience;
};

}  // namespace tessera::app
