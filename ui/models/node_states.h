// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The states of the nodes over time, as the events of the history tell them.

#include <cstdint>
#include <map>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

class NodeStates {
 public:
  struct Moment {
    double time = 0;  // wall clock, seconds since 1970
    std::int64_t sequence = 0;
    engine::NodeNote note;
  };

  void clear() { m_moments.clear(); }
  /// Adds the notes of these events, in any order; known ones are left out.
  /// \return whether there were others
  bool add(const std::vector<engine::Event>& events);
  /// Returns the last note of the node at or before this time; null if there is none: its state is
  /// not known. O(log n).
  const Moment* at(std::int32_t node, double time) const;
  /// The nodes with notes, each with these in the order of time.
  const std::map<std::int32_t, std::vector<Moment>>& nodes() const { return m_moments; }

 private:
  std::map<std::int32_t, std::vector<Moment>> m_moments;
};

}  // namespace tessera::ui
