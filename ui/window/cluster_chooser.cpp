// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/cluster_chooser.h"

#include <QFileDialog>
#include <QPointer>
#include <utility>

#include "ui/connections.h"
#include "ui/dialogs/connect_dialog.h"
#include "ui/dialogs/simulate_dialog.h"
#include "ui/format.h"
#include "ui/pages/state_page.h"
#include "ui/sentences.h"

namespace tessera::ui {

ClusterChooser::ClusterChooser(Connections* connections, Settings& settings, const QString& mirrors,
                               QWidget* window, Reactions reactions)
    : m_connections(connections),
      m_settings(settings),
      m_mirrors(mirrors),
      m_window(window),
      m_reactions(std::move(reactions)) {}

void ClusterChooser::openDialog() {
  if (m_connections == nullptr) return;
  auto* dialog = new ConnectDialog(*m_connections, m_settings, m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ConnectDialog::connectRequested, this, &ClusterChooser::connectTo);
  connect(dialog, &ConnectDialog::startLocalRequested, this, [this] { startLocal(); });
  connect(dialog, &QDialog::finished, this, [this] { m_reactions.profilesChanged(); });
  dialog->open();
}

void ClusterChooser::connectTo(const QString& profile) {
  if (const auto status = m_connections->connectTo(profile); !status)
    m_reactions.showError(localized(status.error().message));
  m_reactions.profilesChanged();
}

void ClusterChooser::startLocal(bool slowLinks) {
  if (m_connections == nullptr || m_starting) return;
  const auto shows = showsStart();
  shows(tr("Creating its keys"));
  m_connections->startLocal({.nodes = ConnectDialog::kLocalNodes,
                             .gpus = ConnectDialog::kLocalGpus,
                             .linkBytesPerSecond = slowLinks ? StatePage::kSlowLink : 0},
                            shows, connectsAfterStart());
}

void ClusterChooser::watchDemo() {
  if (m_connections == nullptr || m_starting) return;
  m_connections->startSimulated({.demo = true}, showsStart(), connectsAfterStart());
}

void ClusterChooser::startAgain() {
  if (m_connections == nullptr || m_starting) return;
  const auto shows = showsStart();
  shows(tr("Creating its keys"));
  m_connections->startAgain(m_connections->current(), shows, connectsAfterStart());
}

void ClusterChooser::openSimulate() {
  if (m_connections == nullptr || m_starting) return;
  auto* dialog = new SimulateDialog(m_connections->simulatedHardware(), m_window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SimulateDialog::startRequested, this, [this](const SimulationChoice& choice) {
    m_connections->startSimulated(choice, showsStart(), connectsAfterStart());
  });
  dialog->open();
}

std::function<void(QString)> ClusterChooser::showsStart() {
  m_starting = QString();
  m_reactions.rulesChanged();
  return [self = QPointer<ClusterChooser>(this)](const QString& doing) {
    if (!self || !self->m_starting) return;
    self->m_starting = doing;
    self->m_reactions.stateChanged();
  };
}

std::function<void(Result<QString>)> ClusterChooser::connectsAfterStart() {
  return [self = QPointer<ClusterChooser>(this)](Result<QString> profile) {
    if (!self) return;
    self->m_starting.reset();
    self->m_reactions.rulesChanged();
    if (profile) {
      self->connectTo(*profile);
    } else {
      self->m_reactions.showError(
          tr("The cluster could not be started: %1.").arg(format::error(profile.error())));
    }
    self->m_reactions.stateChanged();
  };
}

void ClusterChooser::chooseHistoryFile() {
  const QString file =
      QFileDialog::getOpenFileName(m_window, tr("Open a history file"), m_mirrors,
                                   tr("History files (*.db *.sqlite);;All files (*)"));
  if (!file.isEmpty()) openHistory(file);
}

void ClusterChooser::openHistory(const QString& file) {
  m_reactions.say(tr("Reading %1…").arg(file));
  m_connections->openHistory(file, [self = QPointer<ClusterChooser>(this)](const Status& read) {
    // Who has chosen something else needs no word of it.
    if (!self || read || read.error().code == ErrorCode::kCancelled) return;
    self->m_reactions.showError(localized(read.error().message));
  });
}

}  // namespace tessera::ui
