// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The left side of the dialog that starts a job: what the user enters.

#include <QList>
#include <QWidget>
#include <map>
#include <vector>

#include "engine/cluster/checkpoint_status.h"
#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/start_form.h"

class QBoxLayout;
class QToolButton;
class QVBoxLayout;

namespace tessera::ui {

class DeviceChips;
class LabelledField;
class SegmentedSwitch;

/// Shows only the fields of the chosen program. It knows neither the proposal nor whether the
/// values are right: showCheck() says that.
class StartQuestions : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kWidth = 448;
  /// Segments of programs().
  enum Segment { BuiltIn, Own, Stored };

  /// Both outlive it.
  StartQuestions(const ClusterModel& model, ClusterCommands& commands, QWidget* parent = nullptr);

  /// Has no place in the layout of this widget: the dialog puts it above.
  SegmentedSwitch* programs() const { return m_programs; }
  /// The field of a key of StartForm, of kModel or kKind.
  LabelledField* field(const QString& key) const { return m_fields.at(key); }
  DeviceChips* chips() const { return m_chips; }
  QToolButton* moreButton() const { return m_more; }

  static constexpr QLatin1String kModel{"model"};
  static constexpr QLatin1String kKind{"kind"};

  StartForm form() const;
  /// Shows the result of the check beside the fields.
  void showCheck(const StartCheck& check);

 signals:
  void edited();
  /// Other fields are shown.
  void programChosen();
  /// More or fewer settings are shown.
  void moreToggled(bool on);

 private:
  using Program = StartForm::Program;

  LabelledField* addField(const QString& key, const QString& label, QWidget* parent);
  void makeRows(QVBoxLayout* column);
  void makeProgramRows();
  void makeUsualRows(QVBoxLayout* column);
  /// Begins a row, shown for these programs.
  void newRow(const QList<Program>& programs);
  /// Adds a field to the row: `parts` of `of` equal ones. Shown for `programs`; none: with its row.
  LabelledField* place(const QString& key, const QString& label, int parts, int of,
                       const QList<Program>& programs = {});
  void addBrowseButton(LabelledField* field, const QString& name, bool isFolder);
  void addMoreFields(QWidget* parent);
  Program program() const;
  void showProgram();
  void showModels();
  void showModel();
  void browse(LabelledField* field, bool isFolder);
  void askForCheckpoints();
  void showCheckpoints();
  /// Null if the cluster has not saved it.
  const engine::CheckpointEntry* chosenCheckpoint() const;

  const ClusterModel& m_model;
  ClusterCommands& m_commands;
  QString m_shownModel;                                // whose defaults the fields have
  std::vector<engine::CheckpointEntry> m_checkpoints;  // that the cluster has saved, newest first
  bool m_hasAsked = false;                             // for them

  SegmentedSwitch* m_programs;
  std::map<QString, LabelledField*> m_fields;
  DeviceChips* m_chips;
  QToolButton* m_more;
  QWidget* m_moreFields;
  QVBoxLayout* m_column = nullptr;
  QBoxLayout* m_row = nullptr;  // the newest
  QWidget* m_checkpointRow = nullptr;
  int m_checkpointPlace = 0;  // of that row for a program of the user
  std::vector<std::pair<QWidget*, QList<Program>>> m_shownFor;
};

}  // namespace tessera::ui
