// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tree of the navigator: the cluster, its nodes and their devices, each with its state.

#include <QAbstractItemModel>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/draft.h"

namespace tessera::ui {

class ClusterTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Columns { NameColumn, StateColumn, NUM_COLUMNS };

  explicit ClusterTreeModel(QObject* parent = nullptr);

  /// Keeps the rows if nodes and devices are the same; otherwise resets the model. With `draft`,
  /// which may be null, the states show the effect of the draft on each device.
  void setSnapshot(const engine::ClusterSnapshot& snapshot, const Draft* draft);

  std::optional<ptc::DeviceId> device(const QModelIndex& index) const;
  std::optional<std::int32_t> node(const QModelIndex& index) const;
  QModelIndex indexOf(ptc::DeviceId device) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  struct Device {
    ptc::DeviceId id;
    QString state;
    friend bool operator==(const Device&, const Device&) = default;
  };
  struct Node {
    std::int32_t number = 0;
    QString state;
    std::vector<Device> devices;
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct Tree {
    QString cluster;
    QString state;
    std::vector<Node> nodes;
    friend bool operator==(const Tree&, const Tree&) = default;
  };
  static Tree makeTree(const engine::ClusterSnapshot& snapshot, const Draft* draft);
  static bool sameRows(const Tree& a, const Tree& b);

  Tree m_tree;
  bool m_empty = true;
};

}  // namespace tessera::ui
