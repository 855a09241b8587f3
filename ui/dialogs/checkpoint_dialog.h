// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Asks for the folder into which a checkpoint is saved.

#include <cstdint>

#include "ui/dialogs/dialog.h"

class QPushButton;

namespace tessera::ui {

class LabelledField;

class CheckpointDialog : public Dialog {
  Q_OBJECT

 public:
  /// \param bytes that the checkpoint takes
  /// \param folder the one to begin with; empty: none is known
  CheckpointDialog(const QString& job, std::int64_t bytes, const QString& folder,
                   QWidget* parent = nullptr);

  LabelledField* folder() const { return m_folder; }
  QPushButton* browseButton() const { return m_browse; }
  QPushButton* saveButton() const { return m_save; }
  /// Why nothing can be saved there, as one sentence; empty if it can.
  QString problem() const;
  /// The folder that the user has entered.
  QString path() const;

 private:
  void browse();
  void refresh();

  LabelledField* m_folder;
  QPushButton *m_browse, *m_save;
};

}  // namespace tessera::ui
