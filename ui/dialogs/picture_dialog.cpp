// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/picture_dialog.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSpinBox>
#include <QThread>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/export_text.h"
#include "ui/sentences.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

PictureDialog::PictureDialog(std::vector<Picture> pictures, QWidget* parent)
    : Dialog(parent),
      m_pictures(std::move(pictures)),
      m_choice(new QComboBox(this)),
      m_width(new QSpinBox(this)),
      m_effect(new QLabel(this)),
      m_save(new QPushButton(tr("Save…"), this)) {
  setWindowTitle(tr("Save a Picture"));
  for (const Picture& picture : m_pictures) m_choice->addItem(picture.title);
  m_choice->setAccessibleName(tr("Part of the window"));
  m_width->setRange(kLeastWidth, kMostWidth);
  m_width->setSingleStep(100);
  m_width->setSuffix(tr(" pixels"));
  m_width->setAccessibleName(tr("Width in pixels"));
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  int row = 0;
  const auto add = [&](const QString& text, QWidget* field) {
    auto* label = new QLabel(text, this);
    label->setBuddy(field);
    grid->addWidget(label, row, 0);
    grid->addWidget(field, row++, 1);
  };
  add(tr("&Part"), m_choice);
  add(tr("&Width"), m_width);
  grid->setColumnStretch(1, 1);
  m_effect->setWordWrap(true);
  setRole(m_effect, QStringLiteral("hint"));

  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setAccessibleName(tr("Cancel"));
  m_save->setAccessibleName(tr("Choose a file and save the picture"));
  m_save->setDefault(true);
  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(cancel);
  buttons->addWidget(m_save);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 20, 20, 16);
  column->setSpacing(14);
  column->addLayout(grid);
  column->addWidget(m_effect);
  column->addStretch();
  column->addLayout(buttons);
  constexpr int kDialogWidth = 420;
  setMinimumWidth(kDialogWidth);

  // Twice as sharp as on an ordinary screen.
  const auto propose = [this] {
    m_width->setValue(2 * chosen().size.width());
    refresh();
  };
  connect(m_choice, &QComboBox::currentIndexChanged, this, propose);
  connect(m_width, &QSpinBox::valueChanged, this, &PictureDialog::refresh);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_save, &QPushButton::clicked, this, &PictureDialog::save);
  propose();
}

PictureDialog::~PictureDialog() {
  if (m_writer) m_writer->wait();
}

const Picture& PictureDialog::chosen() const {
  return m_pictures[static_cast<std::size_t>(std::max(0, m_choice->currentIndex()))];
}

QString PictureDialog::effect() const { return m_effect->text(); }

void PictureDialog::refresh() {
  constexpr double kDotsPerCentimetre = 300 / 2.54;
  const int width = m_width->value();
  m_effect->setText(tr("%1 × %2 pixels, %3 cm wide at 300 dpi. PNG has these pixels; SVG has lines "
                       "and outlined letters, sharp at any size.")
                        .arg(format::count(width), format::count(heightOf(chosen(), width)),
                             QLocale().toString(width / kDotsPerCentimetre, 'f', 1)));
}

void PictureDialog::write(const QString& file) {
  const bool isSvg = file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
  const int width = m_width->value();
  auto written = std::make_shared<Status>();
  if (m_writer) m_writer->wait();  // it has written, but may still be ending
  if (isSvg) {
    m_writer.reset(QThread::create(
        [file, written, svg = svgOf(chosen(), width)] { *written = writeFile(file, svg); }));
  } else {
    m_writer.reset(QThread::create([file, written, image = imageOf(chosen(), width)] {
      *written = writeFile(file, pngOf(image));
    }));
  }
  m_save->setEnabled(false);
  connect(m_writer.get(), &QThread::finished, this, [this, file, written] {
    if (*written) {
      emit saved(file);
    } else {
      emit failed(localized(written->error().message));
    }
    accept();
  });
  m_writer->start();
}

void PictureDialog::save() {
  const QString file =
      QFileDialog::getSaveFileName(this, tr("Save picture"), chosen().name + QStringLiteral(".png"),
                                   tr("PNG pictures (*.png);;SVG drawings (*.svg)"));
  if (!file.isEmpty()) write(file);
}

}  // namespace tessera::ui
