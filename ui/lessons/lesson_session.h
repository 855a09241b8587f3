// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The open lesson: its step, the draft of the student, the answers. All plans are made here, from
/// the simulated cluster of the lesson; a session knows no real cluster and sends nothing.

#include <QElapsedTimer>
#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/lesson/lesson_stage.h"
#include "engine/vfs/job_facts.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"

namespace tessera::ui {

class LessonRecords;

class LessonSession : public QObject {
  Q_OBJECT

 public:
  static constexpr int kMoveMs = 600;

  /// `records` must outlive the session.
  explicit LessonSession(LessonRecords& records, QObject* parent = nullptr);

  /// Opens a lesson of the program by its name, or a file: text with a '/' or the ending ".json" is
  /// a path. A file and its translation are watched and read again when they are saved. The lesson
  /// stays open from then on, also while another source is shown, and if a later one is wrong.
  /// \error as engine::ReadLesson, engine::TranslateLesson, engine::LessonStage::Make and
  ///     engine::RehearseLesson
  Status open(const QString& nameOrFile, int step = 0);
  bool isOpen() const { return m_stage.has_value(); }
  /// Whether transfers are shown in motion, for kMoveMs.
  void setAnimated(bool animated) { m_animated = animated; }

  // Of the open lesson.
  /// \pre isOpen(), as for all below
  const engine::Lesson& lesson() const { return m_stage->lesson(); }
  QString name() const { return QString::fromStdString(lesson().name); }
  int step() const { return m_step; }
  int numSteps() const { return static_cast<int>(m_stage->num_steps()); }
  const engine::LessonStep& script() const { return lesson().steps[index()]; }
  const engine::LessonState& state() const { return m_stage->StateAt(index()); }
  /// Why the file on disk is not the lesson shown: it was saved with a mistake. Empty otherwise.
  const QString& fileProblem() const { return m_fileProblem; }

  /// Shows a step. Its draft and its motion begin again.
  void showStep(int step);
  /// Why the next step cannot be shown yet, as one sentence; empty if it can.
  QString nextBlockedReason() const;
  void next();
  void back() { showStep(m_step - 1); }
  /// Shows the step as if for the first time: without the draft and the answer of the student.
  void startOver();

  // What the views show.
  const ClusterModel& model() const { return m_model; }
  ClusterModel& model() { return m_model; }
  /// The devices that the job would have, while a plan is shown.
  std::optional<std::set<ptc::DeviceId>> draftDevices() const;
  /// The plan of the student's draft, else of the step; null if there is none.
  std::shared_ptr<const engine::PlanSummary> planSummary() const;
  const engine::vfs::JobFactsPtr& facts() const { return m_facts; }

  // The draft of the student. Any step can be drafted on, but not while its question is open,
  // because the plan would tell the answer.
  bool canEdit() const {
    return isOpen() && !isMoving() && (!script().predict.has_value() || given().has_value());
  }
  /// Why not, as one sentence; empty if it can be.
  QString editBlockedReason() const;
  Draft& draft() { return m_draft; }
  /// As MainWindow does for the draft of Live.
  void edit(const std::vector<ptc::DeviceId>& devices, std::optional<bool> intoMesh);
  /// \error as Draft::swap
  Status swap(const std::vector<ptc::DeviceId>& some, const std::vector<ptc::DeviceId>& others);
  /// The mesh and the options that the controls show: of the draft, else of its plan, else of now.
  ptc::MeshShape drawnMesh() const;
  engine::StepOptions drawnOptions() const;
  /// Why the draft cannot be planned; empty if it can, or is empty.
  const QString& draftProblem() const { return m_draftProblem; }
  std::vector<engine::LessonCheck> checks() const;
  bool isTaskDone() const;

  // The question of the step.
  struct Given {
    std::optional<int> choice = {};
    double number = 0;  // in the unit of the answer, if `choice` is not set
    bool right = false;
  };
  std::optional<Given> given() const;
  /// The true answer, with the values of the choices.
  /// \pre the step has a question
  engine::LessonAnswer answer() const;
  void choose(int choice);
  void enter(double number);

  /// The text with its values, and with links for GPUs and nodes ("gpu:n0g0", "node:n1").
  /// \param ofAnswer whether the values are those after the answer
  QString filled(const std::string& text, bool ofAnswer = false) const;
  static QString print(const engine::LessonValue& value);

 signals:
  /// A step is shown from its start.
  void stepShown();
  /// Anything above changed.
  void changed();

 private:
  std::size_t index() const { return static_cast<std::size_t>(m_step); }
  bool isMoving() const { return m_moving.isActive(); }
  void adopt(engine::LessonStage stage, int step);
  void watch();
  void reload();
  /// Gives the cluster of the step to the model, with the transfer in progress if one is shown.
  void publish();
  void replan();
  engine::LessonChange drafted() const;
  void remember(Given given);
  /// Records that the lesson is finished, if the last step has nothing more to do.
  void noteFinish();

  LessonRecords& m_records;
  std::optional<engine::LessonStage> m_stage;
  int m_step = 0;
  bool m_animated = true;
  QString m_source;  // as given to open()
  QString m_fileProblem;
  QFileSystemWatcher m_watcher;
  QTimer m_reloading;
  ClusterModel m_model;
  Draft m_draft;
  std::shared_ptr<const engine::LessonPlanned> m_plan;  // of the draft
  QString m_draftProblem;
  engine::vfs::JobFactsPtr m_facts;
  std::map<int, Given> m_given;  // by step
  QTimer m_moving;
  QElapsedTimer m_since;
};

}  // namespace tessera::ui
