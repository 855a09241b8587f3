// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The dialog that starts a job: a few questions, the configurations that the cluster proposes,
/// what a GPU will hold, and the same as a command.

#include <optional>
#include <utility>
#include <vector>

#include "ui/dialogs/dialog.h"
#include "ui/dialogs/start_questions.h"
#include "ui/models/candidate_table_model.h"
#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"
#include "ui/models/start_form.h"
#include "ui/models/start_proposal.h"

class QLabel;
class QPushButton;
class QTableView;

namespace tessera::ui {

class CopyLine;
class NoticeBar;
class StackedBar;

/// It hides itself as soon as the cluster has the job, and is accepted once the job trains. If the
/// start fails before or after that, it shows the error beside everything that was entered.
class StartJobDialog : public Dialog {
  Q_OBJECT

 public:
  /// All outlive the dialog.
  /// \param cluster name of the cluster on the command line
  StartJobDialog(ClusterModel& model, MoveControl& control, ClusterCommands& commands,
                 const QString& cluster, QWidget* parent = nullptr);

  /// Fills in the name and, of a built-in model, model, batch and number of steps.
  void suggest(const engine::JobStatus& job);

  SegmentedSwitch* programs() const { return m_questions->programs(); }
  /// The field of a key of StartForm, of "model" or of "kind".
  LabelledField* field(const QString& key) const { return m_questions->field(key); }
  DeviceChips* chips() const { return m_questions->chips(); }
  QTableView* candidateTable() const { return m_table; }
  const CandidateTableModel& candidates() const { return m_candidates; }
  QToolButton* moreButton() const { return m_questions->moreButton(); }
  /// Looks into a script.
  QPushButton* describeButton() const { return m_describe; }
  StackedBar* memoryBar() const { return m_bar; }
  CopyLine* command() const { return m_command; }
  QPushButton* startButton() const { return m_start; }
  NoticeBar* errorBar() const { return m_error; }
  /// Why the button is disabled, as one sentence; empty if it is not.
  QString blockedReason() const;
  QString whyText() const;
  /// What would be sent.
  StartRequest request() const;
  /// Waits for the answer of the cluster to the start.
  bool isStarting() const { return m_isStarting; }

 public slots:
  void reject() override;

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* makeAnswers();
  QLayout* makeBottom();
  void showProgram();
  void showMore(bool on);
  void follow();
  /// Reads the form and the cluster again.
  void refresh();
  void refreshProposal();
  void refreshMemory();
  void refreshBottom();
  void markChosen();
  const engine::Candidate* chosen() const;
  /// Null unless the program must be run to know what it has.
  const StartRequest::Script* script() const;
  bool isUnknown() const;
  void start();
  void onAnswer(const Result<void>& result);

  /// What matters of a cluster.
  struct Seen {
    LinkState link = LinkState::None;
    std::vector<ptc::DeviceId> idle;
    std::vector<std::string> jobs;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  ClusterModel& m_model;
  MoveControl& m_control;
  StartProposal m_proposal;
  const QString m_cluster;
  Seen m_seen;
  StartCheck m_check;
  std::optional<StartRequest::Script> m_described;
  /// What the user has chosen himself; else the recommended one counts.
  std::optional<std::pair<ptc::MeshShape, engine::StepOptions>> m_wanted;
  bool m_isMarking = false;
  bool m_isStarting = false;

  StartQuestions* m_questions;
  CandidateTableModel m_candidates;
  QTableView* m_table;
  QPushButton* m_describe;
  QLabel *m_estimates, *m_why, *m_holds, *m_fit;
  StackedBar* m_bar;
  NoticeBar* m_error;
  QLabel* m_reason;
  CopyLine* m_command;
  QPushButton *m_cancel, *m_start;
};

}  // namespace tessera::ui
