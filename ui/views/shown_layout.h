// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What every view draws: who holds what, at one moment, with marks. Views draw this and nothing
/// else, so that all of them show the same moment.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"
#include "ui/canvas/device_looks.h"
#include "ui/canvas/mesh_scene.h"
#include "ui/models/job_place.h"

namespace tessera::ui {

/// Live: the agents report it. Draft: Live with the user's edits. Past: an earlier moment, from the
/// history. Lesson: the simulated cluster of a lesson, with its plan.
enum class LayoutSource { Live, Draft, Past, Lesson };

/// The other of two moments that are compared. The earlier one is A.
struct OtherMoment {
  std::shared_ptr<const MeshScene> scene;
  bool isEarlier = true;
  QString title, shownTitle;  // "A 14:01:30, step 402, epoch 2", of each of the two
};

/// A value: cheap to copy, because the parts are shared.
struct ShownLayout {
  LayoutSource source = LayoutSource::Live;
  /// The cluster at that moment. Never null; without nodes before the first snapshot.
  std::shared_ptr<const engine::ClusterSnapshot> cluster;
  std::string job;  // the shown one; empty: none
  /// Devices with coordinates, states and flows, coloured. Never null.
  std::shared_ptr<const MeshScene> scene;
  /// The scene of Live, in the same colours; equal to `scene` if the source is Live.
  std::shared_ptr<const MeshScene> live;
  /// Tensors and settings of the job; null while unknown. They are requested only while a view that
  /// needs them is visible.
  engine::vfs::JobFactsPtr state;
  /// Who holds the state now, and who will hold it after the draft or the running change. Nothing:
  /// unknown, or no change.
  std::optional<JobPlace> now = {}, next = {};
  /// The plan of a draft; null without one.
  std::shared_ptr<const engine::PlanSummary> plan;
  /// The selected transaction of the history. Of Past: the one that is in progress at that moment,
  /// or else the last one before it. Null: none.
  std::shared_ptr<const engine::HistoryEntry> change;
  std::optional<double> time = {};  // of Past, wall clock
  std::optional<OtherMoment> other = {};  // while two moments or changes are compared

  /// The shown job in `cluster`; null: none.
  const engine::JobStatus* jobStatus() const;
  /// Sets `now` and `next` by the other members: from the plan of a draft, or from the transaction
  /// that runs at that moment.
  void placeJob();
};

}  // namespace tessera::ui
