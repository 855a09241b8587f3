// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/legend.h"

#include <QPainter>
#include <QStringList>
#include <utility>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kSwatch = 12;
constexpr int kGap = 16;

int widthOf(const QFontMetrics& metrics, const QString& text) {
  return kSwatch + 6 + metrics.horizontalAdvance(text) + kGap;
}

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void Legend::setEntries(std::vector<MeshScene::LegendEntry> entries) {
  if (entries == m_entries) return;
  m_entries = std::move(entries);
  QStringList names;
  for (const MeshScene::LegendEntry& entry : m_entries) names << entry.text;
  setAccessibleName(tr("Pieces: %1").arg(names.join(QStringLiteral(", "))));
  setToolTip(names.join(QLatin1Char('\n')));
  updateGeometry();
  update();
}

QSize Legend::sizeHint() const {
  const QFontMetrics metrics(uiFont(11.5));
  int wide = 0;
  for (const MeshScene::LegendEntry& entry : m_entries) wide += widthOf(metrics, entry.text);
  return {qBound(60, wide, 520), 20};
}

void Legend::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont font = uiFont(11.5);
  painter.setFont(font);
  const QFontMetrics metrics(font);
  int x = 0;
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    const MeshScene::LegendEntry& entry = m_entries[i];
    const int wide = widthOf(metrics, entry.text);
    const int rest = static_cast<int>(m_entries.size() - i);
    const QString more = tr("+%1 more").arg(rest);
    const int room = width() - x - (rest > 1 ? metrics.horizontalAdvance(more) + kGap : 0);
    if (wide - kGap > room) {
      painter.setPen(theme.dim);
      painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignLeft | Qt::AlignVCenter, more);
      return;
    }
    const QRectF swatch(x, (height() - kSwatch) / 2.0, kSwatch, kSwatch);
    painter.setPen(theme.line);
    painter.setBrush(identity(entry.piece));
    painter.drawRoundedRect(swatch, 3, 3);
    paintPattern(painter, swatch, pattern(entry.piece), ink(identity(entry.piece)));
    painter.setPen(theme.dim);
    painter.drawText(QRect(x + kSwatch + 6, 0, wide, height()), Qt::AlignLeft | Qt::AlignVCenter,
                     entry.text);
    x += wide;
  }
}

}  // namespace tessera::ui
