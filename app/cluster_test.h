// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Tries a connection without using it: what each agent of a cluster answers, and how to mend what
/// is wrong.

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

/// The row of a cluster that did not let this client in. \pre `state` is kRefused or kLost
ui::AgentTest refusal(const agents::Profile& profile, agents::LinkState state,
                      const std::string& detail);
/// The row of one node. \param checks what its doctor found; empty where it did not answer
/// \param now this machine's wall clock at the moment of the answer, `latency` of the round trip
ui::AgentTest findingsOf(const engine::NodeStatus& node, const std::vector<engine::Check>& checks,
                         double now, double latency);

/// One test. Lives on the GUI thread.
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
  std::jthread m_closing;  // ends the client: that may wait for the network
  std::chrono::steady_clock::time_point m_begin, m_asked;
  bool m_connected = false;
  std::optional<engine::ClusterSnapshot> m_snapshot;
  std::optional<std::vector<engine::Check>> m_checks;
  double m_answeredAt = 0, m_latency = 0;
  QTimer m_patience;
};

}  // namespace tessera::app
