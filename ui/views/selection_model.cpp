// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/selection_model.h"

#include <utility>

namespace tessera::ui {

void SelectionModel::setDevices(Devices devices) {
  if (devices == m_devices) return;
  m_devices = std::move(devices);
  emit devicesChanged();
}

void SelectionModel::setHovered(Devices devices) {
  if (devices == m_hovered) return;
  m_hovered = std::move(devices);
  emit hoveredChanged();
}

void SelectionModel::setChange(std::optional<std::int64_t> txn) {
  if (txn == m_change) return;
  m_change = txn;
  emit changeChanged();
}

void SelectionModel::setAxis(std::optional<ptc::Axis> axis) {
  if (axis == m_axis) return;
  m_axis = axis;
  emit axisChanged();
}

void SelectionModel::setLink(std::optional<ChosenLink> link) {
  if (link == m_link) return;
  m_link = std::move(link);
  emit linkChanged();
}

void SelectionModel::clear() {
  setDevices({});
  setHovered({});
  setChange({});
  setLink({});
}

}  // namespace tessera::ui
