// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Rows of "n0g0 → n1g0", a bar, and a rate or the bytes.

#include <QWidget>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

class FlowBars : public QWidget {
  Q_OBJECT

 public:
  explicit FlowBars(QWidget* parent = nullptr);
  /// Draws at most `kMaxRows`, in the given order, and the number of the others.
  void setFlows(std::vector<engine::FlowStatus> flows);
  /// Shows the total bytes of each pair; the largest fills its bar.
  void setBytes(std::vector<engine::FlowStatus> flows);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

  static constexpr int kMaxRows = 8;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void set(std::vector<engine::FlowStatus> flows, bool showBytes);
  double fraction(const engine::FlowStatus& flow) const;

  std::vector<engine::FlowStatus> m_flows;
  bool m_showBytes = false;
  std::int64_t m_largest = 0;
};

}  // namespace tessera::ui
