// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/device_chips.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kChipGap = 4, kNodeGap = 14;
constexpr int kColumnsOfGroup = 10;  // the name, the chips, and the gap to the next group
constexpr int kMostOfTwoGroups = 4;  // GPUs of a node, so that two nodes share a row
constexpr int kMostOfRow = 8;

}  // namespace

DeviceChips::DeviceChips(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(kChipGap);
  m_grid->setVerticalSpacing(kChipGap);
}

void DeviceChips::setCluster(const engine::ClusterSnapshot& cluster) {
  std::vector<Chip> chips;
  for (const engine::NodeStatus& node : cluster.nodes)
    for (const engine::DeviceStatus& device : node.devices)
      chips.push_back({device.id, QString::fromStdString(device.job),
                       node.state == engine::NodeState::kAlive && device.job.empty() &&
                           !device.joining && !device.failed});
  if (chips.size() > kMostChips) chips.clear();
  const auto same = [](const Chip& a, const Chip& b) {
    return a.device == b.device && a.user == b.user && a.isIdle == b.isIdle;
  };
  if (std::ranges::equal(chips, m_chips, same)) return;
  const std::vector<ptc::DeviceId> before = chosen();
  build(std::move(chips));
  setChosen(before);
}

void DeviceChips::build(std::vector<Chip> chips) {
  while (QLayoutItem* item = m_grid->takeAt(0)) {
    if (item->widget() != nullptr) item->widget()->deleteLater();
    delete item;
  }
  std::map<std::int32_t, int> counts;
  for (const Chip& chip : chips) ++counts[chip.device.node];
  const bool isWide =
      std::ranges::any_of(counts, [](const auto& node) { return node.second > kMostOfTwoGroups; });
  const int groups = isWide ? 1 : 2;
  int row = -1, group = groups - 1, column = 0;
  std::optional<std::int32_t> node;
  for (Chip& chip : chips) {
    if (node != chip.device.node) {
      node = chip.device.node;
      group = (group + 1) % groups;
      if (group == 0) ++row;
      column = 0;
      auto* name = new QLabel(format::node(*node), this);
      name->setFont(uiFont(12, QFont::DemiBold));
      m_grid->addWidget(name, row, group * kColumnsOfGroup);
    } else if (++column == kMostOfRow) {
      column = 0;
      ++row;
    }
    chip.button = new QPushButton(QStringLiteral("g%1").arg(chip.device.index), this);
    chip.button->setStyleSheet(
        QStringLiteral("QPushButton { padding: 0px 4px; min-height: 22px; }"));
    chip.button->setCheckable(true);
    chip.button->setFixedWidth(40);
    chip.button->setEnabled(chip.isIdle);
    chip.button->setAccessibleName(format::device(chip.device));
    chip.button->setToolTip(
        chip.isIdle           ? tr("%1 is idle").arg(format::device(chip.device))
        : chip.user.isEmpty() ? tr("%1 cannot be used now").arg(format::device(chip.device))
                              : tr("%1 is used by %2").arg(format::device(chip.device), chip.user));
    m_grid->addWidget(chip.button, row, group * kColumnsOfGroup + 1 + column);
    connect(chip.button, &QPushButton::clicked, this, &DeviceChips::edited);
  }
  if (!isWide) m_grid->setColumnMinimumWidth(kColumnsOfGroup - 1, kNodeGap);
  m_grid->setColumnStretch(2 * kColumnsOfGroup, 1);
  m_chips = std::move(chips);
  setVisible(!m_chips.empty());
}

void DeviceChips::setChosen(const std::vector<ptc::DeviceId>& devices) {
  for (const Chip& chip : m_chips)
    chip.button->setChecked(chip.isIdle &&
                            std::ranges::find(devices, chip.device) != devices.end());
}

std::vector<ptc::DeviceId> DeviceChips::chosen() const {
  std::vector<ptc::DeviceId> devices;
  for (const Chip& chip : m_chips)
    if (chip.button->isChecked()) devices.push_back(chip.device);
  return devices;
}

QPushButton* DeviceChips::chip(ptc::DeviceId device) const {
  const auto found = std::ranges::find(m_chips, device, &Chip::device);
  return found == m_chips.end() ? nullptr : found->button;
}

}  // namespace tessera::ui
