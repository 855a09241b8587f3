// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/guide.h"

#include <QDir>
#include <QFile>
#include <QFontDatabase>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextFrame>
#include <QTextTable>
#include <algorithm>

#include "ui/language.h"
#include "ui/theme.h"

// Q_INIT_RESOURCE must be outside of namespaces. Without it the linker drops the resources of a
// static library.
static void loadGuide() { Q_INIT_RESOURCE(guide); }

namespace tessera::ui {
namespace {

const QString kFolder = QStringLiteral(":/tessera/guide/");
const QString kIndex = QStringLiteral("index.md");
constexpr int kPictureWidth = 680;

/// The file of a page or picture in a language; where there is none, the English one.
QString fileOf(const QString& name, const QString& language) {
  const QString own = kFolder + language + QLatin1Char('/') + name;
  return !language.isEmpty() && QFile::exists(own) ? own : QString(kFolder + name);
}

QString titleOf(const QString& markdown) {
  static const QRegularExpression first(QStringLiteral("^#\\s+(.+)$"),
                                        QRegularExpression::MultilineOption);
  return first.match(markdown).captured(1).trimmed();
}

bool isCode(const QTextBlock& block) {
  return block.blockFormat().hasProperty(QTextFormat::BlockCodeFence) ||
         block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage) ||
         (block.blockFormat().nonBreakableLines() && block.charFormat().fontFixedPitch());
}

void formatText(QTextCursor& cursor, const QTextBlock& block, const QTextCharFormat& format) {
  cursor.setPosition(block.position());
  cursor.setPosition(block.position() + block.length() - 1, QTextCursor::KeepAnchor);
  cursor.mergeCharFormat(format);
}

void styleBlock(QTextCursor& cursor, const QTextBlock& block) {
  const Theme& theme = Theme::current();
  QTextBlockFormat shape = block.blockFormat();
  QTextCharFormat text;
  const QTextBlock next = block.next();
  if (const int level = shape.headingLevel(); level > 0) {
    static constexpr double kSizes[] = {22, 15.5, 13.5};
    text.setFont(uiFont(kSizes[std::min(level, 3) - 1], 650));
    text.setForeground(theme.text);
    text.setAnchor(true);
    text.setAnchorNames({guideAnchor(block.text())});
    shape.setTopMargin(level == 1 ? 0 : 22);
    shape.setBottomMargin(level == 1 ? 10 : 6);
  } else if (isCode(block)) {
    QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    fixed.setPointSizeF(12 * 72.0 / 96.0);
    text.setFont(fixed);
    text.setForeground(theme.text);
    shape.setBackground(theme.soft);
    shape.setLeftMargin(0);
    shape.setTextIndent(10);
    shape.setTopMargin(isCode(block.previous()) ? 0 : 6);
    shape.setBottomMargin(next.isValid() && isCode(next) ? 0 : 10);
  } else {
    shape.setLineHeight(135, QTextBlockFormat::ProportionalHeight);
    shape.setTopMargin(0);
    shape.setBottomMargin(block.textList() != nullptr ? 4 : 9);
  }
  cursor.setPosition(block.position());
  cursor.setBlockFormat(shape);
  if (text.propertyCount() > 0) formatText(cursor, block, text);
}

/// Sets the code background for inline code and the accent colour for links.
void styleSpans(QTextCursor& cursor, const QTextBlock& block) {
  const Theme& theme = Theme::current();
  struct Span {
    int at, length;
    QTextCharFormat format;
  };
  QList<Span> spans;
  for (auto it = block.begin(); !it.atEnd(); ++it) {
    const QTextFragment part = it.fragment();
    QTextCharFormat format;
    if (part.charFormat().isAnchor() && !part.charFormat().anchorHref().isEmpty()) {
      format.setForeground(theme.accent);
      format.setFontUnderline(false);
    }
    if (part.charFormat().fontFixedPitch() && !isCode(block)) {
      QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
      fixed.setPointSizeF(12 * 72.0 / 96.0);
      format.setFont(fixed);
      format.setBackground(theme.soft);
    }
    if (format.propertyCount() > 0) spans << Span{part.position(), part.length(), format};
  }
  for (const Span& span : spans) {
    cursor.setPosition(span.at);
    cursor.setPosition(span.at + span.length, QTextCursor::KeepAnchor);
    cursor.mergeCharFormat(span.format);
  }
}

void styleTables(QTextFrame* frame) {
  const Theme& theme = Theme::current();
  for (QTextFrame* child : frame->childFrames()) {
    if (auto* table = qobject_cast<QTextTable*>(child)) {
      QTextTableFormat format = table->format();
      format.setBorderCollapse(true);
      format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
      format.setBorderBrush(theme.line);
      format.setBorder(1);
      format.setCellPadding(6);
      format.setCellSpacing(0);
      format.setTopMargin(4);
      format.setBottomMargin(12);
      table->setFormat(format);
      for (int column = 0; column < table->columns(); ++column) {
        QTextTableCell cell = table->cellAt(0, column);
        QTextCharFormat head = cell.format();
        head.setBackground(theme.frame);
        cell.setFormat(head);
      }
    }
    styleTables(child);
  }
}

}  // namespace

QString guideText(const QString& name) { return guideText(name, panelLanguage()); }

QString guideText(const QString& name, const QString& language) {
  loadGuide();
  QFile file(fileOf(name, language));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QString text = QString::fromUtf8(file.readAll());
  // The first line of a translation names the English text that it is of.
  if (text.startsWith(QLatin1String("<!--"))) {
    text.remove(0, text.indexOf(QLatin1String("-->")) + 3);
    text = text.trimmed() + QLatin1Char('\n');
  }
  // Pictures that a translation shares with the English page are in the folder above its own.
  return text.replace(QLatin1String("](../pictures/"), QLatin1String("](pictures/"));
}

bool isGuideTranslated(const QString& name, const QString& language) {
  loadGuide();
  return language.isEmpty() || fileOf(name, language) != QString(kFolder + name);
}

QImage guidePicture(const QString& name, qreal pixelRatio) {
  loadGuide();
  QImage picture(fileOf(name, panelLanguage()));
  // Text scales a picture without smoothing, so it gets one of the size that it shows.
  const int width = std::min(picture.width(), qRound(kPictureWidth * pixelRatio));
  if (!picture.isNull()) picture = picture.scaledToWidth(width, Qt::SmoothTransformation);
  picture.setDevicePixelRatio(static_cast<qreal>(width) / std::min(width, kPictureWidth));
  return picture;
}

QList<GuidePage> guidePages() {
  loadGuide();
  QStringList names = QDir(kFolder).entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name);
  QStringList ordered{kIndex};
  static const QRegularExpression link(QStringLiteral("\\]\\(([a-z0-9-]+\\.md)\\)"));
  for (auto it = link.globalMatch(guideText(kIndex)); it.hasNext();) {
    const QString name = it.next().captured(1);
    if (names.contains(name) && !ordered.contains(name)) ordered << name;
  }
  for (const QString& name : names) {
    if (!ordered.contains(name)) ordered << name;
  }
  QList<GuidePage> pages;
  for (const QString& name : ordered) pages << GuidePage{name, titleOf(guideText(name))};
  return pages;
}

QString guideAnchor(const QString& heading) {
  QString anchor;
  for (const QChar letter : heading.toLower()) {
    if (letter.isLetterOrNumber()) {
      anchor += letter;
    } else if (letter.isSpace() || letter == QLatin1Char('-')) {
      anchor += QLatin1Char('-');
    }
  }
  return anchor;
}

QList<GuideHeading> guideHeadings(const QString& markdown) {
  static const QRegularExpression lines(QStringLiteral("^(?:(#{1,6}) +(.+)|```.*)$"),
                                        QRegularExpression::MultilineOption);
  QList<GuideHeading> headings;
  bool isCode = false;
  for (const QRegularExpressionMatch& line : lines.globalMatch(markdown)) {
    const auto level = static_cast<int>(line.capturedLength(1));
    if (level == 0) {
      isCode = !isCode;
    } else if (!isCode) {
      headings << GuideHeading{level, line.captured(2).remove(QLatin1Char('`')).trimmed()};
    }
  }
  return headings;
}

QStringList guideAnchors(const QString& markdown) {
  QStringList anchors;
  for (const GuideHeading& heading : guideHeadings(markdown)) anchors << guideAnchor(heading.text);
  return anchors;
}

void showGuide(QTextDocument& document, const QString& markdown) {
  document.setDefaultFont(uiFont(13));
  document.setDocumentMargin(28);
  document.setMarkdown(markdown);
  QTextFrameFormat page = document.rootFrame()->frameFormat();
  page.setBackground(Theme::current().canvas);
  document.rootFrame()->setFrameFormat(page);
  QTextCursor cursor(&document);
  cursor.beginEditBlock();
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    styleSpans(cursor, block);
    styleBlock(cursor, block);
  }
  styleTables(document.rootFrame());
  cursor.endEditBlock();
  document.clearUndoRedoStacks();
}

}  // namespace tessera::ui
