// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What is wrong with the widgets of a window, as lines for the log of a test: clipped texts, texts
/// that no translation reaches, and widgets without a name.

#include <QString>
#include <QStringList>

class QWidget;

namespace tessera::test {

/// Labels, buttons, tabs, menus and headings below `top` whose text has less room than it needs.
QStringList clippedTexts(const QWidget& top);

/// Words of three or more plain letters in a text below `top` that PseudoTranslator did not change.
/// Words in `data`, and names such as "gpt-mini" and "n0g0", need no translation.
QStringList untranslatedTexts(const QWidget& top, const QStringList& data);

/// All texts of the visible widgets below `top`: labels, cells, tips and names.
QStringList textsOf(const QWidget& top);

/// What in a text is no word for people: a name of the program such as "rolled_back", a prefix that
/// stands twice, the name of an axis with a capital, or an arrow between equal meshes. Empty: none.
QString wrongWords(const QString& text);

/// Widgets that take keys or clicks and have no accessible name.
QStringList namelessWidgets(const QWidget& top);

}  // namespace tessera::test
