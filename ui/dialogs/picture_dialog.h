// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Asks which part of the window becomes a picture, and how large.

#include <memory>
#include <functional>
#include <vector>

#include "ui/dialogs/dialog.h"
#include "ui/picture/picture.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QThread;

namespace tessera::ui {

class PictureDialog : public Dialog {
  Q_OBJECT

 public:
  static constexpr int kLeastWidth = 100, kMostWidth = 10'000;  // pixels

  /// \param pictures at least one, whose widgets outlive the dialog; the first one is chosen
  explicit PictureDialog(std::vector<Picture> pictures, QWidget* parent = nullptr);

  QComboBox* choice() const { return m_choice; }
  QSpinBox* widthField() const { return m_width; }
  /// "2400 × 1350 pixels, 20.3 cm wide at 300 dpi".
  QString effect() const;
  QPushButton* saveButton() const { return m_save; }
  ~PictureDialog() override;
  /// Draws the chosen picture, writes it on another thread and closes the dialog: SVG if the name
  /// ends with .svg, else PNG.
  void write(const QString& file);

 signals:
  /// The picture is written.
  void saved(const QString& file);
  /// It is not, for this reason of the system, which names the file.
  void failed(const QString& why);

 private:
  const Picture& chosen() const;
  void refresh();
  void save();

  const std::vector<Picture> m_pictures;
  QComboBox* m_choice;
  QSpinBox* m_width;
  QLabel* m_effect;
  QPushButton* m_save;
  std::unique_ptr<QThread> m_writer;
};

}  // namespace tessera::ui
