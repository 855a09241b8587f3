// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/inspector.h"

#include <QLabel>
#include <QLocale>
#include <QScrollArea>
#include <QStringList>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/device_names.h"
#include "ui/models/job_groups.h"
#include "ui/models/operator_seat.h"
#include "ui/pages/memory_use.h"
#include "ui/sentences.h"
#include "ui/widgets/flow_bars.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/pipeline_box.h"
#include "ui/widgets/scrolled.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {
namespace {

/// "dp 1 · tp 0 · pp 0", with ep and cp if the mesh has them.
QString coordinates(const ptc::MeshShape& shape, int rank) {
  QStringList parts;
  for (const ptc::Axis axis : ptc::kAxesInText) {
    if (!ptc::IsCommon(axis) && shape[axis] == 1) continue;
    parts << QString::fromStdString(std::string(ptc::ToString(axis))) + QLatin1Char(' ') +
                 QString::number(coordinate(shape, rank, axis));
  }
  return parts.join(QStringLiteral(" · "));
}

QString orDash(const std::string& text) {
  return text.empty() ? format::unknown() : QString::fromStdString(text);
}

/// Returns the other devices of the job that hold the same pieces: those at the same place of the
/// axes that cut the state of every job.
std::vector<ptc::DeviceId> replicasOf(const engine::JobStatus& job, int rank) {
  std::vector<ptc::DeviceId> others;
  const auto isReplica = [&](int other) {
    return std::ranges::all_of(
        std::array{ptc::Axis::kPp, ptc::Axis::kEp, ptc::Axis::kTp}, [&](ptc::Axis axis) {
          return coordinate(job.mesh, other, axis) == coordinate(job.mesh, rank, axis);
        });
  };
  for (int other = 0; other < static_cast<int>(job.devices.size()); ++other) {
    if (other != rank && isReplica(other)) {
      others.push_back(job.devices[static_cast<std::size_t>(other)]);
    }
  }
  return others;
}

/// "corrupt frames requested again: 3, stray frames dropped: 1"; empty if there are none.
QString networkFaults(const engine::NetworkFaults& faults) {
  QStringList parts;
  const auto add = [&](const QString& what, std::int64_t count) {
    if (count > 0) parts << what.arg(format::count(count));
  };
  add(Inspector::tr("corrupt frames requested again: %1"), faults.corrupt);
  add(Inspector::tr("stray frames dropped: %1"), faults.dropped);
  add(Inspector::tr("frames taken from another holder: %1"), faults.switched);
  add(Inspector::tr("malformed messages dropped: %1"), faults.malformed);
  add(Inspector::tr("requests not admitted: %1"), faults.not_admitted);
  add(Inspector::tr("connections closed because too many were open: %1"),
      faults.connections_closed);
  return parts.join(QStringLiteral(", "));
}

struct Memory {
  std::int64_t used = 0, total = 0;
  void add(const engine::DeviceStatus& device) {
    used += device.used_bytes;
    total += device.total_bytes;
  }
  QString text() const { return total > 0 ? format::bytesOf(used, total) : format::unknown(); }
  std::optional<double> fraction() const {
    if (total <= 0) return std::nullopt;
    return static_cast<double>(used) / static_cast<double>(total);
  }
};

std::vector<engine::FlowStatus> slowestFirst(std::vector<engine::FlowStatus> flows) {
  const auto left = [](const engine::FlowStatus& flow) {
    return flow.bytes_total <= 0
               ? 1.0
               : static_cast<double>(flow.bytes_done) / static_cast<double>(flow.bytes_total);
  };
  std::stable_sort(flows.begin(), flows.end(),
                   [&](const auto& a, const auto& b) { return left(a) < left(b); });
  return flows;
}

}  // namespace

Inspector::Inspector(const ClusterModel& model, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_model(&model),
      m_title(new QLabel(this)),
      m_facts(new KeyValues(this)),
      m_memory(new Meter(this)),
      m_memoryParts(new StackedBar(this)),
      m_jobGroup(new QWidget(this)),
      m_jobTitle(new QLabel(this)),
      m_jobFacts(new KeyValues(this)),
      m_pipeline(new PipelineBox(this)),
      m_flowGroup(new QWidget(this)),
      m_flows(new FlowBars(this)),
      m_moveFacts(new KeyValues(this)),
      m_hint(new QLabel(this)) {
  setRole(m_title, QStringLiteral("heading"));
  setRole(m_hint, QStringLiteral("hint"));
  m_hint->setWordWrap(true);

  auto* flowTitle = new QLabel(tr("Flows, slowest first"), this);
  setRole(flowTitle, QStringLiteral("heading"));
  auto* group = new QVBoxLayout(m_flowGroup);
  group->setContentsMargins(0, 0, 0, 0);
  group->setSpacing(8);
  group->addWidget(new Rule(this));
  group->addWidget(flowTitle);
  group->addWidget(m_flows);
  group->addWidget(new Rule(this));
  group->addWidget(m_moveFacts);

  setRole(m_jobTitle, QStringLiteral("heading"));
  auto* jobColumn = new QVBoxLayout(m_jobGroup);
  jobColumn->setContentsMargins(0, 0, 0, 0);
  jobColumn->setSpacing(8);
  jobColumn->addWidget(new Rule(this));
  jobColumn->addWidget(m_jobTitle);
  jobColumn->addWidget(m_jobFacts);
  jobColumn->addWidget(m_pipeline);

  auto* content = new QWidget(this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(16, 13, 16, 13);
  column->setSpacing(10);
  column->addWidget(m_title);
  column->addWidget(m_facts);
  column->addWidget(m_memory);
  column->addWidget(m_memoryParts);
  column->addWidget(m_jobGroup);
  column->addWidget(m_flowGroup);
  column->addWidget(m_hint);
  column->addStretch();
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  QScrollArea* scroll = scrolled(content, this);
  scroll->setFocusPolicy(Qt::NoFocus);
  whole->addWidget(scroll);
  refresh();
}

QString Inspector::title() const { return m_title->text(); }

void Inspector::setLink(const std::optional<ChosenLink>& link) {
  m_link = link;
  refresh();
}

void Inspector::setSelection(const std::set<ptc::DeviceId>& devices) {
  m_selection = devices;
  refresh();
}

std::vector<KeyValues::Row> Inspector::deviceRows(ptc::DeviceId id) const {
  std::vector<KeyValues::Row> rows;
  const engine::DeviceStatus* device = m_model->findDevice(id);
  if (device == nullptr) return rows;
  const engine::ClusterSnapshot& snapshot = m_model->snapshot();
  const engine::TxnStatus* txn = m_model->runningTxn();
  const engine::JobStatus* job = m_model->findJob(device->job);

  // A joining device has coordinates in the new mesh.
  std::optional<int> coming;
  if (txn != nullptr) {
    const auto found = std::find(txn->to_devices.begin(), txn->to_devices.end(), id);
    if (found != txn->to_devices.end()) {
      coming = static_cast<int>(found - txn->to_devices.begin());
    }
  }
  if (device->joining && txn != nullptr && coming) {
    rows.push_back(
        {tr("job"),
         tr("%1, rank %2 (joining)").arg(QString::fromStdString(txn->job)).arg(*coming)});
    rows.push_back({tr("coordinates"), coordinates(txn->to_mesh, *coming)});
  } else if (job != nullptr && device->rank) {
    rows.push_back(
        {tr("job"), tr("%1, rank %2").arg(QString::fromStdString(job->name)).arg(*device->rank)});
    rows.push_back({tr("coordinates"), coordinates(job->mesh, *device->rank)});
    if (device->pieces > 0) {
      rows.push_back({tr("shards"), QLocale().toString(qlonglong{device->pieces})});
      rows.push_back({tr("parameters"), format::bytes(device->parameter_bytes)});
      rows.push_back({tr("optimizer state"), format::bytes(device->optimizer_bytes)});
    }
    const auto others = replicasOf(*job, *device->rank);
    rows.push_back(
        {tr("same shards on"), others.empty() ? tr("no other GPU") : deviceNames(others),
         others.empty() ? QStringLiteral("warn") : QString(),
         tr("%1 replicas of the shards on this GPU").arg(format::count(std::ssize(others) + 1))});
    addGroupRows(*job, *device->rank, &rows);
  } else {
    rows.push_back({tr("job"), device->joining ? tr("joining") : tr("none, idle")});
  }
  const engine::NodeStatus* node = m_model->findNode(id.node);
  QString nodeText = format::node(id.node);
  if (snapshot.one_host) nodeText = tr("%1 (this host)").arg(nodeText);
  if (node != nullptr && node->state != engine::NodeState::kAlive) {
    nodeText += QStringLiteral(", ") + format::text(node->state);
  }
  rows.push_back({tr("node"), nodeText});
  if (node != nullptr && !node->gpu.empty()) {
    rows.push_back({tr("kind"),
                    QString::fromStdString(node->gpu),
                    {},
                    QString::fromStdString(node->gpu_driver)});
  }
  if (node != nullptr && !node->address.empty()) {
    rows.push_back({tr("address"), QString::fromStdString(node->address)});
  }
  if (node != nullptr && !node->rack.empty()) {
    rows.push_back({tr("rack"), QString::fromStdString(node->rack)});
  }
  if (device->failed) {
    rows.push_back({tr("state"), tr("failed"), QStringLiteral("bad")});
  }

  if (txn != nullptr) {
    std::int64_t received = 0, toReceive = 0, toSend = 0;
    std::vector<ptc::DeviceId> sources;
    for (const engine::FlowStatus& flow : txn->flows) {
      if (flow.destination == id && flow.source != id) {
        received += flow.bytes_done;
        toReceive += flow.bytes_total;
        sources.push_back(flow.source);
      }
      if (flow.source == id && flow.destination != id) toSend += flow.bytes_total;
    }
    if (toReceive > 0) {
      rows.push_back(
          {tr("receives"),
           tr("%1 from %2").arg(format::bytes(toReceive), deviceNames(std::move(sources)))});
      if (!m_past)
        rows.push_back(
            {tr("done"),
             format::bytes(received) + QStringLiteral(", ") +
                 format::percent(static_cast<double>(received) / static_cast<double>(toReceive)),
             QStringLiteral("accent")});
    }
    if (toSend > 0) rows.push_back({tr("sends"), format::bytes(toSend)});
  }
  Memory memory;
  memory.add(*device);
  rows.push_back({tr("memory"), memory.text()});
  if (!m_past && job != nullptr && device->rank) addStepRows(*job, *device, &rows);
  return rows;
}

// The rank computes for `busy_seconds` of a step; the rest it waits for others and for data.
void Inspector::addStepRows(const engine::JobStatus& job, const engine::DeviceStatus& device,
                            std::vector<KeyValues::Row>* rows) {
  if (!job.step_seconds || device.busy_seconds <= 0) return;
  const double step = *job.step_seconds;
  const double waits = step > 0 ? std::clamp(1 - device.busy_seconds / step, 0.0, 1.0) : 0;
  rows->push_back({tr("step time"), format::seconds(step)});
  rows->push_back({tr("computes"), tr("%1 of a step").arg(format::seconds(device.busy_seconds)),
                   device.peers_seconds > 0 ? QStringLiteral("warn") : QString(),
                   device.peers_seconds > 0
                       ? tr("its peers compute %1").arg(format::seconds(device.peers_seconds))
                       : QString()});
  rows->push_back({tr("waits"),
                   format::percent(waits),
                   {},
                   tr("share of a step in which this GPU waits for others or for data")});
}

Inspector::~Inspector() {
  if (m_states) m_states->setActive(this, false);
}

void Inspector::setStates(JobStates* states) {
  m_states = states;
  connect(states, &JobStates::changed, this, [this] { refresh(); });
  refresh();
}

const engine::JobStatus* Inspector::selectedJob() const {
  if (m_selection.size() != 1) return nullptr;
  const engine::DeviceStatus* device = m_model->findDevice(*m_selection.begin());
  return device == nullptr || device->joining ? nullptr : m_model->findJob(device->job);
}

engine::vfs::JobFactsPtr Inspector::factsOf(const engine::JobStatus& job) const {
  if (!m_states) return nullptr;
  const auto found = m_states->jobs().find(job.name);
  return found == m_states->jobs().end() ? nullptr : found->second;
}

void Inspector::addGroupRows(const engine::JobStatus& job, int rank,
                             std::vector<KeyValues::Row>* rows) const {
  const engine::vfs::JobFactsPtr facts = factsOf(job);
  for (const JobGroup& group : groupsOf(job, rank, facts)) {
    const QString axis = QString::fromStdString(std::string(ptc::ToString(group.axis)));
    const QString bytes =
        group.bytes ? tr("%1 per step").arg(format::bytes(*group.bytes)) : format::unknown();
    rows->push_back(
        {tr("%1 group").arg(axis),
         tr("%1 · %2").arg(deviceNames(group.devices), bytes),
         {},
         group.bytes ? tr("By the cost model: each collective counts once, with the size of its "
                          "operand.")
         : facts     ? tr("The program of the job decides what it sends.")
                     : tr("What the group sends in a step is not known yet.")});
  }
}

std::vector<KeyValues::Row> Inspector::linkRows(const ChosenLink& link) {
  std::vector<KeyValues::Row> rows;
  for (const auto& [key, value] : link.facts) rows.push_back({key, value});
  return rows;
}

std::vector<KeyValues::Row> Inspector::selectionRows() const {
  Memory memory;
  int inJob = 0;
  std::set<std::int32_t> nodes;
  for (const ptc::DeviceId id : m_selection) {
    nodes.insert(id.node);
    if (const engine::DeviceStatus* device = m_model->findDevice(id)) {
      memory.add(*device);
      inJob += !device->job.empty();
    }
  }
  const int count = static_cast<int>(m_selection.size());
  return {{tr("GPUs"), deviceNames({m_selection.begin(), m_selection.end()})},
          {tr("nodes"), format::count(static_cast<std::int64_t>(nodes.size()))},
          {tr("in a job"), tr("%1 of %2").arg(format::count(inJob), format::count(count))},
          {tr("memory"), memory.text()}};
}

const engine::NodeStatus* Inspector::selectedNode() const {
  if (m_selection.empty()) return nullptr;
  const engine::NodeStatus* node = m_model->findNode(m_selection.begin()->node);
  if (node == nullptr || node->devices.size() != m_selection.size()) return nullptr;
  const bool all = std::all_of(
      node->devices.begin(), node->devices.end(),
      [this](const engine::DeviceStatus& device) { return m_selection.contains(device.id); });
  return all ? node : nullptr;
}

std::vector<KeyValues::Row> Inspector::nodeRows(const engine::NodeStatus& node) const {
  using engine::NodeState;
  Memory memory;
  std::set<QString> jobs;
  int idle = 0, failed = 0;
  for (const engine::DeviceStatus& device : node.devices) {
    memory.add(device);
    failed += device.failed;
    idle += device.job.empty() && !device.joining && !device.failed;
    if (!device.job.empty()) jobs.insert(QString::fromStdString(device.job));
  }
  const bool lost = node.state == NodeState::kDead || node.state == NodeState::kLeft;
  QString state = format::text(node.state);
  if (node.state != NodeState::kAlive && node.state != NodeState::kJoining) {
    state += QStringLiteral(", ") + tr("last seen %1").arg(format::age(node.last_seen));
  }
  QString gpus = format::gpus(static_cast<std::int64_t>(node.devices.size()));
  if (idle > 0 && !lost) gpus += QStringLiteral(", ") + tr("%1 idle").arg(idle);
  if (failed > 0) gpus += QStringLiteral(", ") + tr("%1 failed").arg(failed);
  std::vector<KeyValues::Row> rows = {
      {tr("state"), node.is_state_known ? state : format::unknown(),
       !node.is_state_known              ? QString()
       : lost                            ? QStringLiteral("bad")
       : node.state == NodeState::kAlive ? QStringLiteral("ok")
                                         : QStringLiteral("warn")},
      {tr("address"), orDash(node.address)},
      {tr("host"), orDash(node.host)},
      {tr("agent version"), orDash(node.version)},
      {tr("GPUs"), gpus},
      {tr("jobs"), jobs.empty() ? tr("none")
                                : QStringList(jobs.begin(), jobs.end()).join(QStringLiteral(", "))},
      {tr("memory"), memory.text()}};
  if (!node.rack.empty()) {
    const auto host = std::ranges::find(rows, tr("host"), &KeyValues::Row::key);
    rows.insert(host + 1, {tr("rack"), QString::fromStdString(node.rack)});
  }
  if (!node.gpu.empty()) {
    const auto gpusRow = std::ranges::find(rows, tr("GPUs"), &KeyValues::Row::key);
    rows.insert(gpusRow + 1, {tr("kind"),
                              QString::fromStdString(node.gpu),
                              {},
                              QString::fromStdString(node.gpu_driver)});
  }
  addDeviceRows(node, &rows);
  if (const QString faults = networkFaults(node.network); !faults.isEmpty()) {
    rows.push_back({tr("network"), faults, QStringLiteral("warn"), tr("since the agent started")});
  }
  return rows;
}

// Each GPU in a line: its memory, what its rank computes in a step, and how long it waits.
void Inspector::addDeviceRows(const engine::NodeStatus& node,
                              std::vector<KeyValues::Row>* rows) const {
  constexpr std::size_t kMostListed = 16;
  for (std::size_t i = 0; i < std::min(kMostListed, node.devices.size()); ++i) {
    const engine::DeviceStatus& device = node.devices[i];
    const engine::JobStatus* job = device.job.empty() ? nullptr : m_model->findJob(device.job);
    Memory memory;
    memory.add(device);
    const auto full = memory.fraction();
    QStringList parts = {full ? tr("%1 full").arg(format::percent(*full)) : format::unknown()};
    QString tone, help = memory.text();
    if (device.failed) {
      parts = {tr("failed")};
      tone = QStringLiteral("bad");
    } else if (job != nullptr) {
      help += QLatin1Char('\n') +
              tr("%1, rank %2").arg(QString::fromStdString(job->name)).arg(device.rank.value_or(0));
      const double step = job->step_seconds.value_or(0);
      if (!m_past && step > 0 && device.busy_seconds > 0) {
        const double waits = std::clamp(1 - device.busy_seconds / step, 0.0, 1.0);
        parts << tr("computes %1").arg(format::seconds(device.busy_seconds))
              << tr("waits %1").arg(format::percent(waits));
      }
      if (device.peers_seconds > 0) {
        tone = QStringLiteral("warn");
        help += QLatin1Char('\n') +
                tr("its peers compute %1").arg(format::seconds(device.peers_seconds));
      }
    }
    rows->push_back({format::device(device.id), parts.join(QStringLiteral(" · ")), tone, help});
  }
  if (node.devices.size() > kMostListed)
    rows->push_back(
        {tr("others"), format::gpus(static_cast<std::int64_t>(node.devices.size() - kMostListed))});
}

std::vector<KeyValues::Row> Inspector::jobRows(const engine::JobStatus& job) const {
  std::vector<KeyValues::Row> rows;
  if (job.command.empty() || !job.model.empty()) rows.push_back({tr("model"), orDash(job.model)});
  if (!job.command.empty()) rows.push_back({tr("command"), QString::fromStdString(job.command)});
  const bool isPlaced = !job.devices.empty();  // false while the job opens its data
  rows.push_back({tr("mesh"), isPlaced ? format::shape(job.mesh) : format::unknown()});
  const bool isKnown = job.state != engine::JobState::kUnknown;
  rows.push_back({tr("options"), isKnown ? optionsText(job.options) : format::unknown()});
  rows.push_back({tr("step time"),
                  job.step_seconds ? format::seconds(*job.step_seconds) : format::unknown(),
                  {},
                  tr("median of the last steps")});
  rows.push_back({tr("tokens/s"), job.tokens_per_second ? format::shortCount(*job.tokens_per_second)
                                                        : format::unknown()});
  rows.push_back({tr("state"),
                  job.state_bytes > 0 ? format::bytes(job.state_bytes) : format::unknown(),
                  {},
                  tr("one full replica")});
  if (job.survival) {
    rows.push_back({tr("loss of any node"), format::survival(*job.survival),
                    job.survival->of_any_node() ? QString() : QStringLiteral("warn"),
                    tr("State of which no other node holds a copy")});
  }
  if (!m_past) {
    rows.push_back(snapshotRow(job.snapshots));
    rows.push_back(checkpointRow(job.checkpoints));
  }
  for (const auto& [name, value] : job.metrics)
    rows.push_back({format::word(name), format::quantity(value), {}, tr("logged by the program")});
  rows.push_back({tr("epoch"), format::count(job.epoch)});
  rows.push_back({tr("layout"), orDash(job.layout_hash)});
  return rows;
}

KeyValues::Row Inspector::checkpointRow(const engine::CheckpointStatus& checkpoints) const {
  QString text = tr("none");
  if (checkpoints.is_saving) {
    text = checkpoints.total > 0
               ? tr("saving, %1 of %2")
                     .arg(format::bytes(checkpoints.done), format::bytes(checkpoints.total))
               : tr("saving");
  } else if (checkpoints.step) {
    text = tr("step %1").arg(format::count(*checkpoints.step));
  }
  QStringList more;
  if (!checkpoints.path.empty()) more << QString::fromStdString(checkpoints.path);
  if (const engine::SnapshotEvery every = checkpoints.schedule.every; every.is_on())
    more << (every.steps > 0 ? tr("every %1").arg(format::steps(every.steps))
                             : tr("every %1 s").arg(every.seconds));
  if (!checkpoints.problem.empty())
    more << tr("the last was not saved: %1").arg(localized(checkpoints.problem));
  return {tr("checkpoints"), text, checkpoints.problem.empty() ? QString() : QStringLiteral("warn"),
          more.join(QStringLiteral(" · "))};
}

KeyValues::Row Inspector::snapshotRow(const engine::SnapshotStatus& snapshots) const {
  // One that a registrar has found with the nodes is kept although no further ones are taken.
  const bool isOn = snapshots.every.is_on();
  if (!isOn && !snapshots.step && snapshots.problem.empty()) return {tr("snapshots"), tr("off")};
  const QString text =
      snapshots.step ? tr("step %1, %2 on %3")
                           .arg(format::count(*snapshots.step), format::bytes(snapshots.bytes),
                                format::nodes(snapshots.num_nodes))
                     : tr("none yet");
  const QString every = !isOn ? tr("off")
                        : snapshots.every.steps > 0
                            ? tr("every %1").arg(format::steps(snapshots.every.steps))
                            : tr("every %1 s").arg(snapshots.every.seconds);
  QStringList more{every};
  if (snapshots.forecast.bytes > 0)
    more << tr("up to %1 on %2 while the next is taken")
                .arg(format::bytes(snapshots.forecast.peak_bytes),
                     format::node(snapshots.forecast.peak_node));
  if (snapshots.seconds > 0) more << tr("taken in %1").arg(format::seconds(snapshots.seconds));
  const qsizetype usual = more.size();
  if (snapshots.step && snapshots.num_nodes == 1) more << tr("lost with its node");
  if (!snapshots.problem.empty())
    more << tr("the last was given up: %1").arg(localized(snapshots.problem));
  const bool isWeak = more.size() > usual;
  return {tr("snapshots"), text, isWeak ? QStringLiteral("warn") : QString(),
          more.join(QStringLiteral(" · "))};
}

std::vector<KeyValues::Row> Inspector::clusterRows() const {
  const engine::ClusterSnapshot& snapshot = m_model->snapshot();
  int alive = 0, devices = 0, idle = 0;
  bool isKnown = true;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    const bool isAlive = node.state == engine::NodeState::kAlive;
    isKnown &= node.is_state_known;
    alive += isAlive;
    for (const engine::DeviceStatus& device : node.devices) {
      ++devices;
      idle += isAlive && device.job.empty() && !device.joining && !device.failed;
    }
  }
  std::vector<KeyValues::Row> rows{
      {tr("nodes"),
       !isKnown ? format::count(std::ssize(snapshot.nodes))
                : tr("%1 of %2 alive")
                      .arg(format::count(alive), format::count(std::ssize(snapshot.nodes)))},
      {tr("GPUs"), tr("%1, %2 idle").arg(format::count(devices), format::count(idle))}};
  if (snapshot.lease) rows.push_back({tr("operator"), leaseText(*snapshot.lease)});
  if (snapshot.link_bytes_per_second > 0) {
    rows.push_back(
        {tr("limit"), tr("%1 (emulated link)").arg(format::rate(snapshot.link_bytes_per_second))});
  }
  if (snapshot.plain_lanes) {
    rows.push_back({tr("security"), tr("bulk data between nodes is not encrypted (plain lanes)"),
                    QStringLiteral("warn")});
  }
  if (m_model->numMalformed() > 0) {
    rows.push_back({tr("ignored"),
                    tr("%1 unreadable messages").arg(format::count(m_model->numMalformed())),
                    QStringLiteral("warn")});
  }
  return rows;
}

// Of one GPU the parts are those of its layout, of several only what the cluster reports of each.
void Inspector::refreshMemory() {
  std::optional<MemoryUse> sum;
  const engine::JobStatus* job = selectedJob();
  const engine::vfs::JobFactsPtr facts = job == nullptr ? nullptr : factsOf(*job);
  for (const ptc::DeviceId id : m_selection) {
    const engine::DeviceStatus* device = m_model->findDevice(id);
    if (device == nullptr || device->total_bytes <= 0) continue;
    std::optional<engine::Holding> held;
    if (facts && facts->info.epoch == job->epoch)
      if (const auto rank = facts->info.layout.mesh().RankOf(id))
        held = engine::HoldingOf(facts->info.layout, *rank);
    const MemoryUse use = memoryOf(*device, held ? &*held : nullptr, m_model->runningTxn());
    if (sum) {
      *sum += use;
    } else {
      sum = use;
    }
  }
  m_memoryParts->setVisible(sum.has_value());
  if (sum) m_memoryParts->setSegments(memorySegments(*sum));
}

void Inspector::refresh(const ClusterModel& shown, bool past) {
  m_model = &shown;
  m_past = past;
  refresh();
}

void Inspector::refresh() {
  if (m_states) m_states->setActive(this, !m_past && selectedJob() != nullptr);
  const engine::ClusterSnapshot& snapshot = m_model->snapshot();
  Memory memory;
  for (const ptc::DeviceId id : m_selection) {
    if (const engine::DeviceStatus* device = m_model->findDevice(id)) memory.add(*device);
  }
  const engine::JobStatus* shown = m_model->hasSnapshot() ? m_model->job() : nullptr;
  if (m_selection.size() == 1) {
    const ptc::DeviceId id = *m_selection.begin();
    m_title->setText(format::device(id));
    m_facts->setRows(deviceRows(id));
    const engine::DeviceStatus* device = m_model->findDevice(id);
    shown = device == nullptr ? nullptr : m_model->findJob(device->job);
  } else if (const engine::NodeStatus* node = selectedNode()) {
    m_title->setText(tr("Node %1").arg(format::node(node->node)));
    m_facts->setRows(nodeRows(*node));
    shown = nullptr;
  } else if (m_selection.empty() && m_link) {
    m_title->setText(m_link->title);
    m_facts->setRows(linkRows(*m_link));
    shown = nullptr;
  } else if (!m_selection.empty()) {
    m_title->setText(format::gpus(static_cast<std::int64_t>(m_selection.size())));
    m_facts->setRows(selectionRows());
    shown = nullptr;
  } else {
    m_title->setText(m_model->hasSnapshot() ? QString::fromStdString(snapshot.cluster)
                                            : tr("Nothing to inspect"));
    m_facts->setRows(m_model->hasSnapshot() ? clusterRows() : std::vector<KeyValues::Row>());
  }
  m_memory->setVisible(!m_selection.empty());
  m_memory->setFraction(memory.fraction(), tr("memory %1").arg(memory.text()));
  refreshMemory();
  const bool moving = m_model->runningTxn() != nullptr && !m_model->runningTxn()->flows.empty();
  m_jobGroup->setVisible(shown != nullptr && !moving);
  if (shown != nullptr) {
    m_jobTitle->setText(QString::fromStdString(shown->name));
    m_jobFacts->setRows(jobRows(*shown));
    // Of the past neither the times of the ranks nor the step time are known.
    const bool isKnown = !m_past && !shown->devices.empty();
    m_pipeline->setVisible(isKnown);
    if (isKnown) m_pipeline->setInput(pipelineOf(snapshot, *shown));
  }
  const engine::TxnStatus* txn = m_model->runningTxn();
  m_flowGroup->setVisible(txn != nullptr && !txn->flows.empty());
  if (txn != nullptr) {
    m_flows->setFlows(slowestFirst(txn->flows));
    std::vector<KeyValues::Row> rows;
    if (snapshot.link_bytes_per_second > 0) {
      rows.push_back({tr("limit"),
                      tr("%1 (emulated link)").arg(format::rate(snapshot.link_bytes_per_second))});
    }
    rows.push_back({tr("bytes to move"), format::bytes(txn->bytes_total)});
    if (!m_past)
      rows.push_back({tr("checksums so far"),
                      tr("%1 equal").arg(format::count(txn->checksums_equal)),
                      txn->checksums_equal > 0 ? QStringLiteral("ok") : QString()});
    m_moveFacts->setRows(rows);
  }
  m_hint->setVisible(m_selection.empty() && !m_link && txn == nullptr && m_model->hasSnapshot());
  m_hint->setText(tr("Select a GPU to see what it holds."));
}

}  // namespace tessera::ui
