// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/cluster_tree_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {
namespace {

// Index ids: 0 the cluster, 1 a node, 2 + n a device of the n-th node.
constexpr quintptr kClusterId = 0;
constexpr quintptr kNodeId = 1;
constexpr quintptr kFirstDeviceId = 2;

// What the flows of a transaction bring to a device, and whether they take from it.
struct DeviceFlows {
  std::int64_t done = 0, total = 0;
  bool sends = false;
};
using FlowsByDevice = std::map<ptc::DeviceId, DeviceFlows>;

FlowsByDevice flowsByDevice(const engine::TxnStatus& txn) {
  FlowsByDevice flows;
  // Before and after these phases the flows are a plan or a record.
  const bool move =
      txn.phase == engine::TxnPhase::kPrecopying || txn.phase == engine::TxnPhase::kTransferring;
  if (!move) return flows;
  for (const engine::FlowStatus& flow : txn.flows) {
    if (flow.source == flow.destination) continue;
    flows[flow.source].sends |= flow.bytes_done < flow.bytes_total;
    DeviceFlows& in = flows[flow.destination];
    in.done += flow.bytes_done;
    in.total += flow.bytes_total;
  }
  return flows;
}

QString deviceState(const engine::NodeStatus& node, const engine::DeviceStatus& device,
                    const engine::TxnStatus* txn, const FlowsByDevice& flows, const Draft* draft,
                    bool namesJob) {
  if (device.failed) return ClusterTreeModel::tr("failed");
  if (node.state == engine::NodeState::kDead || node.state == engine::NodeState::kLeft) {
    return format::text(node.state);
  }
  if (draft != nullptr) {
    const Draft::Edits& edits = draft->edits();
    if (edits.in.contains(device.id)) return ClusterTreeModel::tr("joins");
    if (edits.out.contains(device.id)) return ClusterTreeModel::tr("leaves");
  }
  if (txn != nullptr) {
    const auto found = flows.find(device.id);
    const auto [done, total, sends] = found == flows.end() ? DeviceFlows() : found->second;
    if (done > 0) return format::percent(static_cast<double>(done) / static_cast<double>(total));
    if (sends) return ClusterTreeModel::tr("sending");
    if (device.joining) return ClusterTreeModel::tr("joining");
  }
  if (device.joining) return ClusterTreeModel::tr("joining");
  if (device.rank && device.peers_seconds > 0)
    return ClusterTreeModel::tr("rank %1, slow").arg(*device.rank);
  if (device.rank && namesJob)
    return ClusterTreeModel::tr("%1, rank %2")
        .arg(QString::fromStdString(device.job))
        .arg(*device.rank);
  if (device.rank) return ClusterTreeModel::tr("rank %1").arg(*device.rank);
  return device.job.empty() ? ClusterTreeModel::tr("idle") : QString::fromStdString(device.job);
}

}  // namespace

ClusterTreeModel::ClusterTreeModel(QObject* parent) : QAbstractItemModel(parent) {}

ClusterTreeModel::Tree ClusterTreeModel::makeTree(const engine::ClusterSnapshot& snapshot,
                                                  const Draft* draft) {
  Tree tree;
  tree.cluster = QString::fromStdString(snapshot.cluster);
  const engine::TxnStatus* txn =
      snapshot.transaction && !engine::IsFinal(snapshot.transaction->phase) ? &*snapshot.transaction
                                                                            : nullptr;
  const FlowsByDevice flows = txn == nullptr ? FlowsByDevice() : flowsByDevice(*txn);
  int total = 0;
  for (const engine::NodeStatus& status : snapshot.nodes) {
    Node node;
    node.number = status.node;
    int idle = 0, in = 0, out = 0;
    for (const engine::DeviceStatus& device : status.devices) {
      node.devices.push_back(
          {device.id, deviceState(status, device, txn, flows, draft, snapshot.jobs.size() > 1)});
      idle += device.job.empty() && !device.joining;
      if (draft != nullptr) {
        in += draft->edits().in.contains(device.id);
        out += draft->edits().out.contains(device.id);
      }
    }
    const int count = static_cast<int>(status.devices.size());
    total += count;
    if (status.state != engine::NodeState::kAlive) {
      node.state = format::text(status.state);
    } else if (in > 0 || out > 0) {
      if (in > 0) node.state = tr("+%1").arg(format::count(in));
      if (out > 0)
        node.state +=
            (in > 0 ? QStringLiteral(" ") : QString()) + QChar(0x2212) + format::count(out);
    } else if (idle == count && count > 0) {
      node.state = tr("%1 idle").arg(format::count(count));
    } else {
      node.state = format::count(count);
    }
    tree.nodes.push_back(std::move(node));
  }
  tree.state = format::gpus(total);
  return tree;
}

bool ClusterTreeModel::sameRows(const Tree& a, const Tree& b) {
  return std::equal(
      a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
      [](const Node& x, const Node& y) {
        return x.number == y.number &&
               std::equal(x.devices.begin(), x.devices.end(), y.devices.begin(), y.devices.end(),
                          [](const Device& p, const Device& q) { return p.id == q.id; });
      });
}

void ClusterTreeModel::setSnapshot(const engine::ClusterSnapshot& snapshot, const Draft* draft) {
  Tree next = makeTree(snapshot, draft);
  if (m_empty || !sameRows(m_tree, next)) {
    beginResetModel();
    m_tree = std::move(next);
    m_empty = false;
    endResetModel();
    return;
  }
  if (next == m_tree) return;
  const Tree old = std::exchange(m_tree, std::move(next));
  if (old.cluster != m_tree.cluster || old.state != m_tree.state) {
    emit dataChanged(index(0, NameColumn), index(0, StateColumn));
  }
  const QModelIndex root = index(0, 0);
  const int nodes = rowCount(root);
  if (nodes > 0) emit dataChanged(index(0, StateColumn, root), index(nodes - 1, StateColumn, root));
  for (int n = 0; n < nodes; ++n) {
    const auto at = static_cast<std::size_t>(n);
    if (old.nodes[at].devices == m_tree.nodes[at].devices) continue;
    const QModelIndex node = index(n, 0, root);
    emit dataChanged(index(0, StateColumn, node), index(rowCount(node) - 1, StateColumn, node));
  }
}

std::optional<ptc::DeviceId> ClusterTreeModel::device(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() < kFirstDeviceId) return std::nullopt;
  const Node& node = m_tree.nodes[index.internalId() - kFirstDeviceId];
  return node.devices[static_cast<std::size_t>(index.row())].id;
}

std::optional<std::int32_t> ClusterTreeModel::node(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() != kNodeId) return std::nullopt;
  return m_tree.nodes[static_cast<std::size_t>(index.row())].number;
}

QModelIndex ClusterTreeModel::indexOf(ptc::DeviceId device) const {
  const QModelIndex root = index(0, 0);
  for (std::size_t n = 0; n < m_tree.nodes.size(); ++n) {
    if (m_tree.nodes[n].number != device.node) continue;
    const auto& devices = m_tree.nodes[n].devices;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const Device& each) { return each.id == device; });
    if (found == devices.end()) return {};
    return index(static_cast<int>(found - devices.begin()), 0, index(static_cast<int>(n), 0, root));
  }
  return {};
}

QModelIndex ClusterTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  if (!parent.isValid()) return createIndex(row, column, kClusterId);
  if (parent.internalId() == kClusterId) return createIndex(row, column, kNodeId);
  return createIndex(row, column, kFirstDeviceId + static_cast<quintptr>(parent.row()));
}

QModelIndex ClusterTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == kClusterId) return {};
  if (child.internalId() == kNodeId) return createIndex(0, 0, kClusterId);
  return createIndex(static_cast<int>(child.internalId() - kFirstDeviceId), 0, kNodeId);
}

int ClusterTreeModel::rowCount(const QModelIndex& parent) const {
  if (m_empty || parent.column() > 0) return 0;
  if (!parent.isValid()) return 1;
  if (parent.internalId() == kClusterId) return static_cast<int>(m_tree.nodes.size());
  if (parent.internalId() != kNodeId) return 0;
  return static_cast<int>(m_tree.nodes[static_cast<std::size_t>(parent.row())].devices.size());
}

int ClusterTreeModel::columnCount(const QModelIndex&) const { return NUM_COLUMNS; }

QVariant ClusterTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  QString name, state;
  if (index.internalId() == kClusterId) {
    name = m_tree.cluster;
    state = m_tree.state;
  } else if (index.internalId() == kNodeId) {
    const Node& node = m_tree.nodes[static_cast<std::size_t>(index.row())];
    name = format::node(node.number);
    state = node.state;
  } else {
    const Node& node = m_tree.nodes[index.internalId() - kFirstDeviceId];
    const Device& device = node.devices[static_cast<std::size_t>(index.row())];
    name = format::device(device.id);
    state = device.state;
  }
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == NameColumn ? name : state;
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole:
      return QString(name + QStringLiteral(", ") + state);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(index.column() == NameColumn
                                     ? Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter)
                                     : Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    default:
      return {};
  }
}

QVariant ClusterTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == NameColumn ? tr("Name") : tr("State");
}

}  // namespace tessera::ui
