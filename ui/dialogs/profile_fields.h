// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Validation of the fields of a profile. The only I/O is a check of the key file.

#include <QCoreApplication>
#include <QString>

#include "ui/connections.h"

namespace tessera::ui {

/// Each function returns one sentence for the user, or an empty text if the field is valid.
class ProfileFields {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ProfileFields)

 public:
  static QString nameProblem(const QString& name, const QList<ProfileInfo>& known);
  /// Accepts tcp://HOST:PORT and ipc://PATH.
  static QString endpointProblem(const QString& endpoint);
  /// Accepts 40 characters of Z85 (ZeroMQ RFC 32).
  static QString keyProblem(const QString& key);
  /// Accepts an absolute path of a readable file.
  static QString keyFileProblem(const QString& file);
  /// Like endpointProblem(); also rejects the address of the registrar.
  static QString eventsProblem(const QString& events, const QString& registrar);
};

}  // namespace tessera::ui
