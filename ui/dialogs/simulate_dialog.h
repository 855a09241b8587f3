// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Asks for the size and the hardware of a simulated cluster.

#include <QList>
#include <utility>

#include "engine/cluster/simulated_limits.h"
#include "ui/connections.h"
#include "ui/dialogs/dialog.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace tessera::ui {

class SimulateDialog : public Dialog {
  Q_OBJECT

 public:
  using Hardware = QList<std::pair<QString, QString>>;  // name, description
  explicit SimulateDialog(const Hardware& hardware, QWidget* parent = nullptr);

  static constexpr int kMostGpus = engine::kMostSimulatedDevices;
  SimulationChoice choice() const;
  void setChoice(const SimulationChoice& choice);
  /// Why it cannot be started; empty if it can.
  QString problem() const;
  QPushButton* startButton() const { return m_start; }

 signals:
  void startRequested(const SimulationChoice& choice);

 private:
  void refresh();

  QSpinBox *m_nodes, *m_gpus;
  QComboBox* m_hardware;
  QLabel* m_effect;
  QPushButton* m_start;
};

}  // namespace tessera::ui
