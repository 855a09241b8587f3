// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/simulate_dialog.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

SimulateDialog::SimulateDialog(const Hardware& hardware, QWidget* parent)
    : Dialog(parent),
      m_nodes(new QSpinBox(this)),
      m_gpus(new QSpinBox(this)),
      m_hardware(new QComboBox(this)),
      m_effect(new QLabel(this)),
      m_start(new QPushButton(tr("Simulate"), this)) {
  setWindowTitle(tr("Simulate a Cluster"));
  auto* what = new QLabel(tr("One process plays all nodes: the real registrar and agents, with "
                             "modelled GPUs and links. Nothing is trained, and no GPU is needed."),
                          this);
  what->setWordWrap(true);
  setRole(what, QStringLiteral("hint"));

  constexpr int kMostGpusOfNode = engine::kMostSimulatedDevicesOfNode;
  m_nodes->setRange(1, kMostGpus);
  m_gpus->setRange(1, kMostGpusOfNode);
  m_nodes->setAccessibleName(tr("Nodes"));
  m_gpus->setAccessibleName(tr("GPUs per node"));
  m_hardware->setAccessibleName(tr("Hardware"));
  for (const auto& [name, title] : hardware) {
    m_hardware->addItem(QStringLiteral("%1: %2").arg(name, title), name);
  }
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  int row = 0;
  const auto add = [&](const QString& text, QWidget* field) {
    auto* label = new QLabel(text, this);
    label->setBuddy(field);
    grid->addWidget(label, row, 0);
    grid->addWidget(field, row++, 1);
  };
  add(tr("&Nodes"), m_nodes);
  add(tr("&GPUs per node"), m_gpus);
  add(tr("&Hardware"), m_hardware);
  grid->setColumnStretch(1, 1);
  m_effect->setWordWrap(true);

  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAccessibleName(tr("Cancel"));
  m_start->setAccessibleName(tr("Start the simulated cluster"));
  m_start->setDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(m_start);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 20, 16);
  column->setSpacing(14);
  column->addWidget(what);
  column->addLayout(grid);
  column->addWidget(m_effect);
  column->addStretch();
  column->addLayout(buttons);
  constexpr int kWidth = 460;
  setMinimumWidth(kWidth);

  connect(m_nodes, &QSpinBox::valueChanged, this, &SimulateDialog::refresh);
  connect(m_gpus, &QSpinBox::valueChanged, this, &SimulateDialog::refresh);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_start, &QPushButton::clicked, this, [this] {
    emit startRequested(choice());
    accept();
  });
  setChoice({2, 4, hardware.isEmpty() ? QString() : hardware.front().first});
}

SimulationChoice SimulateDialog::choice() const {
  return {m_nodes->value(), m_gpus->value(), m_hardware->currentData().toString()};
}

void SimulateDialog::setChoice(const SimulationChoice& choice) {
  m_nodes->setValue(choice.nodes);
  m_gpus->setValue(choice.gpus);
  m_hardware->setCurrentIndex(std::max(0, m_hardware->findData(choice.hardware)));
  refresh();
}

QString SimulateDialog::problem() const {
  const int gpus = m_nodes->value() * m_gpus->value();
  if (gpus <= kMostGpus) return {};
  return tr("%1 GPUs: at most %2 are simulated.")
      .arg(format::count(gpus), format::count(kMostGpus));
}

void SimulateDialog::refresh() {
  const QString wrong = problem();
  const int gpus = m_nodes->value() * m_gpus->value();
  m_effect->setText(
      !wrong.isEmpty()
          ? wrong
          : tr("%n GPU(s); half of the nodes begin with a job that trains.", nullptr, gpus));
  setRole(m_effect, wrong.isEmpty() ? QStringLiteral("hint") : QStringLiteral("problem"));
  m_start->setEnabled(wrong.isEmpty());
  m_start->setToolTip(wrong);
}

}  // namespace tessera::ui
