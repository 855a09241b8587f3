// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The bundled icons, drawn in a colour of the theme. A bare Debian has no icon theme.

#include <QColor>
#include <QIcon>
#include <QPixmap>
#include <QString>

namespace tessera::ui {

/// The icon resources/icons/`name`.svg in `color`; an empty icon where there is no such file.
QIcon icon(const QString& name, const QColor& color);
/// `size` in logical pixels; crisp at `devicePixelRatio`.
QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal devicePixelRatio);

}  // namespace tessera::ui
