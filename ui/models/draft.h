// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The draft: local edits on top of the live layout. They are not sent to the cluster.

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

/// The devices that the shown job would have, and the degrees that the user fixed. Every edit is
/// one step of the undo stack; undoing all steps restores the live layout exactly. A new epoch of
/// the job clears the stack; remaining differences from Live stay in the draft.
class Draft : public QObject {
  Q_OBJECT

 public:
  /// The degrees that the user fixed. The cluster chooses the others.
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
  /// The difference from Live.
  struct Edits {
    std::set<ptc::DeviceId> in;
    std::set<ptc::DeviceId> out;
    Pins pins;
    std::optional<engine::StepOptions> options = {};  // if they differ from Live
    /// After a swap: all devices in rank order, and their mesh. Empty: the cluster assigns the
    /// ranks. Edits of the number of devices or of a degree free them again.
    std::vector<ptc::DeviceId> order = {};
    std::optional<ptc::MeshShape> orderMesh = {};
    friend bool operator==(const Edits&, const Edits&) = default;
  };

  /// `model` must outlive the draft.
  explicit Draft(ClusterModel& model, QObject* parent = nullptr);

  /// The name of the job; empty if there is none.
  QString job() const;
  /// Whether the draft equals Live.
  bool isEmpty() const { return m_edits == Edits{}; }
  const Edits& edits() const { return m_edits; }
  /// Returns the devices of Live that stay, in rank order, then joining devices, ascending. After a
  /// swap all of them in rank order.
  std::vector<ptc::DeviceId> devices() const;
  std::set<ptc::DeviceId> deviceSet() const;
  std::vector<ptc::DeviceId> added() const { return {m_edits.in.begin(), m_edits.in.end()}; }
  std::vector<ptc::DeviceId> removed() const { return {m_edits.out.begin(), m_edits.out.end()}; }
  bool contains(ptc::DeviceId device) const;

  /// Returns the mesh given by the pins: fixed degrees, else those of Live, and the largest
  /// data-parallel degree that fits. Nothing without pins: the cluster chooses.
  std::optional<ptc::MeshShape> mesh() const;
  /// The drafted options, else those of Live.
  engine::StepOptions options() const;
  /// The planning request for the draft.
  PlanRequest request() const;

  // Edits. Unknown devices and devices of other jobs are ignored. An edit without effect adds no
  // step.
  void add(const std::vector<ptc::DeviceId>& devices);
  void remove(const std::vector<ptc::DeviceId>& devices);
  /// Removes the devices that are in the draft, adds the others.
  void toggle(const std::vector<ptc::DeviceId>& devices);
  /// Exchanges the places of each of `some` and its counterpart in `others`, as one step. A device
  /// of the draft and one outside of it take each other's side. Pairs outside of it are ignored.
  /// \param plan of the draft, which has the ranks of its devices; may be null
  /// \error kFailedPrecondition while the ranks of an edited draft are not known
  /// \pre some.size() == others.size()
  Status swap(const std::vector<ptc::DeviceId>& some, const std::vector<ptc::DeviceId>& others,
              const engine::PlanSummary* plan);
  /// Sets exactly these devices, mesh and options (default: those of Live) as one step named
  /// `name`. Consecutive calls with the same `mergeId` >= 0 form one step.
  void replace(const std::vector<ptc::DeviceId>& devices, const std::optional<ptc::MeshShape>& mesh,
               const QString& name,
               const std::optional<engine::StepOptions>& options = std::nullopt, int mergeId = -1);
  /// Fixes a degree, or frees it. Consecutive changes of one axis form one step.
  void pin(ptc::Axis axis, std::optional<std::int64_t> size);
  /// Consecutive changes form one step.
  void setOptions(const engine::StepOptions& options);
  /// Returns to Live as a step that can be undone.
  void discard();
  /// Returns to Live and clears the stack, because the edits became a transaction.
  void clear();

  QUndoStack* undoStack() { return &m_stack; }

 signals:
  /// The edits or the live layout changed.
  void changed();

 private:
  class Command;
  void push(Edits next, const QString& name, int mergeId = -1);
  void apply(const Edits& edits);
  void followLive();
  std::optional<engine::StepOptions> unlessLive(const engine::StepOptions& options) const;
  Edits withoutOrder() const;
  std::vector<ptc::DeviceId> usable(const std::vector<ptc::DeviceId>& devices) const;

  ClusterModel& m_model;
  Edits m_edits;
  QUndoStack m_stack;
  QString m_job;
  std::int64_t m_epoch = -1;
  std::int64_t m_origin = 0;
  std::vector<ptc::DeviceId> m_live;
  engine::StepOptions m_liveOptions;
};

}  // namespace tessera::ui
