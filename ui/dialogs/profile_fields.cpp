// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/profile_fields.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

namespace tessera::ui {

QString ProfileFields::nameProblem(const QString& name, const QList<ProfileInfo>& known) {
  static const QRegularExpression form(QStringLiteral("^[a-z0-9][a-z0-9-]{0,62}$"));
  if (name.isEmpty()) return tr("Enter a name for the cluster.");
  if (!form.match(name).hasMatch()) {
    return tr("Use lower-case letters, digits and dashes, at most 63.");
  }
  const bool taken = std::any_of(known.begin(), known.end(),
                                 [&](const ProfileInfo& each) { return each.name == name; });
  return taken ? tr("A profile named %1 already exists.").arg(name) : QString();
}

QString ProfileFields::endpointProblem(const QString& endpoint) {
  if (endpoint.isEmpty()) return tr("For example tcp://10.0.0.5:40001");
  if (endpoint.startsWith(QLatin1String("ipc://"))) {
    return endpoint.size() > 6 ? QString() : tr("The path after ipc:// is missing.");
  }
  static const QRegularExpression form(
      QStringLiteral("^tcp://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9][A-Za-z0-9.-]*):([0-9]{1,6})$"));
  const auto match = form.match(endpoint);
  if (!match.hasMatch()) return tr("The address must be tcp://HOST:PORT.");
  const int port = match.captured(2).toInt();
  return port >= 1 && port <= 65535 ? QString()
                                    : tr("Port %1 is not between 1 and 65535.").arg(port);
}

QString ProfileFields::eventsProblem(const QString& events, const QString& registrar) {
  if (const QString problem = endpointProblem(events); !problem.isEmpty()) return problem;
  return events == registrar ? tr("Events use a different port than the registrar.") : QString();
}

QString ProfileFields::keyProblem(const QString& key) {
  if (key.isEmpty()) return tr("Enter the cluster's public key, 40 characters.");
  if (key.size() != 40)
    return tr("A public key has 40 characters; this one has %1.").arg(key.size());
  static const QString letters = QStringLiteral(
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#");
  for (const QChar letter : key) {
    if (!letters.contains(letter)) return tr("A public key cannot contain '%1'.").arg(letter);
  }
  return {};
}

QString ProfileFields::keyFileProblem(const QString& file) {
  if (file.isEmpty()) return tr("Enter the file of your own key pair.");
  const QFileInfo info(file);
  if (info.isRelative()) return tr("Enter the full path, starting with /.");
  if (!info.exists()) return tr("This file does not exist.");
  if (!info.isFile()) return tr("This path is not a file.");
  return info.isReadable() ? QString() : tr("You have no permission to read this file.");
}

}  // namespace tessera::ui
