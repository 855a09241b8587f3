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
struct ClassHolders {
  std::vector<int> devices;        // by host, and ascending on each
  std::vector<int> hosts;          // ascending
  std::vector<std::size_t> first;  // index into `devices` by index into `hosts`, and the end
  /// The holders on a host, or nullopt if there are none.
  std::optional<std::span<const int>> OnHost(int host) const;
};

/// Lists the holders of a class at the first request for it.
class Holders {
 public:
  Holders(const Kinds& kinds, const Classes& classes, const DeviceTable& table);
  const ClassHolders& Of(int held_class);
  /// \pre the other Of was called for this class before
  const ClassHolders& Of(int held_class) const;

 private:
  void List(const HeldClass& held_class, std::vector<int>& devices) const;

  const Kinds& kinds_;
  const Classes& classes_;
  const DeviceTable& table_;
  /// By list of axes: the devices in the order of (stage, part), and the start of each (stage,
  /// part).
  struct Sorted {
    std::vector<int> devices;
    std::vector<std::size_t> first;
  };
  std::vector<Sorted> by_part_;
  std::vector<std::optional<ClassHolders>> known_;
};

}  // namespace tessera::ptc
