// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What is selected, and what is under the pointer, in all views at once.

#include <QObject>
#include <cstdint>
#include <optional>
#include <set>

#include "ptc/mesh.h"
#include "ui/views/chosen_link.h"

namespace tessera::ui {

using Devices = std::set<ptc::DeviceId>;

class SelectionModel : public QObject {
  Q_OBJECT

 public:
  explicit SelectionModel(QObject* parent = nullptr) : QObject(parent) {}

  const Devices& devices() const { return m_devices; }
  /// The devices under the pointer, or those that hold the shard under it; empty: none.
  const Devices& hovered() const { return m_hovered; }
  /// The selected transaction of the history.
  std::optional<std::int64_t> change() const { return m_change; }
  /// The axis along which communication groups are lit up; nothing: none are.
  std::optional<ptc::Axis> axis() const { return m_axis; }
  /// The link chosen in the Links view.
  const std::optional<ChosenLink>& link() const { return m_link; }

  // Setters emit only if the value differs.
  void setDevices(Devices devices);
  void setHovered(Devices devices);
  void setChange(std::optional<std::int64_t> txn);
  void setLink(std::optional<ChosenLink> link);
  void setAxis(std::optional<ptc::Axis> axis);
  /// Nothing is selected or hovered: what was belongs to another cluster.
  void clear();

 signals:
  void devicesChanged();
  void hoveredChanged();
  void changeChanged();
  void linkChanged();
  void axisChanged();

 private:
  Devices m_devices, m_hovered;
  std::optional<std::int64_t> m_change;
  std::optional<ChosenLink> m_link;
  std::optional<ptc::Axis> m_axis;
};

}  // namespace tessera::ui
