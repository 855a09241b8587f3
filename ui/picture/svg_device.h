// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A paint device that writes SVG. Texts become outlines, so that a picture looks the same where
/// its fonts are not installed; the words are kept as labels of the outlines.

#include <QByteArray>
#include <QPaintDevice>
#include <QSize>
#include <QString>
#include <memory>

class QPainter;
class QWidget;

namespace tessera::ui {

/// Whether the painter of a widget paints a picture file, with vectors or with other pixels than
/// the screen. The widget then paints what its cached images show.
bool paintsPicture(const QPainter& painter, const QWidget& widget);

/// Paint on it with one QPainter, then end the painter and take the bytes.
/// Lines, areas and texts are vectors. Gradients, texture brushes and images are pixels.
class SvgDevice : public QPaintDevice {
 public:
  /// \param size logical pixels, the coordinates of the painter
  /// \param width of the picture; the height follows
  SvgDevice(QSize size, int width, const QString& title, const QString& description);
  ~SvgDevice() override;
  SvgDevice(const SvgDevice&) = delete;
  SvgDevice& operator=(const SvgDevice&) = delete;

  /// The complete file.
  QByteArray bytes() const;
  QPaintEngine* paintEngine() const override;

 protected:
  int metric(PaintDeviceMetric metric) const override;

 private:
  class Engine;
  QSize m_size;
  QByteArray m_head;
  std::unique_ptr<Engine> m_engine;
};

}  // namespace tessera::ui
