// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What is wrong with a field of a profile, in one line. Values only, no I/O but the key file's.

#include <QCoreApplication>
#include <QString>

#include "ui/connections.h"

namespace tessera::ui {

/// Each gives one sentence for the user, empty where the field is good.
class ProfileFields {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ProfileFields)

 public:
  static QString nameProblem(const QString& name, const QList<ProfileInfo>& known);
  /// Of tcp://HOST:PORT or ipc://PATH.
  static QString endpointProblem(const QString& endpoint);
  /// Of 40 characters of Z85 (ZeroMQ RFC 32).
  static QString keyProblem(const QString& key);
  /// The file must be readable.
  static QString keyFileProblem(const QString& file);
  /// Of `events`: also that it is not the registrar's.
  static QString eventsProblem(const QString& events, const QString& registrar);
};

}  // namespace tessera::ui
