// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What this program is, its version, what it is built on, and the licences.

#include <QDialog>

namespace tessera::ui {

class AboutDialog : public QDialog {
  Q_OBJECT

 public:
  /// \param version of the program, with its commit; may be empty
  explicit AboutDialog(const QString& version, QWidget* parent = nullptr);
  /// Everything that the box says, one "name value" a line: what its button copies.
  QString asText() const { return m_text; }

 private:
  QString m_text;
};

}  // namespace tessera::ui
