// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The confirmation before a change: what moves, how many bytes, how long, and whether it can be
/// rolled back.

#include "ui/dialogs/dialog.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft_plan.h"
#include "ui/models/move_control.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace tessera::ui {

class KeyValues;

/// Cancel has the focus at first, so that Enter does not apply. The sheet closes when its plan is
/// no longer the one that would be applied.
class ApplySheet : public Dialog {
  Q_OBJECT

 public:
  /// \pre `plan` has a summary
  ApplySheet(const ClusterModel& model, const DraftPlan& plan, MoveControl& control,
             QWidget* parent);

  QPushButton* applyButton() const { return m_apply; }
  QPushButton* cancelButton() const { return m_cancel; }
  KeyValues* facts() const { return m_facts; }
  /// Shown while the change cannot be recorded. Apply then requires that it is checked.
  QCheckBox* unrecordedBox() const { return m_unrecorded; }
  bool isUnrecordedAllowed() const;
  /// Asks for the name of the job before a change in rounds; else hidden.
  QLineEdit* nameField() const { return m_name; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void follow();
  void refreshRecord();

  const DraftPlan& m_plan;
  MoveControl& m_control;
  std::string m_hash;
  QString m_job;
  KeyValues* m_facts;
  QLabel* m_unrecordedReason;
  QCheckBox* m_unrecorded;
  QLabel* m_noWayBack;
  QLineEdit* m_name;
  QPushButton* m_cancel;
  QPushButton* m_apply;
};

}  // namespace tessera::ui
