// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/link_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "agents/move/link_probe.h"
#include "agents/node/peers.h"
#include "agents/registrar/measured_rows.h"
#include "engine/search/fit.h"

namespace tessera::agents {
namespace {

/// A node's own limit is 3 s for its link and each of at most five uses (link_probe.h).
constexpr auto kLinkDeadline = std::chrono::seconds(25);

}  // namespace

ptc::Topology LinkSurvey::TopologyNow() const {
  ptc::Topology topology = TopologyOf(members_.peers());
  if (world_.simulation) {
    const ptc::Topology& speeds = world_.simulation->topology;
    topology.host_bytes_per_second = speeds.host_bytes_per_second;
    topology.network_bytes_per_second = speeds.network_bytes_per_second;
    topology.source = speeds.source;
  } else if (config_.link_bytes_per_second > 0) {
    topology.network_bytes_per_second = static_cast<double>(config_.link_bytes_per_second);
    topology.source = "the links of this emulated cluster";
  }
  std::set<std::int32_t> nodes;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.state != engine::NodeState::kDead) nodes.insert(number);
  }
  engine::UseMeasured(links_, nodes, &topology);
  return topology;
}

ptc::Cluster LinkSurvey::ClusterOf(ptc::Topology topology, bool usable_only) const {
  ptc::Cluster cluster{std::move(topology), {}};
  for (const auto& [number, node] : members_.nodes()) {
    if (usable_only && node.state != engine::NodeState::kAlive) continue;
    for (const wire::NodeDevice& device : node.devices) {
      if (!usable_only || !device.failed()) cluster.devices.push_back({number, device.index()});
    }
  }
  std::sort(cluster.devices.begin(), cluster.devices.end());
  return cluster;
}

Status LinkSurvey::Recover() {
  TESSERA_TRY(const std::optional<std::string> row, journal_.Get(kLinksRow));
  if (!row) return OkStatus();
  auto links = engine::ParseLinkSpeeds(*row);
  if (!links) {  // written by another version; the next measurement replaces them
    AddEvent(engine::Severity::kWarning, "registrar",
             "the stored bandwidths cannot be read: " + links.error().ToString());
    return journal_.Erase(kLinksRow);
  }
  links_ = std::move(*links);
  return OkStatus();
}

Status LinkSurvey::JournalLinks() {
  if (links_.empty()) return journal_.Erase(kLinksRow);
  return journal_.Put(kLinksRow, engine::ToJson(links_));
}

void LinkSurvey::ForgetChanged(const Membership::Node& node) {
  const auto measured = links_.marks.find(node.number);
  if (measured == links_.marks.end() || measured->second == node.link_mark) return;
  links_.Forget(node.number);
  const std::string name = fmt::format("n{}", node.number);
  AddEvent(engine::Severity::kWarning, name,
           "its machine, address or link has changed; its measured bandwidths are dropped");
  publisher_.NoteJournaled(JournalLinks());
}

void LinkSurvey::OnTopology(const wire::TopologyRequest& request, const ReplyPtr& reply) {
  if (!request.measure()) return Answer(reply);
  Status can = check_idle_();
  if (can) can = CheckNotMeasuring();
  if (!can) return reply->Fail(can.error());
  // Nodes of one host share its port, so one of them measures for all.
  std::map<std::string, std::int32_t> first_of_host;
  for (const auto& [number, node] : members_.nodes()) {
    if (node.state == engine::NodeState::kAlive) first_of_host.emplace(node.peer.host(), number);
  }
  Round round;
  round.began = timers_.now();
  for (const auto& [host, number] : first_of_host) round.nodes.push_back(number);
  if (round.nodes.empty()) return reply->Fail(Unavailable("no node is alive"));
  std::sort(round.nodes.begin(), round.nodes.end());
  round.reply = reply;
  round_ = std::move(round);
  MeasureNext();
}

Status LinkSurvey::CheckNotMeasuring() const {
  if (!round_) return OkStatus();
  return FailedPrecondition("the links of the cluster are being measured: wait a few seconds");
}

// Measures one link at a time, so that measurements do not disturb each other. The links form a
// ring of hosts, which uses each host's port once in each direction.
void LinkSurvey::MeasureNext() {
  const std::size_t at = round_->done;
  const std::vector<std::int32_t>& nodes = round_->nodes;
  if (at == nodes.size()) return EndRound();
  const std::int32_t node = nodes[at];
  wire::NodeQuery query;
  query.mutable_links()->set_node(node);
  query.mutable_links()->set_memory(true);
  if (nodes.size() > 1) {
    const std::int32_t source = nodes[(at + nodes.size() - 1) % nodes.size()];
    const Membership::Node& from = *members_.Find(source);
    wire::Peer* const peer = query.mutable_links()->add_sources();
    *peer = from.peer;
    AddTickets(from, LinkProbeKey(), peer);
  }
  node_queries_.Query({node}, std::move(query), kLinkDeadline,
                      [this, node](const NodeQueryClient::Answers& answers) {
                        const auto& answer = answers.at(node);
                        Status noted =
                            answer ? Note(node, answer->links()) : Status(answer.error());
                        if (noted) return MeasureNext();
                        const ReplyPtr reply = round_->reply;
                        round_.reset();
                        reply->Fail(std::move(noted).Context("measuring links").error());
                      });
}

Status LinkSurvey::Note(std::int32_t node, const wire::LinksAnswer& answer) {
  engine::LinkSpeeds& speeds = round_->speeds;
  for (const wire::LinksAnswer::Link& link : answer.links()) {
    speeds.links.push_back({link.from(),
                            node,
                            {link.bytes_per_second().begin(), link.bytes_per_second().end()},
                            {link.use().lanes(), link.use().frame_bytes()}});
    for (const std::int32_t end : {link.from(), node}) {
      const Membership::Node* known = members_.Find(end);
      if (!known) return DataLoss(fmt::format("n{} measured a link from n{}", node, end));
      const auto [mark, is_new] = speeds.marks.try_emplace(end, known->link_mark);
      if (!is_new && mark->second != known->link_mark) {
        return FailedPrecondition(fmt::format("n{} changed while it was measured", end));
      }
    }
  }
  speeds.bytes += answer.bytes();
  ++round_->done;
  return OkStatus();
}

void LinkSurvey::EndRound() {
  Round round = std::move(*round_);
  round_.reset();
  round.speeds.measured_at = world_.wall_clock();
  round.speeds.seconds = std::chrono::duration<double>(timers_.now() - round.began).count();
  // Checks the figures of the nodes like those of a file, and sorts them.
  auto speeds = engine::ParseLinkSpeeds(engine::ToJson(round.speeds));
  if (!speeds) return round.reply->Fail(DataLoss(speeds.error().ToString()));
  for (const auto& [node, mark] : speeds->marks) {
    const Membership::Node* known = members_.Find(node);
    if (known && known->link_mark != mark) {
      return round.reply->Fail(
          FailedPrecondition(fmt::format("n{} changed while links were measured", node)));
    }
  }
  links_ = std::move(*speeds);
  if (const Status kept = JournalLinks(); !kept) return round.reply->Fail(kept.error());
  AddEvent(engine::Severity::kInfo, "registrar",
           fmt::format("links measured with {} in {:.1f} s{}", engine::BytesText(links_.bytes),
                       links_.seconds, round.reply->RequesterText()));
  Answer(round.reply);
}

void LinkSurvey::Answer(const ReplyPtr& reply) const {
  const ptc::Cluster cluster = ClusterOf(TopologyNow(), true);
  if (cluster.devices.empty()) {
    return reply->Fail(
        FailedPrecondition(fmt::format("cluster '{}' has no device that works", config_.cluster)));
  }
  wire::Reply out;
  out.mutable_topology()->set_cluster(ptc::ToJson(cluster));
  if (!links_.empty()) out.mutable_topology()->set_measured(engine::ToJson(links_));
  reply->Done(std::move(out));
}

}  // namespace tessera::agents
