// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The phases of a transaction as one bar, divided by seconds, with a legend below. Phases that
/// pause the job are drawn strong, the others pale.

#include <QWidget>
#include <vector>

#include "ui/models/change_view.h"

namespace tessera::ui {

class PhaseTimesBar : public QWidget {
  Q_OBJECT

 public:
  explicit PhaseTimesBar(QWidget* parent = nullptr);
  /// The accessible name lists the phases.
  void setPhases(std::vector<PhaseTime> phases);
  const std::vector<PhaseTime>& phases() const { return m_phases; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<PhaseTime> m_phases;
};

}  // namespace tessera::ui
