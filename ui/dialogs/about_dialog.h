// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The About box: description, version, libraries and licences.

#include "ui/dialogs/dialog.h"

namespace tessera::ui {

class AboutDialog : public Dialog {
  Q_OBJECT

 public:
  /// \param version version and commit of the program; may be empty
  explicit AboutDialog(const QString& version, QWidget* parent = nullptr);
  /// The content of the box, one "name value" per line. The Copy button copies it.
  QString asText() const { return m_text; }

 private:
  QString m_text;
};

}  // namespace tessera::ui
