// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Small drawing functions that the painters of the canvas share. Lengths are logical pixels.

#include <QBrush>
#include <QColor>
#include <QFont>
#include <QPainterPath>
#include <QPen>
#include <QRectF>
#include <QString>

class QPainter;

namespace tessera::ui {

double widthOf(const QFont& font, const QString& text);
/// Draws text that begins at `x`, ends at `x`, or is centred on `x`.
void textLeft(QPainter& p, double x, double baseline, const QString& text, const QFont& font,
              const QColor& color);
void textRight(QPainter& p, double x, double baseline, const QString& text, const QFont& font,
               const QColor& color);
void textCentered(QPainter& p, double x, double baseline, const QString& text, const QFont& font,
                  const QColor& color);
/// Returns the baseline that centres capitals on `middle`.
double baselineAt(const QFont& font, double middle);
/// Returns a pen with dashes of length `on` and gaps of length `off`.
QPen dashes(const QColor& color, double width, double on = 5, double off = 4);
/// Insets the rectangle so that a border of this width lies on pixel centres.
QRectF onPixels(const QRect& rect, double width = 1);
void roundedRect(QPainter& p, const QRectF& rect, double radius, const QPen& pen,
                 const QBrush& brush);
/// Returns the upper part of a rounded rectangle.
QPainterPath bandPath(const QRectF& r, double height, double radius);
/// Draws a bar with round ends over `fraction` of `area`; nothing at 0.
void fractionBar(QPainter& p, const QRectF& area, double fraction, const QColor& color);

}  // namespace tessera::ui
