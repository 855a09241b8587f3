// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/mount_dialog.h"

#include <QCheckBox>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/models/shell_words.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/labelled_field.h"

namespace tessera::ui {

MountDialog::MountDialog(const QString& cluster, QWidget* parent)
    : Dialog(parent),
      m_cluster(cluster),
      m_folder(new LabelledField(tr("Folder"), this)),
      m_readOnly(new QCheckBox(tr("&Read only: no files are handed in"), this)),
      m_command(new CopyLine(tr("command"), tr("Copy as command"), this)),
      m_mount(new QPushButton(tr("Mount"), this)) {
  setWindowTitle(tr("Mount the Files"));
  QLabel* what = wrappingLabel(QStringLiteral("hint"), this);
  what->setText(
      tr("The state of all jobs appears on this machine as files that any program can "
         "read, such as full/model.safetensors. It stays when the panel is closed."));
  m_folder->setPlaceholder(QDir::homePath() + QStringLiteral("/state"));
  m_folder->setHint(tr("an empty folder of this machine"));
  QPushButton* open = m_folder->addButton(tr("…"), tr("Choose the folder"));
  m_command->setToolTip(tr("The same as a command"));

  auto* cancel = new QPushButton(tr("Cancel"), this);
  m_mount->setDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(m_mount);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 20, 16);
  column->setSpacing(14);
  column->addWidget(what);
  column->addWidget(m_folder);
  column->addWidget(m_readOnly);
  column->addWidget(m_command);
  column->addStretch();
  column->addLayout(buttons);
  constexpr int kWidth = 520;
  setMinimumWidth(kWidth);

  connect(open, &QPushButton::clicked, this, &MountDialog::browse);
  connect(m_folder, &LabelledField::edited, this, &MountDialog::refresh);
  connect(m_readOnly, &QCheckBox::toggled, this, &MountDialog::refresh);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_mount, &QPushButton::clicked, this, [this] {
    if (!problem().isEmpty()) return;
    m_isWaiting = true;
    refresh();
    emit mountRequested(m_folder->value().trimmed(), m_readOnly->isChecked());
  });
  m_folder->edit()->setFocus();
  refresh();
}

QString MountDialog::problem() const {
  const QString path = m_folder->value().trimmed();
  if (m_isWaiting) return tr("The files are being mounted.");
  if (path.isEmpty()) return tr("Choose a folder.");
  if (!QDir::isAbsolutePath(path)) return tr("Enter the full path, starting with /.");
  const QDir folder(path);
  if (!folder.exists()) return tr("This folder does not exist.");
  if (!folder.isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot))
    return tr("This folder is not empty.");
  return {};
}

void MountDialog::showFailure(const QString& why) {
  m_isWaiting = false;
  refresh();
  m_folder->setProblem(why);
}

void MountDialog::browse() {
  auto* dialog = new QFileDialog(this, tr("Choose the folder"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
    m_folder->setValue(path);
    refresh();
  });
  dialog->open();
}

void MountDialog::refresh() {
  const QString path = m_folder->value().trimmed();
  const QString wrong = problem();
  m_folder->setProblem(path.isEmpty() || m_isWaiting ? QString() : wrong);
  m_mount->setEnabled(wrong.isEmpty());
  m_mount->setToolTip(wrong);
  m_mount->setText(m_isWaiting ? tr("Mounting…") : tr("Mount"));
  QStringList words = {QStringLiteral("mount"), path.isEmpty() ? QStringLiteral("DIR") : path};
  if (m_readOnly->isChecked()) words << QStringLiteral("--read-only");
  m_command->setText(commandLine(m_cluster, words));
}

}  // namespace tessera::ui
