// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bandwidth of links between nodes (assumed, emulated or measured) and which value plans use.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "agents/registrar/node_query_client.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "engine/cluster/link_speeds.h"
#include "ptc/topology/topology.h"

namespace tessera::agents {

class LinkSurvey : public RegistrarPart {
 public:
  LinkSurvey(const Common& common, NodeQueryClient& queries, std::function<Status()> check_idle)
      : RegistrarPart(common), node_queries_(queries), check_idle_(std::move(check_idle)) {}

  /// Hosts and bandwidths: measured, else emulated, else assumed.
  ptc::Topology TopologyNow() const;
  /// How a transfer uses the links between nodes.
  engine::LaneUse use() const { return links_.use(); }
  /// All devices, or those that are usable now.
  ptc::Cluster ClusterOf(ptc::Topology topology, bool usable_only) const;
  /// \error those of the journal
  Status Recover();
  /// Drops the bandwidths of `node` that were measured with another machine, address or port.
  void ForgetChanged(const Membership::Node& node);
  void OnTopology(const wire::TopologyRequest& request, const ReplyPtr& reply);
  /// \error kFailedPrecondition while links are measured
  Status CheckNotMeasuring() const;

 private:
  /// A measurement that is in progress.
  struct Round {
    std::vector<std::int32_t> nodes;  // one per host, ascending
    std::size_t done = 0;             // number of nodes that have measured
    engine::LinkSpeeds speeds;
    ReplyPtr reply;
    Clock::time_point began;
  };
  Status JournalLinks();
  void MeasureNext();
  Status Note(std::int32_t node, const wire::LinksAnswer& answer);
  void EndRound();
  void Answer(const ReplyPtr& reply) const;

  NodeQueryClient& node_queries_;
  const std::function<Status()> check_idle_;
  engine::LinkSpeeds links_;
  std::optional<Round> round_;
};

}  // namespace tessera::agents
