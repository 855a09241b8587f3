// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// GPUs as buttons that are in or out, grouped by node.

#include <QWidget>
#include <vector>

#include "engine/cluster/snapshot.h"

class QGridLayout;
class QPushButton;

namespace tessera::ui {

class DeviceChips : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMostChips = 64;  // a list of names is clearer for more

  explicit DeviceChips(QWidget* parent = nullptr);
  /// Shows the GPUs of the cluster; those that are not idle cannot be chosen. Nothing is shown for
  /// more than kMostChips.
  void setCluster(const engine::ClusterSnapshot& cluster);
  /// Does not emit edited().
  void setChosen(const std::vector<ptc::DeviceId>& devices);
  /// In the order of the nodes.
  std::vector<ptc::DeviceId> chosen() const;
  QPushButton* chip(ptc::DeviceId device) const;

 signals:
  void edited();

 private:
  struct Chip {
    ptc::DeviceId device;
    QString user;  // the job on it; empty: none
    bool isIdle = true;
    QPushButton* button = nullptr;
  };
  void build(std::vector<Chip> chips);

  std::vector<Chip> m_chips;
  QGridLayout* m_grid;
};

}  // namespace tessera::ui
