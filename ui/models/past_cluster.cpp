// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/past_cluster.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ui/models/change_view.h"

namespace tessera::ui {
namespace {

using engine::HistoryEntry;
using engine::TxnPhase;

struct PastPlace {
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;  // rank order
  engine::StepOptions options;
  std::int64_t epoch = 0;
  std::int64_t origin = 0;               // of the job
  const HistoryEntry* change = nullptr;  // the last one, or the present one
  std::optional<TxnPhase> phase = {};    // of the present one
};

PastPlace pastPlaceOf(const std::string& mesh, const engine::StepOptions& options,
                      std::int64_t epoch) {
  PastPlace place;
  if (const auto parsed = ptc::ParseDeviceMesh(mesh)) {
    place.mesh = parsed->shape();
    place.devices = parsed->devices();
  }
  place.options = options;
  place.epoch = epoch;
  return place;
}

PastPlace pastPlaceOf(const engine::JobStatus& job) {
  return {job.mesh, job.devices, job.options, job.epoch, job.origin};
}

const engine::JobStatus* jobNamed(const engine::ClusterSnapshot& cluster, const std::string& name) {
  const auto found = std::ranges::find(cluster.jobs, name, &engine::JobStatus::name);
  return found == cluster.jobs.end() ? nullptr : &*found;
}

// The phase of a change at a time, by the durations of its phases. Nothing after its end.
std::optional<TxnPhase> phaseAt(const HistoryEntry& entry, double time) {
  if (time >= timesOf(entry).end) return {};
  TxnPhase phase = TxnPhase::kPlanned;
  double end = entry.started;
  for (const PhaseTime& each : phasesOf(entry)) {
    const auto known = engine::ParseTxnPhase(each.phase);
    if (!known) continue;
    phase = *known;
    end += each.seconds;
    if (time < end) break;
  }
  return phase;
}

bool isPastCommit(TxnPhase phase) {
  return phase == TxnPhase::kResuming || phase == TxnPhase::kDone;
}

PastPlace pastPlaceAt(const ChangeIndex& changes, const HistoryEntry& entry, double time) {
  const std::optional<TxnPhase> phase = phaseAt(entry, time);
  const bool moved = entry.result == "committed" && (!phase || isPastCommit(*phase));
  PastPlace place = moved ? pastPlaceOf(entry.to, entry.to_options, entry.epoch)
                          : pastPlaceOf(entry.from, entry.from_options, changes.epochBefore(entry));
  place.origin = entry.origin;
  place.change = &entry;
  place.phase = phase;
  return place;
}

/// Where the job with this start was, or nothing: the history does not contain it.
std::optional<PastPlace> pastPlaceAt(const ChangeIndex& changes, const std::string& name,
                                     std::int64_t origin, const engine::JobStatus* now,
                                     double time) {
  if (const HistoryEntry* entry = changes.lastBefore(name, origin, time))
    return pastPlaceAt(changes, *entry, time);
  if (const HistoryEntry* next = changes.first(name, origin)) {
    PastPlace place = pastPlaceOf(next->from, next->from_options, changes.epochBefore(*next));
    place.origin = origin;
    return place;
  }
  const bool isPresent = now != nullptr && now->origin == origin;
  return isPresent ? std::optional(pastPlaceOf(*now)) : std::nullopt;
}

engine::TxnStatus pastTxnOf(const HistoryEntry& entry, std::optional<TxnPhase> phase, double time) {
  engine::TxnStatus txn;
  txn.id = entry.id;
  txn.job = entry.job;
  if (phase) {
    txn.phase = *phase;
  } else {
    txn.phase = entry.result == "committed"     ? TxnPhase::kDone
                : entry.result == "rolled_back" ? TxnPhase::kRolledBack
                : entry.result == "unknown"     ? TxnPhase::kInDoubt
                                                : TxnPhase::kFailed;
  }
  PastPlace from = pastPlaceOf(entry.from, entry.from_options, 0);
  PastPlace to = pastPlaceOf(entry.to, entry.to_options, 0);
  txn.from_mesh = from.mesh;
  txn.from_devices = std::move(from.devices);
  txn.from_options = from.options;
  txn.to_mesh = to.mesh;
  txn.to_devices = std::move(to.devices);
  txn.to_options = to.options;
  txn.reason = entry.reason;
  const ChangeTimes times = timesOf(entry);
  txn.paused = std::clamp(time - times.pauseStart, 0.0, times.pauseEnd - times.pauseStart);
  const bool arrived = txn.phase == TxnPhase::kVerifying || txn.phase == TxnPhase::kCommitting ||
                       txn.phase == TxnPhase::kResuming || txn.phase == TxnPhase::kDone;
  txn.flows = entry.flows;
  txn.bytes_total = entry.bytes_moved;
  txn.bytes_done = arrived ? txn.bytes_total : 0;
  for (engine::FlowStatus& flow : txn.flows) {
    flow.bytes_per_second = 0;
    flow.bytes_done = arrived ? flow.bytes_total : 0;
    flow.state = arrived ? engine::FlowState::kDone : engine::FlowState::kWaiting;
  }
  return txn;
}

engine::JobStatus pastJobOf(const std::string& name, const engine::JobStatus* now,
                            const PastPlace& place) {
  engine::JobStatus job;
  job.name = name;
  if (now != nullptr && now->origin != place.origin) now = nullptr;  // an earlier job of the name
  if (now != nullptr) {
    job = *now;
    // What changes from moment to moment.
    job.reason.clear();
    job.decision.reset();
    job.snapshots = {};
    job.checkpoints = {};
    job.metrics = {};
    job.step_seconds.reset();
    job.loss.reset();
    job.tokens_per_second.reset();
    job.step = 0;
  }
  if (now == nullptr || now->epoch != place.epoch || now->mesh != place.mesh ||
      now->devices != place.devices || now->options != place.options) {
    job.layout_hash.clear();
  }
  job.mesh = place.mesh;
  job.devices = place.devices;
  job.options = place.options;
  job.epoch = place.epoch;
  job.origin = place.origin;
  job.state = engine::JobState::kRunning;
  return job;
}

engine::DeviceStatus bareDevice(ptc::DeviceId id) {
  engine::DeviceStatus device;
  device.id = id;
  return device;
}

/// Sets the state of a node and of its devices.
void setState(engine::NodeStatus& node, const NodeStates::Moment* known, double time) {
  node.state = engine::NodeState::kAlive;
  node.is_state_known = known != nullptr;
  if (known == nullptr) return;
  node.state = known->note.state;
  if (node.state != engine::NodeState::kAlive) node.last_seen = time - known->time;
  for (const std::int32_t index : known->note.failed) {
    const auto device =
        std::ranges::find(node.devices, index, [](const auto& each) { return each.id.index; });
    if (device != node.devices.end()) device->failed = true;
  }
}

/// The devices of `now` and of the history, without jobs.
std::vector<engine::NodeStatus> bareNodes(const engine::ClusterSnapshot& now,
                                          const ChangeIndex& changes, const NodeStates& states,
                                          double time) {
  std::map<std::int32_t, engine::NodeStatus> nodes;
  for (const engine::NodeStatus& node : now.nodes) {
    engine::NodeStatus& bare = nodes[node.node];
    bare.host = node.host;
    bare.rack = node.rack;
    bare.gpu = node.gpu;
    bare.gpu_driver = node.gpu_driver;
    bare.address = node.address;
    bare.version = node.version;
    for (const engine::DeviceStatus& device : node.devices)
      bare.devices.push_back(bareDevice(device.id));
  }
  const auto less = [](const engine::DeviceStatus& a, const engine::DeviceStatus& b) {
    return a.id < b.id;
  };
  for (auto& [number, node] : nodes) std::ranges::sort(node.devices, less);
  for (const ptc::DeviceId id : changes.devices()) {
    auto& devices = nodes[id.node].devices;
    const engine::DeviceStatus device = bareDevice(id);
    const auto at = std::ranges::lower_bound(devices, device, less);
    if (at == devices.end() || at->id != id) devices.insert(at, device);
  }
  for (const auto& [number, moments] : states.nodes()) nodes.try_emplace(number);
  std::vector<engine::NodeStatus> result;
  for (auto& [number, node] : nodes) {
    node.node = number;
    setState(node, states.at(number, time), time);
    result.push_back(std::move(node));
  }
  return result;
}

engine::DeviceStatus* pastDeviceOf(std::vector<engine::NodeStatus>& nodes, ptc::DeviceId id) {
  const auto node = std::ranges::lower_bound(nodes, id.node, {}, &engine::NodeStatus::node);
  if (node == nodes.end() || node->node != id.node) return nullptr;
  const auto device = std::ranges::lower_bound(node->devices, id, {}, &engine::DeviceStatus::id);
  return device == node->devices.end() || device->id != id ? nullptr : &*device;
}

void occupyDevices(std::vector<engine::NodeStatus>& nodes, const std::string& job,
                   const std::vector<ptc::DeviceId>& devices) {
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    engine::DeviceStatus* device = pastDeviceOf(nodes, devices[rank]);
    if (device == nullptr || !device->job.empty()) continue;
    device->job = job;
    device->rank = static_cast<int>(rank);
  }
}

/// Copies what the devices hold, where it has not changed since.
void copyContents(std::vector<engine::NodeStatus>& nodes, const engine::ClusterSnapshot& now) {
  for (const engine::NodeStatus& node : now.nodes) {
    for (const engine::DeviceStatus& present : node.devices) {
      engine::DeviceStatus* device = pastDeviceOf(nodes, present.id);
      if (device == nullptr || device->job != present.job || present.joining) continue;
      device->used_bytes = present.used_bytes;
      device->total_bytes = present.total_bytes;
      device->pieces = present.pieces;
      device->parameter_bytes = present.parameter_bytes;
      device->optimizer_bytes = present.optimizer_bytes;
    }
  }
}

}  // namespace

ChangeIndex::ChangeIndex(const std::vector<HistoryEntry>& entries) {
  std::set<std::string> meshes;  // most of them are in several entries
  std::set<ptc::DeviceId> devices;
  for (const HistoryEntry& entry : entries) {
    m_changes[{entry.job, entry.origin}].push_back(&entry);
    for (const std::string* text : {&entry.from, &entry.to}) {
      if (!meshes.insert(*text).second) continue;
      if (const auto mesh = ptc::ParseDeviceMesh(*text))
        devices.insert(mesh->devices().begin(), mesh->devices().end());
    }
  }
  for (auto& [job, changes] : m_changes) {
    std::ranges::sort(changes, [](const HistoryEntry* a, const HistoryEntry* b) {
      return std::pair(a->started, a->id) < std::pair(b->started, b->id);
    });
  }
  m_devices.assign(devices.begin(), devices.end());
}

std::optional<std::int64_t> ChangeIndex::originAt(const std::string& job,
                                                  const engine::JobStatus* now, double time) const {
  const auto begins = [](std::int64_t origin) { return static_cast<double>(origin) / 1e9; };
  if (now != nullptr && now->origin > 0 && begins(now->origin) <= time) return now->origin;
  // The last one of the name that began before.
  const double nanoseconds = std::clamp(time, 0.0, 9e9) * 1e9;
  auto next = m_changes.upper_bound({job, static_cast<std::int64_t>(nanoseconds)});
  if (next != m_changes.begin() && (--next)->first.first == job) return next->first.second;
  if (now != nullptr && now->origin == 0) return 0;
  return std::nullopt;
}

const ChangeIndex::Changes* ChangeIndex::changesOf(const std::string& job,
                                                   std::int64_t origin) const {
  const auto changes = m_changes.find({job, origin});
  return changes == m_changes.end() ? nullptr : &changes->second;
}

const HistoryEntry* ChangeIndex::lastBefore(const std::string& job, std::int64_t origin,
                                            double time) const {
  const Changes* changes = changesOf(job, origin);
  if (changes == nullptr) return nullptr;
  const auto after = std::ranges::upper_bound(*changes, time, {}, &HistoryEntry::started);
  return after == changes->begin() ? nullptr : *(after - 1);
}

const HistoryEntry* ChangeIndex::first(const std::string& job, std::int64_t origin) const {
  const Changes* changes = changesOf(job, origin);
  return changes == nullptr ? nullptr : changes->front();
}

const HistoryEntry* ChangeIndex::last(const std::string& job, std::int64_t origin) const {
  const Changes* changes = changesOf(job, origin);
  return changes == nullptr ? nullptr : changes->back();
}

// An entry has the epoch after it; only a committed one begins a new epoch, or one for each round.
std::int64_t ChangeIndex::epochBefore(const HistoryEntry& entry) const {
  const std::int64_t epochs = std::max<std::int64_t>(1, entry.in_rounds.rounds);
  return entry.result == "committed" ? std::max<std::int64_t>(0, entry.epoch - epochs)
                                     : entry.epoch;
}

std::optional<engine::ClusterSnapshot> clusterAt(const engine::ClusterSnapshot& now,
                                                 const ChangeIndex& changes,
                                                 const SampleSeries& samples,
                                                 const std::string& job, double time,
                                                 const NodeStates& states) {
  const SampleSeries::Point* sample = samples.lastBefore(time);
  const engine::JobStatus* present = jobNamed(now, job);
  // A sample of the present job shows that it was there, whatever the clock of its node says.
  const std::optional<std::int64_t> origin = sample != nullptr && present != nullptr
                                                 ? present->origin
                                                 : changes.originAt(job, present, time);
  if (!origin) return {};
  if (sample == nullptr && changes.lastBefore(job, *origin, time) == nullptr) return {};
  const std::optional<PastPlace> place = pastPlaceAt(changes, job, *origin, present, time);
  if (!place) return {};

  engine::ClusterSnapshot past;
  past.cluster = now.cluster;
  past.sequence = now.sequence;
  past.link_bytes_per_second = now.link_bytes_per_second;
  past.one_host = now.one_host;
  past.nodes = bareNodes(now, changes, states, time);
  past.jobs.push_back(pastJobOf(job, present, *place));
  engine::JobStatus& status = past.jobs.front();
  const HistoryEntry* change = place->change;
  if (change != nullptr && !change->result.empty()) {
    past.transaction = pastTxnOf(*change, place->phase, time);
  } else if (change != nullptr && now.transaction && now.transaction->id == change->id) {
    past.transaction = now.transaction;  // it runs, and its durations are not recorded yet
  }
  const bool changing = past.transaction && !engine::IsFinal(past.transaction->phase);
  if (changing) status.state = engine::JobState::kReconfiguring;
  if (sample != nullptr) {
    status.step = sample->step;
    if (std::isfinite(sample->loss)) status.loss = sample->loss;
    status.metrics = samples.metricsAt(*sample);
    // The speed before a pause is not that of the pause.
    const bool paused = changing && past.transaction->paused > 0;
    if (!paused && std::isfinite(sample->tokensPerSecond))
      status.tokens_per_second = sample->tokensPerSecond;
  }
  if (change != nullptr && !changing && (sample == nullptr || sample->time < change->started))
    status.step = change->step;
  occupyDevices(past.nodes, job, status.devices);
  for (const engine::JobStatus& other : now.jobs) {
    if (other.name == job) continue;
    const auto its = changes.originAt(other.name, &other, time);
    const auto elsewhere =
        its ? pastPlaceAt(changes, other.name, *its, &other, time) : std::nullopt;
    if (!elsewhere) continue;
    past.jobs.push_back(pastJobOf(other.name, &other, *elsewhere));
    past.jobs.back().state = other.state;
    // It ended after its last change; the history does not tell when.
    const bool ended = *its != other.origin || other.state == engine::JobState::kStopped ||
                       other.state == engine::JobState::kFailed;
    if (!ended || elsewhere->change != changes.last(other.name, *its))
      occupyDevices(past.nodes, other.name, elsewhere->devices);
  }
  if (changing) {
    for (const ptc::DeviceId id : past.transaction->to_devices) {
      engine::DeviceStatus* device = pastDeviceOf(past.nodes, id);
      if (device == nullptr || !device->job.empty()) continue;
      device->job = job;
      device->joining = true;
    }
  } else if (present != nullptr && !status.layout_hash.empty() &&
             status.layout_hash == present->layout_hash) {
    copyContents(past.nodes, now);
  }
  return past;
}

}  // namespace tessera::ui
