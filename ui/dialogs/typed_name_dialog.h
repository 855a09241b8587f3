// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The question before an act that cannot be undone: the user types the exact name of the thing.

#include <QString>
#include <QStringList>

#include "ui/dialogs/dialog.h"

class QLineEdit;
class QPushButton;

namespace tessera::ui {

class TypedNameDialog : public Dialog {
  Q_OBJECT

 public:
  struct Question {
    QString title;     // "Stop gpt-mini"
    QStringList says;  // what is lost and what stays, one sentence or paragraph each
    QString name;      // to be typed
    QString button;    // "Stop gpt-mini"
    QString keep;      // the other button: "Keep running"
    QString command;   // the same as a command line
  };
  /// Its result is QDialog::Accepted once the name is typed and the button is pressed. Cancel has
  /// the focus until then, so that Enter does nothing.
  explicit TypedNameDialog(const Question& question, QWidget* parent = nullptr);

  /// What must be typed.
  const QString& name() const { return m_wanted; }
  QLineEdit* nameEdit() const { return m_name; }
  QPushButton* actButton() const { return m_act; }

 private:
  QString m_wanted;
  QLineEdit* m_name;
  QPushButton* m_act;
};

}  // namespace tessera::ui
