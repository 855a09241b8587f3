// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/palette_preview.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <limits>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kPreviewSwatch = 30, kSwatchHeight = 26, kPreviewGap = 4, kPreviewRow = 58;
constexpr int kStates = 4;
constexpr int kGroupGap = 20;
constexpr ColourVision kVisions[] = {ColourVision::Normal, ColourVision::Deutan,
                                     ColourVision::Protan, ColourVision::Tritan};

}  // namespace

PalettePreview::PalettePreview(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Preview of the colours under four kinds of colour vision"));
  const auto difference = [](ColourVision vision) {
    return QLocale().toString(smallestDifference(vision), 'f', 1);
  };
  setAccessibleDescription(
      tr("Smallest difference between two of the nine: normal %1, deutan %2, protan %3, tritan %4")
          .arg(difference(ColourVision::Normal), difference(ColourVision::Deutan),
               difference(ColourVision::Protan), difference(ColourVision::Tritan)));
}

QSize PalettePreview::sizeHint() const {
  return {(kNumHues + kStates) * (kPreviewSwatch + kPreviewGap) + kGroupGap,
          static_cast<int>(std::size(kVisions)) * kPreviewRow + 4};
}

double PalettePreview::smallestDifference(ColourVision vision) {
  double least = std::numeric_limits<double>::max();
  for (int a = 0; a < kNumHues; ++a) {
    for (int b = 0; b < a; ++b) {
      least = std::min(least,
                       colourDifference(asSeen(identity(a), vision), asSeen(identity(b), vision)));
    }
  }
  return least;
}

void PalettePreview::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  const QString names[] = {tr("Normal"), tr("Deutan: no green cones"), tr("Protan: no red cones"),
                           tr("Tritan: no blue cones")};
  const std::pair<QColor, QString> states[kStates] = {{theme.accent, QStringLiteral("▲")},
                                                      {theme.ok, QStringLiteral("✓")},
                                                      {theme.warn, QStringLiteral("!")},
                                                      {theme.bad, QStringLiteral("✕")}};
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t row = 0; row < std::size(kVisions); ++row) {
    const ColourVision vision = kVisions[row];
    const int top = static_cast<int>(row) * kPreviewRow;
    painter.setFont(uiFont(12.5, 500));
    painter.setPen(theme.text);
    painter.drawText(QRect(0, top, width(), 18), Qt::AlignLeft | Qt::AlignVCenter, names[row]);
    painter.setFont(uiFont(11));
    painter.setPen(theme.dim);
    painter.drawText(
        QRect(0, top, (kNumHues) * (kPreviewSwatch + kPreviewGap) - kPreviewGap, 18),
        Qt::AlignRight | Qt::AlignVCenter,
        tr("closest two ΔE %1").arg(QLocale().toString(smallestDifference(vision), 'f', 1)));
    const auto swatch = [&](int x, const QColor& color, const QString& text) {
      const QColor seen = asSeen(color, vision);
      const QRectF box(x + 0.5, top + 20.5, kPreviewSwatch - 1, kSwatchHeight - 1);
      painter.setPen(asSeen(theme.line, vision));
      painter.setBrush(seen);
      painter.drawRoundedRect(box, 5, 5);
      painter.setPen(ink(seen));
      painter.setFont(uiFont(11, 600));
      painter.drawText(box, Qt::AlignCenter, text);
    };
    for (int i = 0; i < kNumHues; ++i)
      swatch(i * (kPreviewSwatch + kPreviewGap), identity(i), QString::number(i));
    for (int i = 0; i < kStates; ++i) {
      swatch((kNumHues + i) * (kPreviewSwatch + kPreviewGap) + kGroupGap, states[i].first,
             states[i].second);
    }
  }
}

}  // namespace tessera::ui
