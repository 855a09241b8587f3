// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What is selected, and what is under the pointer, in all views at once.

#include <QObject>
#include <optional>
#include <set>

#include "ptc/mesh.h"

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

  // Setters emit only if the value differs.
  void setDevices(Devices devices);
  void setHovered(Devices devices);
  void setChange(std::optional<std::int64_t> txn);

 signals:
  void devicesChanged();
  void hoveredChanged();
  void changeChanged();

 private:
  Devices m_devices, m_hovered;
  std::optional<std::int64_t> m_change;
};

}  // namespace tessera::ui
