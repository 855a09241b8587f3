// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// draw_icons SVG FOLDER SIZE...: an icon as FOLDER/SIZE.png, for desktops that do not draw SVG.
/// A part of the build; it is not installed.

#include <QImage>
#include <QPainter>
#include <QString>
#include <QSvgRenderer>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: draw_icons SVG FOLDER SIZE...\n", stderr);
    return 2;
  }
  QSvgRenderer svg(QString::fromLocal8Bit(argv[1]));
  if (!svg.isValid()) {
    std::fprintf(stderr, "draw_icons: %s is not an SVG\n", argv[1]);
    return 1;
  }
  for (int i = 3; i < argc; ++i) {
    const QString size = QString::fromLatin1(argv[i]);
    QImage icon(size.toInt(), size.toInt(), QImage::Format_ARGB32_Premultiplied);
    icon.fill(Qt::transparent);
    QPainter painter(&icon);
    svg.render(&painter);
    painter.end();
    const QString file =
        QString::fromLocal8Bit(argv[2]) + QLatin1Char('/') + size + QStringLiteral(".png");
    if (!icon.save(file)) {
      std::fprintf(stderr, "draw_icons: cannot write %s\n", qPrintable(file));
      return 1;
    }
  }
  return 0;
}
