// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tensors that a plan moves over a link. The cluster sends a plan as bytes per pair of
/// devices; the moves follow from the layout of the job, so the panel derives them itself, on a
/// thread.

#include <QObject>
#include <QThreadPool>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"
#include "ptc/box.h"
#include "ptc/plan/outline.h"

namespace tessera::ui {

/// A range of a tensor that one device sends to another.
struct TensorMove {
  int tensor = 0;  // of the job's collection
  ptc::Box box;
  ptc::DeviceId from, to;
  std::int64_t bytes = 0;
};

class PlannedMoves {
 public:
  /// Lists of more moves are not made.
  static constexpr std::size_t kMostMoves = 100'000;

  using Ptr = std::shared_ptr<const PlannedMoves>;
  /// Makes the plan again from the state of the job.
  /// \error kFailedPrecondition if the result does not send the same bytes between the same devices,
  ///     or if the plan reads from snapshots or checkpoints; otherwise as ptc::MakeOutline
  static Result<Ptr> make(const engine::vfs::JobFactsPtr& state, const engine::PlanSummary& plan,
                          const engine::ClusterSnapshot& cluster);

  /// The moves from a device of `from` to a device of `to`, ordered by destination, then by tensor
  /// and box. Nothing if they are more than kMostMoves.
  std::optional<std::vector<TensorMove>> between(const std::set<ptc::DeviceId>& from,
                                                 const std::set<ptc::DeviceId>& to) const;

 private:
  PlannedMoves(engine::vfs::JobFactsPtr state, ptc::Layout next, ptc::Outline outline);

  engine::vfs::JobFactsPtr m_state;
  ptc::Layout m_next;
  ptc::Outline m_outline;
};

/// Lists the moves of one link at a time, on a thread.
class MoveLister : public QObject {
  Q_OBJECT

 public:
  using Moves = std::shared_ptr<const std::vector<TensorMove>>;
  using PlanPtr = std::shared_ptr<const engine::PlanSummary>;

  explicit MoveLister(QObject* parent = nullptr);
  ~MoveLister() override;

  /// Requests the moves between two sets of devices. An equal request is ignored; another one
  /// discards the moves.
  /// \pre nothing is null
  void request(engine::vfs::JobFactsPtr state, PlanPtr plan,
               std::shared_ptr<const engine::ClusterSnapshot> cluster, std::set<ptc::DeviceId> from,
               std::set<ptc::DeviceId> to);
  /// Discards request and moves.
  void clear();
  /// Null while they are being made, and if they cannot be listed.
  const Moves& moves() const { return m_moves; }
  bool isBusy() const { return m_busy; }

 signals:
  /// moves() has changed.
  void listed();

 private:
  std::uint64_t m_layoutHash = 0;
  PlanPtr m_plan;
  std::set<ptc::DeviceId> m_from, m_to;
  std::uint64_t m_generation = 0;
  bool m_busy = false;
  Moves m_moves;
  /// Of `m_plan`; null until it is made, and if it cannot be made again. Used by the thread only.
  struct Made;
  std::shared_ptr<Made> m_made;
  QThreadPool m_pool;
};

}  // namespace tessera::ui
