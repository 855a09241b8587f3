// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a user does with the draft: edits by hand, layouts of earlier changes, apply and discard.
/// In a lesson the edits go to its draft.

#include <QCoreApplication>
#include <QList>
#include <QObject>
#include <functional>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

class QWidget;

namespace tessera::ui {

class ClusterModel;
class Draft;
class DraftPlan;
class LessonSession;
class MoveControl;
class Settings;
enum class LayoutSource;

class DraftDesk : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    ClusterModel& model;
    Draft& draft;
    DraftPlan& plan;
    MoveControl& control;
    LessonSession& lessons;
    const Settings& settings;
  };
  struct Window {
    QWidget* widget;  // over which the apply sheet is shown
    std::function<bool()> isLesson;
    std::function<void(LayoutSource)> setSource;
    std::function<void(const QString&)> say;        // why an edit has no effect, as one sentence
    std::function<void(const QString&)> showError;  // a problem, as one sentence
  };

  /// All parts outlive it.
  DraftDesk(Parts parts, Window window);

  /// That of the lesson while one is shown, else that of the cluster.
  Draft& shown() const;
  /// Why it cannot be edited, as one sentence; empty if it can.
  QString editBlockedReason() const;
  /// \param intoMesh whether the devices join the job or leave it; nothing: each changes sides
  void edit(const QList<ptc::DeviceId>& devices, std::optional<bool> intoMesh);
  /// Exchanges the places of devices, pair by pair.
  void swap(const QList<ptc::DeviceId>& devices, const QList<ptc::DeviceId>& others);
  /// Undoes or redoes the last edit.
  void undo();
  void redo();
  /// The shown job in the mesh "after the drop".
  QString dropHint(const QList<ptc::DeviceId>& devices, bool intoMesh) const;
  /// Drafts the layout before a change.
  void reverse(const engine::HistoryEntry& entry);
  /// \param name of the step of the draft
  void replace(const std::vector<ptc::DeviceId>& devices, const ptc::MeshShape& mesh,
               const engine::StepOptions& options, const QString& name);
  /// Applies the plan, or shows the apply sheet first.
  void requestApply();
  void discard();

 private:
  /// Whether the apply sheet is shown before this plan is applied.
  bool mustConfirm(const engine::PlanSummary& summary) const;
  /// The draft has an edit by hand: it is shown, and live mode may apply it.
  void followEdit();

  Parts m_parts;
  Window m_window;
};

}  // namespace tessera::ui
