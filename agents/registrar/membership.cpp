// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/membership.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/wire/convert.h"

namespace tessera::agents {
namespace {
/// The interval of heartbeats in clusters of at most so many nodes.
constexpr std::chrono::seconds kBeat{1};
constexpr std::size_t kNodesOfASecond = 1024;
/// A node is suspect after this fraction of the time until it is lost, but never because of a
/// single heartbeat that is late.
constexpr double kSuspectFraction = 0.3;
constexpr std::chrono::duration<double> kLeastSuspect(2);

std::map<std::uint64_t, wire::HeldSnapshot> SharesById(
    const google::protobuf::RepeatedPtrField<wire::HeldSnapshot>& held) {
  std::map<std::uint64_t, wire::HeldSnapshot> shares;
  for (const wire::HeldSnapshot& share : held) shares.emplace(share.view(), share);
  return shares;
}

std::map<std::string, std::uint64_t> OriginsOf(
    const google::protobuf::RepeatedPtrField<wire::NodeJob>& jobs) {
  std::map<std::string, std::uint64_t> origins;
  for (const wire::NodeJob& job : jobs) origins.emplace(job.job(), job.origin());
  return origins;
}

/// Whether the devices are as those who watch see them already.
bool IsShownSame(const std::vector<wire::NodeDevice>& held, const wire::Heartbeat& m) {
  return std::ranges::equal(held, m.devices(), [](const auto& a, const auto& b) {
    return a.index() == b.index() && a.used() == b.used() && a.capacity() == b.capacity() &&
           a.failed() == b.failed() && a.busy_seconds() == b.busy_seconds();
  });
}

}  // namespace

std::chrono::seconds Membership::beat() const {
  // Four missed ones are a lost node, not two.
  const bool may_be_slow = 4 * (2 * kBeat) <= lost_after_;
  return nodes_.size() > kNodesOfASecond && may_be_slow ? 2 * kBeat : kBeat;
}

std::chrono::duration<double> Membership::suspect_after() const {
  const std::chrono::duration<double> least =
      beat() > kBeat ? std::chrono::duration<double>(3 * beat()) : kLeastSuspect;
  return std::max<std::chrono::duration<double>>(kSuspectFraction * lost_after_, least);
}

Membership::Arrival Membership::Register(const std::string& identity, const wire::Register& m,
                                         Clock::time_point now) {
  Node& node = nodes_[m.node()];
  Arrival arrival;
  arrival.is_new = node.incarnation == 0;
  arrival.restarted = !arrival.is_new && node.incarnation != m.incarnation();
  arrival.has_new_keeper = !arrival.is_new && node.keeper_pid != m.keeper_pid();
  arrival.was_away = !arrival.is_new && node.state != engine::NodeState::kAlive;
  node.number = m.node();
  node.identity = identity;
  node.incarnation = m.incarnation();
  node.keeper_pid = m.keeper_pid();
  node.last_seen = now;
  node.state = engine::NodeState::kAlive;
  node.killed = false;
  node.peer.set_node(m.node());
  node.peer.set_host(m.host());
  node.peer.set_address(m.address());
  *node.peer.mutable_lanes() = m.lanes();
  node.peer.set_public_key(m.public_key());
  node.lane_secret.reset();
  if (const auto secret = TicketFromBytes(m.lane_secret())) node.lane_secret = *secret;
  node.peer.clear_arena_paths();
  node.peer.clear_arena_tokens();
  for (const wire::NodeDevice& device : m.devices()) {
    node.peer.add_arena_paths(device.arena_path());
    node.peer.add_arena_tokens(device.arena_token());
  }
  node.peer.set_master_port(m.master_port());
  node.devices.assign(m.devices().begin(), m.devices().end());
  node.machine = m.machine();
  node.version = m.version();
  node.rack = m.rack();
  node.gpu = m.gpu();
  node.gpu_driver = m.gpu_driver();
  node.nccl = m.nccl();
  node.link_mark = LinkMarkOf(m);
  node.snapshots = SharesById(m.snapshots());
  node.origins = OriginsOf(m.jobs());
  node.awaited_order = 0;
  node.problem.clear();
  node.transaction = m.transaction();
  changed_.insert(m.node());
  ++peers_revision_;
  return arrival;
}

Membership::Node* Membership::Accept(const std::string& identity, const wire::FromNode& message,
                                     Clock::time_point now) {
  Node* node = Find(message.node());
  if (!node || node->incarnation != message.incarnation() || IsSilent(*node)) return nullptr;
  node->identity = identity;
  node->last_seen = now;
  if (!node->problem.empty()) {
    node->problem.clear();
    changed_.insert(node->number);
  }
  return node;
}

std::set<std::int32_t> Membership::Alive() const {
  std::set<std::int32_t> out;
  for (const auto& [number, node] : nodes_) {
    if (node.state == engine::NodeState::kAlive) out.insert(number);
  }
  return out;
}

bool Membership::Fits(const Node& node, const wire::Heartbeat& m) {
  return std::ranges::equal(node.devices, m.devices(), {}, &wire::NodeDevice::index,
                            &wire::NodeDevice::index);
}

void Membership::NoteHeartbeat(Node& node, const wire::Heartbeat& m, Clock::time_point now) {
  const auto network = Decode(m.network());
  const bool is_same = node.state == engine::NodeState::kAlive && IsShownSame(node.devices, m) &&
                       node.view_bytes == m.view_bytes() && network && node.network == *network;
  if (!is_same) changed_.insert(node.number);
  if (node.state == engine::NodeState::kSuspect) node.state = engine::NodeState::kAlive;
  node.devices.assign(m.devices().begin(), m.devices().end());
  node.view_bytes = m.view_bytes();
  if (network) node.network = *network;
  node.memory_available = m.memory_available();
  node.transaction = m.transaction();
  const bool is_late = now - node.ordered > kToAcknowledge;
  if (m.order() == node.awaited_order || is_late) node.awaited_order = 0;
  node.snapshots = SharesById(m.snapshots());
  node.origins = OriginsOf(m.jobs());
}

void Membership::Expect(std::int32_t number, Clock::time_point now) {
  const auto [it, is_new] = nodes_.try_emplace(number);
  if (!is_new) return;
  it->second.number = number;
  it->second.state = engine::NodeState::kSuspect;
  it->second.last_seen = now;
  changed_.insert(number);
}

bool Membership::NoteProblem(std::int32_t number, const std::string& problem,
                             Clock::time_point now) {
  Expect(number, now);
  Node& node = nodes_.at(number);
  node.complained = now;
  if (node.problem == problem) return false;
  node.problem = problem;
  changed_.insert(number);
  return true;
}

std::vector<Membership::Change> Membership::Tick(Clock::time_point now) {
  std::vector<Change> changes;
  for (auto& [number, node] : nodes_) {
    if (!node.problem.empty() && now - node.complained > kProblem) {
      node.problem.clear();
      changed_.insert(number);
    }
    const std::chrono::duration<double> silent = now - node.last_seen;
    const auto become = [&](engine::NodeState state) {
      node.state = state;
      changed_.insert(number);
      changes.push_back({number, state});
    };
    if (node.state == engine::NodeState::kAlive && silent > suspect_after()) {
      become(engine::NodeState::kSuspect);
    }
    const bool is_known = node.incarnation != 0;  // else the journal has named it
    if (node.state == engine::NodeState::kSuspect && is_known && silent <= suspect_after()) {
      become(engine::NodeState::kAlive);
    }
    if (node.state == engine::NodeState::kSuspect && silent > lost_after_) {
      become(node.killed ? engine::NodeState::kDead : engine::NodeState::kUnmanaged);
    }
    if (node.state == engine::NodeState::kUnmanaged && node.killed) {  // it was given up
      become(engine::NodeState::kDead);
    }
  }
  return changes;
}

Membership::Node* Membership::Find(std::int32_t number) {
  const auto it = nodes_.find(number);
  return it == nodes_.end() ? nullptr : &it->second;
}

const Membership::Node* Membership::Find(std::int32_t number) const {
  const auto it = nodes_.find(number);
  return it == nodes_.end() ? nullptr : &it->second;
}

const wire::NodeDevice* Membership::FindDevice(ptc::DeviceId id) const {
  const Node* node = Find(id.node);
  if (!node) return nullptr;
  // Agents list their devices by index, so this is the usual case.
  const auto at = static_cast<std::size_t>(id.index);
  const std::vector<wire::NodeDevice>& devices = node->devices;
  if (id.index >= 0 && at < devices.size() && devices[at].index() == id.index) return &devices[at];
  for (const wire::NodeDevice& device : devices) {
    if (device.index() == id.index) return &device;
  }
  return nullptr;
}

Status Membership::CheckDevice(ptc::DeviceId id, Clock::time_point now) const {
  const wire::NodeDevice* device = FindDevice(id);
  if (!device) {
    const Node* const expected = Find(id.node);
    if (expected && expected->incarnation == 0) return NotRegistered(id);
    std::int64_t count = 0;
    for (const auto& [number, node] : nodes_) count += std::ssize(node.devices);
    return NotFound(fmt::format("device {} does not exist: the cluster has {} devices on {} nodes",
                                ToString(id), count, nodes_.size()));
  }
  const Node& node = nodes_.at(id.node);
  if (node.state != engine::NodeState::kAlive) {
    return FailedPrecondition(fmt::format(
        "device {} cannot be used: n{} is {}, last seen {} s ago", ToString(id), id.node,
        ToString(node.state),
        std::chrono::duration_cast<std::chrono::seconds>(now - node.last_seen).count()));
  }
  if (device->failed()) {
    return FailedPrecondition(fmt::format("device {} cannot be used: it failed", ToString(id)));
  }
  return OkStatus();
}

Error Membership::NotRegistered(ptc::DeviceId id) {
  return FailedPrecondition(fmt::format(
      "device {} cannot be used yet: n{} has not registered since the registrar's agent "
      "started; try again when `tesseractl status` lists it as alive",
      ToString(id), id.node));
}

Peers Membership::PeersFor(const LaneKey& key) const {
  Peers peers;
  for (const auto& [number, node] : nodes_) {
    if (node.incarnation == 0) continue;
    wire::Peer* const peer = peers.Add();
    *peer = node.peer;
    AddTickets(node, key, peer);
  }
  return peers;
}

Peers Membership::peers() const {
  Peers peers;
  for (const auto& [number, node] : nodes_) {
    if (node.incarnation != 0) *peers.Add() = node.peer;
  }
  return peers;
}

bool Membership::IsSilent(const Node& node) {
  return node.state == engine::NodeState::kUnmanaged || node.state == engine::NodeState::kDead ||
         node.state == engine::NodeState::kLeft;
}

std::string Membership::SilentText(const Node& node) const {
  const std::chrono::duration<double> silence =
      IsSilent(node) ? std::chrono::duration<double>(lost_after_) : suspect_after();
  return fmt::format("n{} was silent for {:.0f} s", node.number, silence.count());
}

std::string Membership::LinkMarkOf(const wire::Register& m) {
  return fmt::format("{} {} {} {}", m.machine(), m.host(), m.address(), m.link_bytes_per_second());
}

}  // namespace tessera::agents
