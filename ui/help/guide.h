// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The pages of the guide: Markdown files in the program, in the order of index.md's links.

#include <QList>
#include <QString>
#include <QStringList>

class QTextDocument;

namespace tessera::ui {

struct GuidePage {
  QString name;   // "first-hour.md"
  QString title;  // of its first heading
};

/// All pages, index.md first; those that index.md does not name come last.
QList<GuidePage> guidePages();
/// The Markdown of a page; empty where there is none of that name.
QString guideText(const QString& name);
/// The anchor of a heading, as in "first-hour.md#start-a-job": small letters, dashes for spaces,
/// nothing else.
QString guideAnchor(const QString& heading);
/// Anchors of a page's headings in their order.
QStringList guideAnchors(const QString& markdown);

/// Fills `document` with a page, in the colours and sizes of the theme; headings get anchors.
void showGuide(QTextDocument& document, const QString& markdown);

}  // namespace tessera::ui
