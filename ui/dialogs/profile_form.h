// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The form that adds a cluster, from a pasted profile file or from fields checked while typing.

#include <QWidget>
#include <array>

#include "ui/connections.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace tessera::ui {

class ProfileForm : public QWidget {
  Q_OBJECT

 public:
  enum Field { Name, Registrar, Events, ServerKey, KeyFile, NUM_FIELDS };

  /// `connections` must outlive the form.
  explicit ProfileForm(Connections& connections, QWidget* parent = nullptr);
  /// Clears all fields and messages.
  void clear();
  ProfileInfo profile() const;
  bool isGood() const;

  QPlainTextEdit* pasteEdit() const { return m_paste; }
  QLineEdit* edit(Field field) const { return m_edits[field]; }
  /// Returns the message below a field.
  QString problem(Field field) const;
  QPushButton* addButton() const { return m_add; }

 signals:
  void added(const QString& name);
  void cancelled();

 private:
  QString check(Field field) const;
  void refresh();
  void readPaste();
  void submit();

  Connections& m_connections;
  QPlainTextEdit* m_paste;
  QLabel* m_pasteNote;
  std::array<QLineEdit*, NUM_FIELDS> m_edits{};
  std::array<QLabel*, NUM_FIELDS> m_notes{};
  std::array<bool, NUM_FIELDS> m_touched{};
  QPushButton* m_add;
};

}  // namespace tessera::ui
