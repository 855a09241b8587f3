// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent of a node on a real machine: connects NodeAgent with the registrar, the keeper, the
/// ranks, the lanes, the journal and the clock.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "agents/decision/etcd_register.h"
#include "agents/job/rank_port.h"
#include "agents/keeper/keeper_client.h"
#include "agents/net/lanes.h"
#include "agents/net/loop.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "agents/node/node_agent.h"
#include "agents/node/node_queries.h"
#include "agents/node/node_world.h"
#include "agents/node/refusing_node.h"
#include "agents/node/served_cells.h"
#include "agents/node/stored_views.h"
#include "agents/views/disposal.h"
#include "engine/history/journal.h"
#include "engine/transfer/token_bucket.h"

namespace tessera::agents {

/// It uses one loop thread. Transfers, lanes, views and queries have their own threads and post
/// their results to the loop.
class NodeServer {
 public:
  /// If the journal is damaged, the node takes no part, tells the registrar why, and stops the loop
  /// when the file was repaired.
  /// \pre loop and net outlive it
  /// \error naming what cannot be bound, opened or mapped
  static Result<std::unique_ptr<NodeServer>> Start(Loop& loop, NetContext& net,
                                                   const AgentConfig& config, CurveKeys keys);
  ~NodeServer();
  /// Where the node keeps its promises.
  static std::string JournalFile(const AgentConfig& config);
  /// \error kDataLoss naming the damaged file and what to do about it
  static Status CheckJournal(const AgentConfig& config);

 private:
  NodeServer(Loop& loop, NetContext& net, AgentConfig config, CurveKeys keys);
  Status Open();
  Status OpenJournal();
  /// Closes everything but the connection to the keeper, which would kill this agent.
  void Refuse(const Error& why);
  LinkPort MakePort() const;
  void DescribeGpus(NodeFacts& facts) const;
  NodeFacts MakeFacts() const;
  Status AttachMemory(const KeeperLink::Arena& kept, engine::Arena& arena);
  NodeWorld MakeWorld();
  void LimitLanes(std::int64_t bytes_per_second);
  engine::NetworkFaults NetworkFaultsNow() const;
  std::unique_ptr<Move> StartMove(std::shared_ptr<const MoveContext> context, MoveMode mode,
                                  std::function<void(MoveResult)> done);
  /// To the registrar.
  Status Connect();
  void ConnectAgainAfterSilence();
  void Send(const wire::FromNode& message);
  void ReadMessages();
  void ReadLinkEvents();
  /// Reports keys of others that this node refuses.
  void ReportRefusedKeys();

  Loop& loop_;
  NetContext& net_;
  const AgentConfig config_;
  const CurveKeys keys_;
  const std::shared_ptr<engine::TokenBucket> egress_, ingress_;
  const std::shared_ptr<LaneCounts> lane_counts_ = std::make_shared<LaneCounts>();
  const NodeFacts facts_;
  NodeQueries queries_;
  std::unique_ptr<engine::Journal> journal_;
  std::unique_ptr<EtcdRegister> decisions_;  // null: only the registrar reaches the register
  Disposal left_;                            // waits for what transfers have left behind
  std::unique_ptr<NodeAgent> agent_;         // maps the arenas, which views and lanes below read
  std::unique_ptr<KeeperClient> keeper_;
  std::unique_ptr<StoredViews> views_;
  std::unique_ptr<ServedCells> served_;
  std::unique_ptr<RankPort> rank_port_;
  std::optional<Socket> registrar_;
  std::chrono::steady_clock::time_point heard_;  // of the registrar, or connected to it
  std::optional<LinkEvent::Kind> failed_;        // why there is no connection; logged once
  std::unique_ptr<LaneServer> lanes_;            // its threads read views and arenas
  std::optional<RefusingNode> refusing_;
};

}  // namespace tessera::agents
