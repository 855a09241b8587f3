// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/profile_fields.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

namespace tessera::ui {

QString ProfileFields::nameProblem(const QString& name, const QList<ProfileInfo>& known) {
  static const QRegularExpression form(QStringLiteral("^[a-z0-9][a-z0-9-]{0,62}$"));
  if (name.isEmpty()) return tr("Give the cluster a name.");
  if (!form.match(name).hasMatch()) {
    return tr("Use small letters, digits and dashes, 63 at most.");
  }
  const bool taken = std::any_of(known.begin(), known.end(),
                                 [&](const ProfileInfo& each) { return each.name == name; });
  return taken ? tr("A profile is already named %1.").arg(name) : QString();
}

QString ProfileFields::endpointProblem(const QString& endpoint) {
  if (endpoint.isEmpty()) return tr("Such as tcp://10.0.0.5:40001");
  if (endpoint.startsWith(QLatin1String("ipc://"))) {
    return endpoint.size() > 6 ? QString() : tr("The path after ipc:// is missing.");
  }
  static const QRegularExpression form(
      QStringLiteral("^tcp://(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9][A-Za-z0-9.-]*):([0-9]{1,6})$"));
  const auto match = form.match(endpoint);
  if (!match.hasMatch()) return tr("This is not tcp://HOST:PORT.");
  const int port = match.captured(2).toInt();
  return port >= 1 && port <= 65535 ? QString()
                                    : tr("Port %1 is not between 1 and 65535.").arg(port);
}

QString ProfileFields::eventsProblem(const QString& events, const QString& registrar) {
  if (const QString problem = endpointProblem(events); !problem.isEmpty()) return problem;
  return events == registrar ? tr("Events come from another port than the registrar's.")
                             : QString();
}

QString ProfileFields::keyProblem(const QString& key) {
  if (key.isEmpty()) return tr("The cluster's public key, 40 characters.");
  if (key.size() != 40) return tr("A public key has 40 characters, this one %1.").arg(key.size());
  static const QString letters = QStringLiteral(
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#");
  for (const QChar letter : key) {
    if (!letters.contains(letter)) return tr("A public key has no character '%1'.").arg(letter);
  }
  return {};
}

QString ProfileFields::keyFileProblem(const QString& file) {
  if (file.isEmpty()) return tr("The file of your own key pair.");
  const QFileInfo info(file);
  if (info.isRelative()) return tr("Give the whole path, from / on.");
  if (!info.exists()) return tr("There is no such file.");
  if (!info.isFile()) return tr("This is not a file.");
  return info.isReadable() ? QString() : tr("You may not read this file.");
}

}  // namespace tessera::ui
