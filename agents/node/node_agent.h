// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent of one node: it follows the registrar, runs the ranks of its devices, and participates
/// in transactions. Owns the parts that do so, and hands each message to one of them.

#include <optional>
#include <string>
#include <vector>

#include "agents/job/rank_links.h"
#include "agents/keeper/keeper_link.h"
#include "agents/move/device_store.h"
#include "agents/net/timers.h"
#include "agents/node/committed_digests.h"
#include "agents/node/config.h"
#include "agents/node/digest_runs.h"
#include "agents/node/held_jobs.h"
#include "agents/node/inbox.h"
#include "agents/node/job_pauses.h"
#include "agents/node/job_starts.h"
#include "agents/node/kept_rows.h"
#include "agents/node/mesh_checks.h"
#include "agents/node/node_links.h"
#include "agents/node/node_report.h"
#include "agents/node/node_transactions.h"
#include "agents/node/node_views.h"
#include "agents/node/node_world.h"
#include "agents/node/output_events.h"
#include "agents/node/rank_ends.h"
#include "agents/node/rank_events.h"
#include "agents/node/rank_exits.h"
#include "agents/node/rank_logs.h"
#include "agents/node/rank_starter.h"
#include "agents/node/rank_table.h"
#include "agents/node/rendezvous_relay.h"
#include "agents/node/step_reports.h"
#include "agents/node/uplink.h"
#include "agents/node/view_requests.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// No socket, process, thread, file or clock of its own: NodeServer connects it with real ones, a
/// simulator with its own. Keeper and links receive its handlers, so they are made after it: first
/// the agent, then the keeper; TakeOver and Recover; then the links; Start.
/// \threadsafety The loop's thread.
class NodeAgent {
 public:
  /// \pre `timers` and what `world` names outlive the agent; no timer, task or reply that it has
  ///     asked for runs after its end
  NodeAgent(Timers& timers, const AgentConfig& config, NodeWorld world);
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;
  ~NodeAgent();

  /// Reports an event about this node.
  void ReportEvent(engine::Severity severity, const std::string& text) const {
    uplink_.ReportNodeEvent(severity, text);
  }
  KeeperLink::Handlers keeper_handlers();
  RankLinks::Handlers rank_handlers();

  /// Takes over memory and ranks from the keeper.
  /// \error that of an arena or of a rank's tag, naming it
  Status TakeOver(KeeperLink& keeper);
  /// Continues where the agent before has left the journal. Sends nothing to ranks. Rows that
  /// cannot be read and are not needed are set aside, with an event.
  /// \pre TakeOver has succeeded
  /// \error that of the journal; kDataLoss naming a row without which this node
  ///     does not know what it holds or has promised
  Status Recover(NodeViews& views);
  /// Registers, and does so again until the registrar answers. `lanes`: the endpoints at which
  /// other nodes fetch cells.
  void Start(RankLinks& ranks, std::vector<std::string> lanes);

  void OnMessage(wire::ToNode message);
  /// The connection to the registrar was lost, and messages with it. Now it is there again.
  void OnConnected();
  void OnDisconnected() { is_connected_ = false; }

 private:
  RankTable::World WorldOfRanks();
  NodeTransaction::World WorldOfTransactions();
  Inbox::World WorldOfInbox();
  void Handle(const wire::ToNode& message);
  Status ForgetOtherKeepers();
  Status RecoverFailures();

  void SendRegister();
  void SendHeartbeat();
  /// Each second: reports the state of this node, and repeats what the registrar may not have
  /// received.
  void Beat();
  void OnWelcome(const wire::Welcome& message);
  /// To a registrar that takes over.
  void SendKeptRows();
  void OnStopJob(const wire::StopJob& message);
  /// Kills the ranks of the job and frees what this node holds of it.
  void DropJob(const std::string& job);
  void OnQuery(const wire::NodeQuery& message);
  void OnRankLogQuery(const wire::NodeQuery& message);
  void OnHeldQuery(const wire::NodeQuery& message);
  void OnFailDevice(std::int32_t index);
  void OnDie(bool clean);
  void OnRankExited(const KeeperLink::Rank& exited);
  void OnOutput(const KeeperLink::Rank& kept, const std::string& line);
  std::optional<RankExits::Joining> FindJoining(const RankId& id) const;

  Timers& timers_;
  const AgentConfig config_;
  const NodeWorld world_;
  NodeLinks links_;
  std::vector<std::string> lanes_;      // since Start
  DeviceStore devices_;                 // empty before TakeOver
  std::vector<std::string> set_aside_;  // sentences about rows, for events
  const Uplink uplink_;
  HeldJobs jobs_;
  RankTable ranks_;
  RankLogs rank_logs_;
  OutputEvents output_events_{uplink_, world_};
  RendezvousRelay rendezvous_;
  RankStarter starter_;
  StepReports steps_;
  JobPauses pauses_;
  CommittedDigests committed_digests_;
  NodeTransactions transactions_;
  RankEvents rank_events_;
  RankExits exits_;
  RankEnds rank_ends_;
  JobStarts starts_;
  DigestRuns digests_;
  MeshChecks mesh_checks_;
  ViewRequests view_requests_;
  KeptRows kept_rows_;
  const NodeReport report_;
  Inbox inbox_;
  bool is_connected_ = false, was_connected_ = false;
  bool welcomed_ = false;  // the registrar knows this agent
  Timers::Clock::time_point last_message_;
  std::int64_t beats_ = 0, beat_every_ = 1;
};

}  // namespace tessera::agents
