// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The pages of the guide: Markdown files compiled into the program, in the order of the links of
/// index.md. Pages and pictures are those of the language of the panel; where there is none, the
/// English one is shown. Names are the same in all languages, anchors are not.

#include <QImage>
#include <QList>
#include <QString>
#include <QStringList>

class QTextDocument;

namespace tessera::ui {

struct GuidePage {
  QString name;   // "first-hour.md"
  QString title;  // its first heading
};

/// Returns all pages, index.md first. Pages without a link in index.md come last.
QList<GuidePage> guidePages();
/// Returns the Markdown of a page; empty for an unknown name.
QString guideText(const QString& name);
/// The same in a language of panelLanguage().
QString guideText(const QString& name, const QString& language);
/// Whether the guide has the page in that language; all pages are in English, which is empty.
bool isGuideTranslated(const QString& name, const QString& language);
/// Returns a picture of the guide, such as "pictures/draft.png", as it is shown: scaled down to the
/// width of a page, for a screen with that many device pixels per pixel. Null for an unknown name.
QImage guidePicture(const QString& name, qreal pixelRatio);
/// Returns the anchor of a heading, as in "first-hour.md#start-a-job": lower-case letters, dashes
/// for spaces, nothing else.
QString guideAnchor(const QString& heading);
struct GuideHeading {
  int level;  // 1 is the title of the page
  QString text;
};
/// Returns the headings of a page, in order. Much faster than a QTextDocument of it.
QList<GuideHeading> guideHeadings(const QString& markdown);
/// Returns the anchors of all headings of a page, in order.
QStringList guideAnchors(const QString& markdown);

/// Fills `document` with a page in the colours and sizes of the theme. Headings get anchors.
void showGuide(QTextDocument& document, const QString& markdown);

}  // namespace tessera::ui
