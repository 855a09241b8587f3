// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/batch_strip.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <utility>

#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kTitle = 20, kHeight = 34, kBatchGap = 14, kShareSlit = 1;

QString words(const DataView::Share& share) {
  QString text = BatchStrip::tr("dp %1: positions %2 to %3")
                     .arg(share.dp)
                     .arg(format::count(share.begin), format::count(share.end - 1));
  if (!share.devices.empty()) text += QStringLiteral(", ") + deviceNames(share.devices);
  return text;
}

}  // namespace

BatchStrip::BatchStrip(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Batches and their ranks"));
}

void BatchStrip::setBatches(std::vector<Batch> batches) {
  m_batches = std::move(batches);
  QStringList lines;
  for (const Batch& batch : m_batches) {
    QStringList shares;
    for (const DataView::Share& share : batch.shares) shares << words(share);
    lines << batch.title + QStringLiteral(": ") + shares.join(QStringLiteral("; "));
  }
  setAccessibleDescription(lines.join(QLatin1Char('\n')));
  update();
}

QRectF BatchStrip::batchArea(std::size_t index) const {
  const auto count = static_cast<double>(m_batches.size());
  const double wide = (width() - kBatchGap * (count - 1)) / count;
  return {static_cast<double>(index) * (wide + kBatchGap), kTitle, wide, kHeight};
}

std::vector<BatchStrip::Cell> BatchStrip::cells() const {
  std::vector<Cell> out;
  for (std::size_t i = 0; i < m_batches.size(); ++i) {
    const Batch& batch = m_batches[i];
    if (batch.shares.empty()) continue;
    const QRectF area = batchArea(i);
    const std::int64_t begin = batch.shares.front().begin;
    const auto all = static_cast<double>(batch.shares.back().end - begin);
    for (const DataView::Share& share : batch.shares) {
      const double left = area.width() * static_cast<double>(share.begin - begin) / all;
      const double right = area.width() * static_cast<double>(share.end - begin) / all;
      out.push_back(
          {QRectF(area.left() + left, area.top(), right - left - kShareSlit, area.height()), &share,
           batch.done});
    }
  }
  return out;
}

void BatchStrip::paintEvent(QPaintEvent*) {
  if (m_batches.empty()) return;
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setFont(uiFont(11.5));
  for (std::size_t i = 0; i < m_batches.size(); ++i) {
    painter.setPen(m_batches[i].done ? theme.dim : theme.text);
    const QRectF area = batchArea(i);
    painter.drawText(QRectF(area.left(), 0, area.width(), kTitle - 4),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(m_batches[i].title, Qt::ElideRight,
                                                      static_cast<int>(area.width())));
  }
  for (const Cell& cell : cells()) {
    const int piece = static_cast<int>(cell.share->dp);
    const QColor fill = blend(identity(piece), theme.canvas, cell.done ? 0.35 : 1.0);
    painter.fillRect(cell.area, fill);
    paintPattern(painter, cell.area, pattern(piece), fill);
    const QString full =
        tr("dp %1 · %2").arg(cell.share->dp).arg(cell.share->end - cell.share->begin);
    const QString brief = QString::number(cell.share->dp);
    const double room = cell.area.width() - 6;
    const QFontMetrics metrics = painter.fontMetrics();
    const QString text = metrics.horizontalAdvance(full) <= room    ? full
                         : metrics.horizontalAdvance(brief) <= room ? brief
                                                                    : QString();
    painter.setPen(ink(fill));
    painter.drawText(cell.area, Qt::AlignCenter, text);
  }
}

bool BatchStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString text;
  for (const Cell& cell : cells()) {
    if (cell.area.contains(help->pos())) text = words(*cell.share);
  }
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace tessera::ui
