// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The Draft: edits on top of Live. Nothing here reaches the cluster.

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::ui {

/// The devices that the shown job would have, and the degrees that the user has fixed. Every edit
/// is one step of the undo stack; undoing all of them gives Live exactly. A new epoch of the job
/// clears the stack; what then still differs from Live stays drafted.
class Draft : public QObject {
  Q_OBJECT

 public:
  /// Degrees that the user fixed; the cluster chooses the others.
  struct Pins {
    std::array<std::optional<std::int64_t>, ptc::kNumAxes> sizes;
    const std::optional<std::int64_t>& operator[](ptc::Axis axis) const {
      return sizes[static_cast<std::size_t>(axis)];
    }
    std::optional<std::int64_t>& operator[](ptc::Axis axis) {
      return sizes[static_cast<std::size_t>(axis)];
    }
    bool none() const;
    friend bool operator==(const Pins&, const Pins&) = default;
  };
  /// Difference from Live.
  struct Edits {
    std::set<ptc::DeviceId> in;
    std::set<ptc::DeviceId> out;
    Pins pins;
    std::optional<engine::StepOptions> options = {};  // where they differ from Live's
    friend bool operator==(const Edits&, const Edits&) = default;
  };

  /// `model` outlives the draft.
  explicit Draft(ClusterModel& model, QObject* parent = nullptr);

  /// Empty where there is no job.
  QString job() const;
  /// Equal to Live.
  bool isEmpty() const { return m_edits == Edits{}; }
  const Edits& edits() const { return m_edits; }
  /// Live's devices that stay, in rank order, then those that join, ascending.
  std::vector<ptc::DeviceId> devices() const;
  std::set<ptc::DeviceId> deviceSet() const;
  std::vector<ptc::DeviceId> added() const { return {m_edits.in.begin(), m_edits.in.end()}; }
  std::vector<ptc::DeviceId> removed() const { return {m_edits.out.begin(), m_edits.out.end()}; }
  bool contains(ptc::DeviceId device) const;

  /// The mesh that the pins ask for: fixed degrees, Live's tensor and pipeline degrees where not
  /// fixed, and as much data parallelism as then fits. Nothing without pins: the cluster chooses.
  std::optional<ptc::MeshShape> mesh() const;
  /// Drafted, else Live's.
  engine::StepOptions options() const;
  /// What to ask the cluster for.
  PlanRequest request() const;

  // Edits. Devices that the cluster does not have or that another job holds are left out; an edit
  // that changes nothing is no step.
  void add(const std::vector<ptc::DeviceId>& devices);
  void remove(const std::vector<ptc::DeviceId>& devices);
  /// Takes those in the draft out and the others in.
  void toggle(const std::vector<ptc::DeviceId>& devices);
  /// Exactly these devices, this mesh and these options (Live's where not given), as one step named
  /// `name`. Repeated choices with the same `mergeId` >= 0 are one step.
  void replace(const std::vector<ptc::DeviceId>& devices, const std::optional<ptc::MeshShape>& mesh,
               const QString& name,
               const std::optional<engine::StepOptions>& options = std::nullopt, int mergeId = -1);
  /// Fixes a degree, or frees it. Repeated changes of one axis are one step.
  void pin(ptc::Axis axis, std::optional<std::int64_t> size);
  /// Repeated changes are one step.
  void setOptions(const engine::StepOptions& options);
  /// Back to Live, as a step that can be undone.
  void discard();
  /// Back to Live for good: the edits are now a transaction of the cluster.
  void clear();

  QUndoStack* undoStack() { return &m_stack; }

 signals:
  /// The edits, or Live under them, changed.
  void changed();

 private:
  class Command;
  void push(Edits next, const QString& name, int mergeId = -1);
  void apply(const Edits& edits);
  void followLive();
  std::optional<engine::StepOptions> unlessLive(const engine::StepOptions& options) const;
  std::vector<ptc::DeviceId> usable(const std::vector<ptc::DeviceId>& devices) const;

  ClusterModel& m_model;
  Edits m_edits;
  QUndoStack m_stack;
  QString m_job;
  std::int64_t m_epoch = -1;
  std::vector<ptc::DeviceId> m_live;
  engine::StepOptions m_liveOptions;
};

}  // namespace tessera::ui
