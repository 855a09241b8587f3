// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The right pane in Live: what the selected GPU holds and does.

#include <set>

#include "ui/models/cluster_model.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

class QLabel;

namespace tessera::ui {

class FlowBars;

class Inspector : public Surface {
  Q_OBJECT

 public:
  explicit Inspector(ClusterModel& model, QWidget* parent = nullptr);
  /// One GPU, several, or none: then the cluster.
  void setSelection(const std::set<ptc::DeviceId>& devices);
  void refresh();
  QString title() const;
  KeyValues* facts() const { return m_facts; }

 private:
  std::vector<KeyValues::Row> deviceRows(ptc::DeviceId device) const;
  std::vector<KeyValues::Row> selectionRows() const;
  std::vector<KeyValues::Row> clusterRows() const;

  ClusterModel& m_model;
  std::set<ptc::DeviceId> m_selection;
  QLabel* m_title;
  KeyValues* m_facts;
  QWidget* m_flowGroup;
  FlowBars* m_flows;
  KeyValues* m_moveFacts;
  QLabel* m_hint;
};

}  // namespace tessera::ui
