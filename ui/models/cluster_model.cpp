// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/cluster_model.h"

#include <algorithm>
#include <utility>

namespace tessera::ui {
namespace {

/// Cuts what no line can show: drawing a megabyte of text would take seconds.
void shorten(std::string& text) {
  std::size_t length = ClusterModel::kMostText;
  if (text.size() <= length) return;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) --length;
  text.resize(length);
  text += "…";
}

/// Calls `act` with each text that others have written.
template <typename Snapshot, typename Act>
void forEachText(Snapshot& snapshot, const Act& act) {
  act(snapshot.cluster);
  for (auto& node : snapshot.nodes)
    for (auto* text :
         {&node.host, &node.rack, &node.address, &node.version, &node.gpu, &node.gpu_driver})
      act(*text);
  for (auto& job : snapshot.jobs) {
    for (auto* text : {&job.model, &job.reason}) act(*text);
    if (!job.decision) continue;
    for (auto* text : {&job.decision->reason, &job.decision->why_not}) act(*text);
    for (auto* texts : {&job.decision->missing, &job.decision->missing_others})
      for (auto& text : *texts) act(text);
  }
  if (snapshot.transaction) act(snapshot.transaction->reason);
}

bool hasLongText(const engine::ClusterSnapshot& snapshot) {
  bool isLong = false;
  forEachText(snapshot, [&](const std::string& text) {
    isLong = isLong || text.size() > ClusterModel::kMostText;
  });
  return isLong;
}

}  // namespace

ClusterModel::ClusterModel(QObject* parent) : QObject(parent) {
  m_timer.setSingleShot(true);
  m_timer.setTimerType(Qt::PreciseTimer);
  connect(&m_timer, &QTimer::timeout, this, &ClusterModel::flush);
}

std::optional<double> ClusterModel::ageSeconds() const {
  if (!m_hasSnapshot) return std::nullopt;
  return static_cast<double>(m_sinceSnapshot.elapsed()) / 1000.0;
}

bool ClusterModel::isSilent() const {
  if (m_link != LinkState::Connected || isFile() || !m_hasSnapshot) return false;
  const auto& simulation = m_snapshot->simulation;
  const double speed = simulation ? std::min({1.0, simulation->speed, simulation->reached}) : 1.0;
  const auto quiet = std::min(m_sinceSnapshot.elapsed(), m_sinceConnected.elapsed());
  return static_cast<double>(quiet) / 1000.0 * speed > kSilentSeconds;
}

void ClusterModel::chooseJob(const std::string& name) {
  m_chosenJob = name;
  m_dirty = true;
  schedule();
}

void ClusterModel::forget() {
  m_snapshot = std::make_shared<const engine::ClusterSnapshot>();
  m_hasSnapshot = false;
  m_chosenJob.clear();
  m_newEvents.clear();
  m_newSamples.clear();
  emit cleared();
  m_dirty = true;
  flush();
}

void ClusterModel::clear(const QString& file) {
  m_file = file;
  m_link = LinkState::None;
  m_linkDetail.clear();
  m_viewerKey.clear();
  m_numMalformed = 0;
  m_recordProblem.clear();
  forget();
}

void ClusterModel::startAnew() {
  forget();
  emit startedAnew();
}

const engine::JobStatus* ClusterModel::job() const {
  const auto& jobs = m_snapshot->jobs;
  if (const engine::JobStatus* chosen = m_chosenJob.empty() ? nullptr : findJob(m_chosenJob)) {
    return chosen;
  }
  const auto alive = std::find_if(jobs.begin(), jobs.end(), [](const engine::JobStatus& job) {
    return job.state != engine::JobState::kStopped && job.state != engine::JobState::kFailed;
  });
  if (alive != jobs.end()) return &*alive;
  return jobs.empty() ? nullptr : &jobs.front();
}

const engine::DeviceStatus* ClusterModel::slowestDevice() const {
  const engine::JobStatus* const shown = job();
  const engine::DeviceStatus* slowest = nullptr;
  for (const engine::NodeStatus& node : m_snapshot->nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (shown == nullptr || device.job != shown->name || device.peers_seconds <= 0) continue;
      if (slowest == nullptr || device.busy_seconds > slowest->busy_seconds) slowest = &device;
    }
  }
  return slowest;
}

const engine::JobStatus* ClusterModel::findJob(const std::string& name) const {
  const auto& jobs = m_snapshot->jobs;
  const auto found = std::find_if(jobs.begin(), jobs.end(),
                                  [&](const engine::JobStatus& job) { return job.name == name; });
  return found == jobs.end() ? nullptr : &*found;
}

const engine::NodeStatus* ClusterModel::findNode(std::int32_t node) const {
  const auto& nodes = m_snapshot->nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const engine::NodeStatus& each) {
    return each.node == node;
  });
  return found == nodes.end() ? nullptr : &*found;
}

const engine::DeviceStatus* ClusterModel::findDevice(ptc::DeviceId device) const {
  const engine::NodeStatus* node = findNode(device.node);
  if (node == nullptr) return nullptr;
  const auto found =
      std::find_if(node->devices.begin(), node->devices.end(),
                   [&](const engine::DeviceStatus& each) { return each.id == device; });
  return found == node->devices.end() ? nullptr : &*found;
}

const engine::TxnStatus* ClusterModel::runningTxn() const {
  const auto& txn = m_snapshot->transaction;
  return txn && !engine::IsFinal(txn->phase) ? &*txn : nullptr;
}

void ClusterModel::setSnapshot(engine::ClusterSnapshot snapshot) {
  setSnapshot(std::make_shared<const engine::ClusterSnapshot>(std::move(snapshot)));
}

void ClusterModel::setSnapshot(std::shared_ptr<const engine::ClusterSnapshot> snapshot) {
  if (hasLongText(*snapshot)) {
    auto shorter = std::make_shared<engine::ClusterSnapshot>(*snapshot);
    forEachText(*shorter, shorten);
    snapshot = std::move(shorter);
  }
  m_snapshot = std::move(snapshot);
  m_hasSnapshot = true;
  m_sinceSnapshot.start();
  m_dirty = true;
  schedule();
}

void ClusterModel::setLink(LinkState state, const QString& detail) {
  if (state == m_link && detail == m_linkDetail) return;
  if (state == LinkState::Connected) m_sinceConnected.start();
  m_link = state;
  m_linkDetail = detail;
  m_dirty = true;
  schedule();
}

std::optional<ClusterStop> ClusterModel::stopped() const {
  return m_link == LinkState::Stopped ? std::optional(m_stop) : std::nullopt;
}

void ClusterModel::setStopped(const ClusterStop& stop) {
  m_stop = stop;
  m_link = LinkState::Stopped;
  m_dirty = true;
  schedule();
}

void ClusterModel::setViewerKey(const QString& name) {
  if (name == m_viewerKey) return;
  m_viewerKey = name;
  m_dirty = true;
  schedule();
}

void ClusterModel::setMalformed(std::int64_t count) {
  m_numMalformed = count;
  m_dirty = true;
  schedule();
}

QString ClusterModel::recordProblem() const {
  const QString cluster = QString::fromStdString(m_snapshot->history_problem);
  return cluster.isEmpty() ? m_recordProblem : cluster;
}

void ClusterModel::setRecordProblem(const QString& problem) {
  if (problem == m_recordProblem) return;
  m_recordProblem = problem;
  m_dirty = true;
  schedule();
}

void ClusterModel::addEvent(engine::Event event) {
  shorten(event.text);
  shorten(event.source);
  m_newEvents.push_back(std::move(event));
  schedule();
}

void ClusterModel::addSample(engine::Sample sample) {
  m_newSamples.push_back(std::move(sample));
  schedule();
}

void ClusterModel::schedule() {
  if (m_timer.isActive()) return;
  constexpr qint64 kPeriod = 1000 / kMaxNotificationsPerSecond + 1;
  const qint64 waited = m_sinceFlush.isValid() ? m_sinceFlush.elapsed() : kPeriod;
  m_timer.start(static_cast<int>(std::max<qint64>(0, kPeriod - waited)));
}

void ClusterModel::flush() {
  m_timer.stop();
  m_sinceFlush.start();
  if (std::exchange(m_dirty, false)) emit changed();
  if (!m_newEvents.empty()) emit eventsAdded(std::exchange(m_newEvents, {}));
  if (!m_newSamples.empty()) emit samplesAdded(std::exchange(m_newSamples, {}));
}

}  // namespace tessera::ui
