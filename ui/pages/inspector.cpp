// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/inspector.h"

#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/widgets/flow_bars.h"

namespace tessera::ui {
namespace {

/// "dp 1 · tp 0 · pp 0", with ep and cp where the mesh has them.
QString coordinates(const ptc::MeshShape& shape, int rank) {
  using ptc::Axis;
  QStringList parts;
  for (const Axis axis : {Axis::kDp, Axis::kTp, Axis::kPp, Axis::kEp, Axis::kCp}) {
    if ((axis == Axis::kEp || axis == Axis::kCp) && shape[axis] == 1) continue;
    parts << QString::fromStdString(std::string(ptc::ToString(axis))) + QLatin1Char(' ') +
                 QString::number(coordinate(shape, rank, axis));
  }
  return parts.join(QStringLiteral(" · "));
}

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

Inspector::Inspector(ClusterModel& model, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_model(model),
      m_title(new QLabel(this)),
      m_facts(new KeyValues(this)),
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

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 13, 16, 13);
  column->setSpacing(10);
  column->addWidget(m_title);
  column->addWidget(m_facts);
  column->addWidget(m_flowGroup);
  column->addWidget(m_hint);
  column->addStretch();
  refresh();
}

QString Inspector::title() const { return m_title->text(); }

void Inspector::setSelection(const std::set<ptc::DeviceId>& devices) {
  m_selection = devices;
  refresh();
}

std::vector<KeyValues::Row> Inspector::deviceRows(ptc::DeviceId id) const {
  std::vector<KeyValues::Row> rows;
  const engine::DeviceStatus* device = m_model.findDevice(id);
  if (device == nullptr) return rows;
  const engine::ClusterSnapshot& snapshot = m_model.snapshot();
  const engine::TxnStatus* txn = m_model.runningTxn();
  const engine::JobStatus* job = m_model.findJob(device->job);

  // A joining device has its place in the mesh to come.
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
  } else {
    rows.push_back({tr("job"), device->joining ? tr("joining") : tr("none, idle")});
  }
  const engine::NodeStatus* node = m_model.findNode(id.node);
  QString nodeText = format::node(id.node);
  if (snapshot.one_host) nodeText = tr("%1 (this host)").arg(nodeText);
  if (node != nullptr && node->state != engine::NodeState::kAlive) {
    nodeText += QStringLiteral(", ") + format::text(node->state);
  }
  rows.push_back({tr("node"), nodeText});
  rows.push_back({tr("memory"), format::bytesOf(device->used_bytes, device->total_bytes)});
  if (device->failed) {
    rows.push_back({tr("state"), tr("failed"), QStringLiteral("bad")});
  }

  if (txn != nullptr) {
    std::int64_t received = 0, toReceive = 0, toSend = 0;
    QStringList sources;
    for (const engine::FlowStatus& flow : txn->flows) {
      if (flow.destination == id && flow.source != id) {
        received += flow.bytes_done;
        toReceive += flow.bytes_total;
        sources << format::device(flow.source);
      }
      if (flow.source == id && flow.destination != id) toSend += flow.bytes_total;
    }
    if (toReceive > 0) {
      rows.push_back(
          {tr("receives"),
           tr("%1 from %2").arg(format::bytes(toReceive), sources.join(QStringLiteral(", ")))});
      rows.push_back(
          {tr("done"),
           format::bytes(received) + QStringLiteral(", ") +
               format::percent(static_cast<double>(received) / static_cast<double>(toReceive)),
           QStringLiteral("accent")});
    }
    if (toSend > 0) rows.push_back({tr("sends"), format::bytes(toSend)});
  }
  return rows;
}

std::vector<KeyValues::Row> Inspector::selectionRows() const {
  std::int64_t used = 0, total = 0;
  int inJob = 0;
  for (const ptc::DeviceId id : m_selection) {
    if (const engine::DeviceStatus* device = m_model.findDevice(id)) {
      used += device->used_bytes;
      total += device->total_bytes;
      inJob += !device->job.empty();
    }
  }
  const int count = static_cast<int>(m_selection.size());
  return {{tr("GPUs"), deviceNames({m_selection.begin(), m_selection.end()})},
          {tr("in a job"), tr("%1 of %2").arg(inJob).arg(count)},
          {tr("memory"), format::bytesOf(used, total)}};
}

std::vector<KeyValues::Row> Inspector::clusterRows() const {
  const engine::ClusterSnapshot& snapshot = m_model.snapshot();
  int alive = 0, devices = 0, idle = 0;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    const bool isAlive = node.state == engine::NodeState::kAlive;
    alive += isAlive;
    for (const engine::DeviceStatus& device : node.devices) {
      ++devices;
      idle += isAlive && device.job.empty() && !device.joining && !device.failed;
    }
  }
  std::vector<KeyValues::Row> rows{
      {tr("nodes"), tr("%1 of %2 alive").arg(alive).arg(snapshot.nodes.size())},
      {tr("GPUs"), tr("%1, %2 idle").arg(devices).arg(idle)}};
  if (snapshot.link_bytes_per_second > 0) {
    rows.push_back(
        {tr("limit"), tr("%1 (emulated link)").arg(format::rate(snapshot.link_bytes_per_second))});
  }
  if (const engine::JobStatus* job = m_model.job()) {
    rows.push_back({tr("job"), QString::fromStdString(job->name)});
    rows.push_back({tr("epoch"), format::count(job->epoch)});
    if (!job->layout_hash.empty()) {
      rows.push_back({tr("layout"), QString::fromStdString(job->layout_hash)});
    }
  }
  return rows;
}

void Inspector::refresh() {
  const engine::ClusterSnapshot& snapshot = m_model.snapshot();
  if (m_selection.size() == 1) {
    m_title->setText(format::device(*m_selection.begin()));
    m_facts->setRows(deviceRows(*m_selection.begin()));
  } else if (!m_selection.empty()) {
    m_title->setText(format::gpus(static_cast<std::int64_t>(m_selection.size())));
    m_facts->setRows(selectionRows());
  } else {
    m_title->setText(m_model.hasSnapshot() ? QString::fromStdString(snapshot.cluster)
                                           : tr("Nothing to inspect"));
    m_facts->setRows(m_model.hasSnapshot() ? clusterRows() : std::vector<KeyValues::Row>());
  }
  const engine::TxnStatus* txn = m_model.runningTxn();
  m_flowGroup->setVisible(txn != nullptr && !txn->flows.empty());
  if (txn != nullptr) {
    m_flows->setFlows(slowestFirst(txn->flows));
    std::vector<KeyValues::Row> rows;
    if (snapshot.link_bytes_per_second > 0) {
      rows.push_back({tr("limit"),
                      tr("%1 (emulated link)").arg(format::rate(snapshot.link_bytes_per_second))});
    }
    rows.push_back({tr("bytes to move"), format::bytes(txn->bytes_total)});
    rows.push_back({tr("checksums so far"), tr("%1 equal").arg(format::count(txn->checksums_equal)),
                    txn->checksums_equal > 0 ? QStringLiteral("ok") : QString()});
    m_moveFacts->setRows(rows);
  }
  m_hint->setVisible(m_selection.empty() && txn == nullptr && m_model.hasSnapshot());
  m_hint->setText(tr("Select a GPU to see what it holds."));
}

}  // namespace tessera::ui
