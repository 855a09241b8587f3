// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The devices that hold each class, by host.

#include <optional>
#include <span>
#include <vector>

#include "ptc/plan/device_table.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/needs.h"

namespace tessera::ptc {

/// Devices and hosts are positions in a DeviceTable. If all holders are lost, the lists are empty.
/// Valid as long as the Holders it comes from.
struct ClassHolders {
  std::span<const int> devices;        // by host, and ascending on each
  std::span<const int> hosts;          // ascending
  std::span<const std::size_t> first;  // index into `devices` by index into `hosts`, and the end
  /// The holders on a host, or nullopt if there are none.
  std::optional<std::span<const int>> OnHost(int host) const;
};

/// The holders of all classes. Immutable; any thread may call Of.
class Holders {
 public:
  Holders(const Kinds& kinds, const Classes& classes, const DeviceTable& table);
  ClassHolders Of(int held_class) const;
  std::size_t num_classes() const { return device_begin_.size() - 1; }

 private:
  std::vector<int> devices_, hosts_;  // of all classes, one after another
  std::vector<std::size_t> first_;    // ClassHolders::first of all classes, one after another
  std::vector<std::size_t> device_begin_, host_begin_;  // by class, and the end
};

}  // namespace tessera::ptc
