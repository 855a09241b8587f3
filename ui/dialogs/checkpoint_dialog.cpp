// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/checkpoint_dialog.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/format.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/labelled_field.h"

namespace tessera::ui {

CheckpointDialog::CheckpointDialog(const QString& job, std::int64_t bytes, const QString& folder,
                                   QWidget* parent)
    : Dialog(parent),
      m_folder(new LabelledField(tr("Folder"), this)),
      m_browse(m_folder->addButton(tr("…"), tr("Choose the folder"))),
      m_save(new QPushButton(tr("Save"), this)) {
  setWindowTitle(tr("Checkpoint of %1").arg(job));
  QLabel* what = wrappingLabel(QStringLiteral("hint"), this);
  what->setText(tr("The checkpoint takes %1 in the folder, and as much host memory while it is "
                   "written.")
                    .arg(format::bytes(bytes)));
  m_folder->setPlaceholder(QStringLiteral("/srv/checkpoints"));
  m_folder->setHint(tr("a folder that all hosts see under this path"));
  m_folder->setValue(folder);
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAutoDefault(false);
  m_save->setDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(m_save);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 20, 16);
  column->setSpacing(14);
  column->addWidget(what);
  column->addWidget(m_folder);
  column->addStretch();
  column->addLayout(buttons);
  constexpr int kLeastWidth = 480;
  setMinimumWidth(kLeastWidth);

  connect(m_browse, &QPushButton::clicked, this, &CheckpointDialog::browse);
  connect(m_folder, &LabelledField::edited, this, &CheckpointDialog::refresh);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_save, &QPushButton::clicked, this, &QDialog::accept);
  m_folder->edit()->setFocus();
  refresh();
}

QString CheckpointDialog::path() const { return m_folder->value().trimmed(); }

QString CheckpointDialog::problem() const {
  if (path().isEmpty()) return tr("Choose a folder.");
  if (!path().startsWith(QLatin1Char('/'))) return tr("Enter the full path, starting with /.");
  return {};
}

// The folder is one of the hosts. This machine often sees it under the same path.
void CheckpointDialog::browse() {
  auto* dialog = new QFileDialog(this, tr("Choose the folder"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  if (problem().isEmpty()) dialog->setDirectory(path());
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& chosen) {
    m_folder->setValue(chosen);
    refresh();
  });
  dialog->open();
}

void CheckpointDialog::refresh() {
  const QString wrong = problem();
  m_folder->setProblem(path().isEmpty() ? QString() : wrong);
  m_save->setEnabled(wrong.isEmpty());
  m_save->setToolTip(wrong);
}

}  // namespace tessera::ui
