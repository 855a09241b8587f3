// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The bundled icons, drawn in a colour of the theme. They are bundled because a minimal Debian has
/// no icon theme.

#include <QColor>
#include <QIcon>
#include <QPixmap>
#include <QString>

namespace tessera::ui {

/// Returns the icon resources/icons/`name`.svg in `color`; an empty icon for an unknown name.
QIcon icon(const QString& name, const QColor& color);
/// Returns the icon at `size` logical pixels, rendered for `devicePixelRatio`.
QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal devicePixelRatio);

}  // namespace tessera::ui
