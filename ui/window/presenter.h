// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which moment the window shows: the source, the moment of the past, the comparison. It makes the
/// ShownLayout that all views draw.

#include <QCoreApplication>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ui/models/change_diff.h"
#include "ui/models/cluster_model.h"
#include "ui/models/moment_diff.h"
#include "ui/models/node_states.h"
#include "ui/models/past_cluster.h"
#include "ui/views/shown_layout.h"

namespace tessera::ui {

class Draft;
class DraftPlan;
class HistoryTableModel;
class JobStates;
class LessonSession;
class SampleHistory;

/// How the scenes are drawn.
struct SceneLooks {
  ColourBy colouring = ColourBy::Piece;
  GroupBy grouping = GroupBy::Node;
  std::optional<int> isolated = {};  // swatch
};

/// A moment of the source Past.
struct ShownMoment {
  double time = 0;  // wall clock of the cluster
  std::shared_ptr<const engine::ClusterSnapshot> cluster;
  std::shared_ptr<const engine::HistoryEntry> change;  // in progress, or the last one, or null
};

/// Two changes of the shown job, compared in the source Live.
struct ComparedChanges {
  ChangeDiff diff;
  std::shared_ptr<const engine::ClusterSnapshot> cluster;  // as the later one left it
  std::shared_ptr<const engine::ClusterSnapshot> earlier;  // as the earlier one left it
};

class Presenter {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  using TwoChanges = std::pair<const engine::HistoryEntry*, const engine::HistoryEntry*>;
  struct Parts {
    const ClusterModel& model;
    const Draft& draft;
    const DraftPlan& plan;
    const JobStates& states;
    const LessonSession& lessons;
    const SampleHistory& samples;      // of the shown job
    const HistoryTableModel& changes;  // of the cluster
    // What the user chose; null or nothing: none.
    std::function<const engine::HistoryEntry*()> chosen;
    std::function<std::optional<TwoChanges>()> compared;
    std::function<std::optional<double>()> playhead;
  };

  /// All parts outlive it.
  explicit Presenter(Parts parts) : m_parts(std::move(parts)) {}

  LayoutSource source() const { return m_source; }
  /// Forgets the moment unless the source is Past.
  /// \pre Past: there is a moment; Lesson: one is open
  void setSource(LayoutSource source);
  bool isLive() const { return m_source == LayoutSource::Live; }
  bool isDraft() const { return m_source == LayoutSource::Draft; }
  bool isPast() const { return m_source == LayoutSource::Past && m_moment.has_value(); }
  bool isLesson() const { return m_source == LayoutSource::Lesson; }

  /// Also before the source is Past.
  const std::optional<ShownMoment>& moment() const { return m_moment; }
  /// Why the past cannot be shown, as one sentence; empty if it can.
  QString pastBlockedReason() const;
  /// The playhead, else the last change of the job, else its newest sample.
  std::optional<double> usualMoment() const;
  /// Sets the moment, from the present cluster and history.
  /// \return false: the history does not contain this time, nothing was changed
  bool chooseMoment(double time);

  /// The cluster of the present, of the moment, or of the lesson.
  const ClusterModel& shownModel() const;
  const ClusterModel& pastModel() const { return m_pastModel; }

  /// The history was read again.
  void indexChanges();
  /// Notes the states of nodes in these events.
  /// \return whether there were new ones
  bool noteStates(const std::vector<engine::Event>& told) { return m_nodeStates.add(told); }
  /// Another cluster is shown.
  void forgetCluster();

  /// The moment with which the shown one is compared; nothing: none is.
  const std::optional<MomentSide>& pinned() const { return m_pinned; }
  /// Why no moment can be compared, as one sentence; empty if one can.
  QString compareBlockedReason() const;
  /// Keeps the moment shown for a comparison, or ends that.
  void setPinned(bool pins);
  /// The difference to the pinned moment; nothing without one, or while a change of the history or
  /// another job is shown.
  std::optional<MomentDiff> comparedMoments() const;
  /// Null: not two changes of the shown job are compared. Made once for each snapshot.
  const ComparedChanges* comparedChanges() const;

  /// What the views show.
  ShownLayout layout(const SceneLooks& looks) const;

 private:
  using Scene = std::shared_ptr<const MeshScene>;

  /// The moment shown, or the present, as a side of a comparison.
  std::optional<MomentSide> shownSide() const;
  ShownLayout lessonLayout(const SceneLooks& looks) const;
  Scene sceneOf(const engine::ClusterSnapshot& cluster, LayoutSource of,
                const SceneLooks& looks) const;
  /// Adds the other of two moments, and marks where the later one differs.
  /// \param other the cluster at the moment that is not shown yet
  void placeBeside(ShownLayout* layout, const engine::ClusterSnapshot& other, const PlaceDiff& diff,
                   bool isEarlier, const SceneLooks& looks) const;
  void compareMoments(ShownLayout* layout, const SceneLooks& looks) const;
  void compareChanges(ShownLayout* layout, const ComparedChanges& compared,
                      const SceneLooks& looks) const;

  Parts m_parts;
  LayoutSource m_source = LayoutSource::Live;
  std::optional<ShownMoment> m_moment;
  std::optional<MomentSide> m_pinned;
  std::shared_ptr<const engine::ClusterSnapshot> m_pinnedCluster;  // null: none is pinned
  ChangeIndex m_changes;
  NodeStates m_nodeStates;
  ClusterModel m_pastModel;  // of `m_moment`, for panes that show a model
  // The last comparison of changes, and what it was made from besides them.
  mutable std::optional<ComparedChanges> m_compared;
  mutable std::shared_ptr<const engine::ClusterSnapshot> m_comparedIn;
};

}  // namespace tessera::ui
