// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Asks for the folder on which the state of the jobs is shown as files.

#include "ui/dialogs/dialog.h"

class QCheckBox;
class QPushButton;

namespace tessera::ui {

class CopyLine;
class LabelledField;

class MountDialog : public Dialog {
  Q_OBJECT

 public:
  /// \param cluster name of the cluster on the command line
  explicit MountDialog(const QString& cluster, QWidget* parent = nullptr);

  LabelledField* folder() const { return m_folder; }
  QCheckBox* readOnly() const { return m_readOnly; }
  CopyLine* command() const { return m_command; }
  QPushButton* mountButton() const { return m_mount; }
  /// Why it cannot be mounted there; empty if it can.
  QString problem() const;
  /// Shows why the mount has failed. The dialog stays open.
  void showFailure(const QString& why);

 signals:
  /// The dialog waits: accept() it, or showFailure().
  void mountRequested(const QString& folder, bool readOnly);

 private:
  void browse();
  void refresh();

  const QString m_cluster;
  LabelledField* m_folder;
  QCheckBox* m_readOnly;
  CopyLine* m_command;
  QPushButton* m_mount;
  bool m_isWaiting = false;
};

}  // namespace tessera::ui
