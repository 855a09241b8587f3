// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_dialogs.h"

#include <utility>

#include "ui/dialogs/about_dialog.h"

namespace tessera::ui {
namespace {

void bringUp(QWidget* window) {
  window->show();
  window->raise();
  window->activateWindow();
}

}  // namespace

WindowDialogs::WindowDialogs(Parts parts, QWidget* window)
    : m_parts(std::move(parts)), m_window(window) {}

void WindowDialogs::openSettings(SettingsDialog::Page page) {
  auto* dialog = new SettingsDialog(m_parts.settings, m_parts.actions, m_parts.places, m_window);
  dialog->showPage(page);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SettingsDialog::restartRequested, this, [this, dialog] {
    dialog->accept();
    m_parts.restart();
  });
  dialog->open();
}

void WindowDialogs::openPalette() {
  if (m_palette == nullptr) m_palette = new CommandPalette(m_window);
  m_palette->ask(m_parts.items());
}

void WindowDialogs::openHelp(const QString& page) {
  if (m_help == nullptr) m_help = new HelpWindow(m_window);
  if (!page.isEmpty()) m_help->showPage(page);
  bringUp(m_help);
}

void WindowDialogs::openExperiment() {
  if (!m_experiment) {
    m_experiment = new ConsistencyLesson(*m_parts.experiment, m_window);
    m_experiment->setAttribute(Qt::WA_DeleteOnClose);
  }
  bringUp(m_experiment);
}

void WindowDialogs::openAbout() {
  auto* box = new AboutDialog(m_parts.version, m_window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

}  // namespace tessera::ui
