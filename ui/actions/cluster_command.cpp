// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/actions/cluster_command.h"

#include <QDialog>

#include "ui/connections.h"
#include "ui/models/shell_words.h"

namespace tessera::ui {

QString CommandContext::cluster() const {
  const QString profile = connections == nullptr ? QString() : connections->current();
  return profile.isEmpty() ? QString::fromStdString(model.snapshot().cluster) : profile;
}

QString CommandContext::commandLine(const QStringList& words) const {
  return ui::commandLine(cluster(), words);
}

QString CommandContext::job() const {
  const engine::JobStatus* shown = model.job();
  return shown == nullptr ? QString() : QString::fromStdString(shown->name);
}

void CommandContext::open(QDialog* dialog) const {
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  closeWithCluster(dialog);
  dialog->show();
}

void CommandContext::closeWithCluster(QDialog* dialog) const {
  QObject::connect(&model, &ClusterModel::cleared, dialog, [dialog] { dialog->reject(); });
}

QString CommandContext::notConnected() const {
  if (model.isFile()) return tr("This is a history file, not a live cluster.");
  return model.link() == LinkState::Connected && model.hasSnapshot()
             ? QString()
             : tr("There is no connection to the cluster.");
}

QString CommandContext::noJob() const {
  if (const QString reason = notConnected(); !reason.isEmpty()) return reason;
  return model.job() == nullptr ? tr("There is no job.") : QString();
}

QString CommandContext::cannotAct() const {
  const QString reason = notConnected();
  return reason.isEmpty() ? control.lockReason() : reason;
}

QString CommandContext::jobIsNot(std::initializer_list<engine::JobState> allowed,
                                 const QString& otherwise) const {
  if (const QString reason = control.lockReason(); !reason.isEmpty()) return reason;
  if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) return reason;
  for (const engine::JobState each : allowed) {
    if (model.job()->state == each) return {};
  }
  return otherwise;
}

}  // namespace tessera::ui
