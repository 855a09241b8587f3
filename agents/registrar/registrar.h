// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar runs in the agent of the first node. It holds the job table and the decision
/// register, plans and coordinates transactions, answers panels and command lines, and writes the
/// history of the cluster.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agents/registrar/checkpoint_desk.h"
#include "agents/registrar/clients.h"
#include "agents/registrar/data_openings.h"
#include "agents/registrar/decisions.h"
#include "agents/registrar/documents.h"
#include "agents/registrar/event_limits.h"
#include "agents/registrar/inquiries.h"
#include "agents/registrar/job_starter.h"
#include "agents/registrar/job_stops.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/link_survey.h"
#include "agents/registrar/loss_desk.h"
#include "agents/registrar/mesh_return.h"
#include "agents/registrar/node_acts.h"
#include "agents/registrar/node_query_client.h"
#include "agents/registrar/pause_desk.h"
#include "agents/registrar/plan_desk.h"
#include "agents/registrar/registrar_world.h"
#include "agents/registrar/rendezvous.h"
#include "agents/registrar/replica_inquiry.h"
#include "agents/registrar/request_turns.h"
#include "agents/registrar/restarter.h"
#include "agents/registrar/slow_rank_watch.h"
#include "agents/registrar/start_sender.h"
#include "agents/registrar/state_requests.h"
#include "agents/registrar/step_recorder.h"
#include "agents/registrar/table_rebuilder.h"
#include "agents/registrar/transaction_desk.h"
#include "agents/registrar/transaction_numbers.h"

namespace tessera::agents {

/// Connects its parts: each message goes to the part that it is about. What concerns several parts,
/// such as a heartbeat or a lost node, goes to them one after the other.
///
/// Has no socket, clock, thread or file of its own: RegistrarServer gives it those of its agent,
/// and the simulator simulated ones.
/// \threadsafety The thread of its timers.
class Registrar {
 public:
  using World = RegistrarWorld;

  Registrar(Timers& timers, const AgentConfig& config, World world);
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  /// Reads what an earlier registrar has journaled, and goes on from there.
  /// \error those of journal and history
  Status Recover();
  /// \param owner of the key with which the client has connected
  void OnRequest(const std::string& identity, const KeyOwner& owner, const wire::Request& request);
  /// \pre the sender has connected with the key of the node that the message names
  void OnNode(const std::string& identity, const wire::FromNode& message);
  void AddEvent(engine::Severity severity, const std::string& source, const std::string& text);
  /// That are known, alive or not.
  std::size_t num_nodes() const { return members_.nodes().size(); }

 private:
  using Clock = Timers::Clock;
  using Node = Membership::Node;

  Publisher::World WorldOfPublisher();
  Decisions::World WorldOfDecisions();
  TransactionDesk::World WorldOfTransactions();
  PauseDesk::World WorldOfPauses();
  LossDesk::World WorldOfLosses();
  MeshReturn::World WorldOfReturns();
  Restarter::World WorldOfRestarts();
  JobStarter::World WorldOfStarts();
  CheckpointDesk::World WorldOfCheckpoints();
  StateRequests::World WorldOfStateRequests();
  TableRebuilder::World WorldOfRebuilds();

  /// Whatever the request asks for, now.
  void Answer(const std::string& identity, const KeyOwner& owner, const wire::Request& request,
              const ReplyPtr& reply);
  /// \error naming the transaction or operation that runs
  Status CheckIdle() const;
  /// The same for links that are being measured too.
  Status CheckFree() const;
  // ---- the state as clients see it (registrar_status.cpp)
  /// As Publisher::World::state.
  engine::ClusterSnapshot State(bool all_nodes);
  /// The same with everything, for one client.
  void OnStatus(const ReplyPtr& reply);
  engine::NodeStatus StatusOf(const Node& node) const;
  /// An event of this node, with its state if that has changed.
  void AddNodeEvent(engine::Severity severity, const Node& node, const std::string& text);
  engine::JobStatus StatusOf(const Job& job) const;
  /// What the rows of nodes depend on besides the nodes themselves.
  std::string ShownLayouts() const;

  /// If the row of the next number cannot be read, numbers continue far above all that are known.
  Status RecoverNumbers();
  /// Goes on with a history that is older than the journal: `up` keeps the one of the cluster that
  /// had this name before. A number in it is not used again, its last change has ended without an
  /// outcome, and its nodes are gone.
  Status ContinueHistory();
  /// Tells clients which life of the cluster this is: a row of the journal, which ends with the
  /// cluster, and the history, whose numbers they know.
  void NameIncarnation();

  // ---- requests
  wire::Request OfLatestJob(wire::Request request) const;
  void OnHistory(const wire::Request& request, const ReplyPtr& reply);
  void OnJobRequest(const wire::JobRequest& request, const ReplyPtr& reply);
  void OnForgetSetAside(const std::string& name, const ReplyPtr& reply);
  void OnStop(Job& job, const ReplyPtr& reply);
  /// Ends what runs for the job and frees its state. Erases it from the table.
  /// \pre the journal says that it is over
  void Close(Job& job);
  void OnLoadCheckpoint(const std::string& request_id, const wire::LoadCheckpointRequest& request,
                        const ReplyPtr& reply);
  void OnResume(Job& job, const ReplyPtr& reply);

  // ---- nodes (registrar_nodes.cpp)
  /// Whether the node is of the job, or takes part in its change.
  bool IsPartOf(const std::string& job, std::int32_t node) const;
  /// Whether a step counts that the node reports.
  bool MayReport(std::int32_t node, const wire::StepReport& message) const;
  /// Whom an event of a node is about: itself, one of its devices, or a job that it is part of.
  std::string SourceOf(const wire::FromNode& message) const;
  void OnRegister(const std::string& identity, const wire::Register& message);
  /// Repeats to a node that has registered what it may have missed about its jobs.
  void RepeatToArrival(const wire::Register& message);
  /// The agent of a node takes no part, and says why.
  void OnCannotRun(std::int32_t number, const std::string& reason);
  void OnHeartbeat(Node& node, const wire::Heartbeat& message);
  void OnTick();
  void OnNodeSilent(const Node& node);
  void OnRankExited(std::int32_t node, const wire::RankExited& message);
  void OnRankLoad(std::int32_t node, const wire::RankLoad& message);
  /// Sends the node what it may have missed about its jobs, by what it says of them.
  void RepeatMissed(const Node& node,
                    const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs);
  /// Interrupts jobs whose state or ranks the node no longer has, although it has not said that
  /// they ended: what it said may have been lost with an earlier registrar.
  void CheckHeld(const Node& node);
  void CompareDrivers(const Node& node);
  /// Frees what a node, whose report has just arrived, holds of jobs that are elsewhere.
  /// \pre the node is in no transaction
  void ForgetStaleState(Node& node);
  /// The node without which the job can make no step, or nullptr.
  const Node* FindLostNode(const Job& job, Clock::time_point now) const;
  /// The ranks of the job cannot go on. A job that starts has failed and is forgotten; any other is
  /// suspended.
  void InterruptJob(Job& job, const std::string& reason, RankEnd end = RankEnd::kCrash);

  Timers& timers_;
  const AgentConfig config_;
  const World world_;
  Membership members_;
  Publisher publisher_;
  const RegistrarPart::Common common_;
  Rendezvous rendezvous_;
  Documents documents_;
  NodeQueryClient node_queries_;
  TransactionNumbers numbers_;
  JobTable jobs_;
  OperatorLease lease_;
  Clients clients_;
  RequestTurns turns_;
  EventLimits event_limits_;
  NodeActs node_acts_;
  SlowRankWatch slow_ranks_;
  StateRequests states_;
  JobStops stops_;
  StartSender sender_;
  StepRecorder steps_;
  Decisions decisions_;
  LinkSurvey links_;
  Inquiries inquiries_;
  PlanDesk plans_;
  ReplicaInquiry replicas_;
  PauseDesk pauses_;
  DataOpenings openings_;
  CheckpointDesk checkpoints_;
  JobStarter starter_;
  TransactionDesk transactions_;
  LossDesk losses_;
  MeshReturn returns_;
  Restarter restarter_;
  TableRebuilder rebuilder_;
  std::vector<Timers::TimerId> periodic_;
  std::string shown_layouts_;  // when the state was published last
};

}  // namespace tessera::agents
