// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/pipeline_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

using BarKind = engine::PipelineBar::Kind;

constexpr int kRowsHeight = 160;                                // of many stages together
constexpr double kMostRow = 20, kLeastRow = 3, kRowGap = 0.15;  // a gap is a share of the row
constexpr int kStageWidth = 26;
constexpr int kAxisHeight = 20;
constexpr int kLegendRowHeight = 18, kLegendSwatch = 9, kLegendGap = 12;
constexpr double kLeastPiece = 3;  // pixels: narrower bars are joined
constexpr double kLeastLabelRow = 12;
constexpr qsizetype kMostToldStages = 16;

QColor colourOf(BarKind kind) {
  const Theme& theme = Theme::current();
  switch (kind) {
    case BarKind::kForward:
      return theme.accent;
    case BarKind::kBackward:
      return blend(theme.accent, theme.panel, 0.5);
    case BarKind::kSend:
      return blend(theme.text, theme.panel, 0.75);
    case BarKind::kIdle:
      return theme.track;
  }
  return theme.track;
}

QColor restColour() { return blend(Theme::current().faint, Theme::current().panel, 0.6); }

/// The names of the legend with their colours.
std::vector<std::pair<QString, QColor>> legendOf(const engine::PipelineSchedule& schedule,
                                                 double rest) {
  const bool sends = std::ranges::any_of(
      schedule.bars, [](const auto& bar) { return bar.kind == BarKind::kSend; });
  std::vector<std::pair<QString, QColor>> entries = {
      {PipelineChart::tr("forward"), colourOf(BarKind::kForward)},
      {PipelineChart::tr("backward"), colourOf(BarKind::kBackward)}};
  if (sends) entries.emplace_back(PipelineChart::tr("send"), colourOf(BarKind::kSend));
  entries.emplace_back(PipelineChart::tr("bubble (waits)"), colourOf(BarKind::kIdle));
  if (rest > 0) entries.emplace_back(PipelineChart::tr("sums and update"), restColour());
  return entries;
}

QString secondsText(const PipelineChart::Piece& piece) {
  QStringList parts;
  const auto add = [&](BarKind kind, const QString& text) {
    if (piece.of(kind) > 0) parts << text.arg(format::seconds(piece.of(kind)));
  };
  add(BarKind::kForward, PipelineChart::tr("forward %1"));
  add(BarKind::kBackward, PipelineChart::tr("backward %1"));
  add(BarKind::kSend, PipelineChart::tr("send %1"));
  add(BarKind::kIdle, PipelineChart::tr("waits %1"));
  return parts.join(QStringLiteral(", "));
}

QString wordsOf(const PipelineChart::Piece& piece) {
  const QString stage = format::count(piece.stage), first = format::count(piece.firstMicroBatch);
  const QString what = secondsText(piece);
  if (piece.firstMicroBatch != piece.lastMicroBatch) {
    return PipelineChart::tr("stage %1, micro-batches %2 to %3: %4")
        .arg(stage, first, format::count(piece.lastMicroBatch), what);
  }
  return PipelineChart::tr("stage %1, micro-batch %2: %3").arg(stage, first, what) +
         QLatin1Char('\n') +
         PipelineChart::tr("from %1 to %2")
             .arg(piece.begin > 0 ? format::seconds(piece.begin) : format::count(0),
                  format::seconds(piece.end));
}

/// The kinds of a piece above each other, each as high as its share of the time.
void paintPiece(QPainter& painter, const PipelineChart::Piece& piece, const QRectF& area) {
  double y = area.top();
  const double all = piece.end - piece.begin;
  if (all <= 0) return;
  for (const BarKind kind : {BarKind::kForward, BarKind::kBackward, BarKind::kSend}) {
    const double high = area.height() * piece.of(kind) / all;
    if (high <= 0) continue;
    painter.fillRect(QRectF(area.left(), y, area.width(), high), colourOf(kind));
    y += high;
  }
}

}  // namespace

std::vector<PipelineChart::Piece> PipelineChart::pieces(const engine::PipelineSchedule& schedule,
                                                        double least) {
  std::vector<Piece> out;
  bool joins = false;  // whether the last piece takes further short bars
  for (const engine::PipelineBar& bar : schedule.bars) {
    const bool isShort = bar.seconds() < least;
    joins = joins && isShort && out.back().stage == bar.stage &&
            out.back().end - out.back().begin < least;
    if (!joins) {
      out.push_back({.stage = bar.stage,
                     .firstMicroBatch = bar.micro_batch,
                     .lastMicroBatch = bar.micro_batch,
                     .begin = bar.begin});
    }
    Piece& piece = out.back();
    piece.firstMicroBatch = std::min(piece.firstMicroBatch, bar.micro_batch);
    piece.lastMicroBatch = std::max(piece.lastMicroBatch, bar.micro_batch);
    piece.end = bar.end;
    piece.seconds[static_cast<std::size_t>(bar.kind)] += bar.seconds();
    ++piece.bars;
    joins = isShort;
  }
  return out;
}

PipelineChart::PipelineChart(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Schedule of a step on the pipeline"));
}

void PipelineChart::setSchedule(engine::PipelineSchedule schedule, double rest) {
  if (schedule == m_schedule && rest == m_rest) return;
  m_schedule = std::move(schedule);
  m_rest = rest;
  QStringList lines;
  // Without a limit each stage is one piece.
  for (const Piece& stage : pieces(m_schedule, 2 * m_schedule.seconds + 1)) {
    if (lines.size() == kMostToldStages) break;
    lines << tr("stage %1: %2").arg(format::count(stage.stage), secondsText(stage));
  }
  setAccessibleDescription(lines.join(QLatin1Char('\n')));
  updateGeometry();
  update();
}

double PipelineChart::rowHeight() const {
  const auto stages = static_cast<double>(m_schedule.stages);
  return std::clamp(kRowsHeight / stages, kLeastRow, kMostRow);
}

double PipelineChart::least() const {
  return total() * kLeastPiece / std::max(1, width() - kStageWidth);
}

QRectF PipelineChart::area(std::int64_t stage, double begin, double end) const {
  const double wide = width() - kStageWidth, row = rowHeight();
  const double all = total() > 0 ? total() : 1;
  const double left = kStageWidth + wide * begin / all;
  return {left, static_cast<double>(stage) * row, wide * (end - begin) / all, row * (1 - kRowGap)};
}

int PipelineChart::legendRows(int width) const {
  const QFontMetrics metrics(uiFont(12));
  int rows = 1, x = 0;
  for (const auto& [name, colour] : legendOf(m_schedule, m_rest)) {
    const int wide = kLegendSwatch + 6 + metrics.horizontalAdvance(name);
    if (x > 0 && x + wide > width) {
      ++rows;
      x = 0;
    }
    x += wide + kLegendGap;
  }
  return rows;
}

QSize PipelineChart::sizeHint() const { return {300, heightForWidth(300)}; }

int PipelineChart::heightForWidth(int width) const {
  const double rows = rowHeight() * static_cast<double>(m_schedule.stages);
  return static_cast<int>(rows) + kAxisHeight + kLegendRowHeight * legendRows(width);
}

void PipelineChart::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  const double row = rowHeight();
  for (std::int64_t s = 0; s < m_schedule.stages; ++s) {
    painter.fillRect(area(s, 0, m_schedule.seconds), colourOf(BarKind::kIdle));
    if (m_rest > 0) painter.fillRect(area(s, m_schedule.seconds, total()), restColour());
  }
  painter.setFont(uiFont(10.5));
  const QFontMetricsF metrics(painter.font());
  for (const Piece& piece : pieces(m_schedule, least())) {
    QRectF bar = area(piece.stage, piece.begin, piece.end);
    const bool isPass =
        piece.bars == 1 && piece.of(BarKind::kIdle) <= 0 && piece.of(BarKind::kSend) <= 0;
    if (isPass && bar.width() > 2 * kLeastPiece) bar.setWidth(bar.width() - 1);
    paintPiece(painter, piece, bar);
    const QString number = format::count(piece.firstMicroBatch);
    if (!isPass || row < kLeastLabelRow || metrics.horizontalAdvance(number) + 4 > bar.width())
      continue;
    painter.setPen(
        ink(colourOf(piece.of(BarKind::kForward) > 0 ? BarKind::kForward : BarKind::kBackward)));
    painter.drawText(bar, Qt::AlignCenter, number);
  }

  painter.setFont(uiFont(12));
  painter.setPen(theme.dim);
  // Of low rows the first and the last one have numbers.
  const bool isEach = row >= kLeastLabelRow;
  for (std::int64_t s = 0; s < m_schedule.stages; ++s) {
    if (!isEach && s != 0 && s + 1 != m_schedule.stages) continue;
    const double middle = area(s, 0, 0).center().y();
    const double high = std::max(row, kLeastLabelRow);
    const double y = std::clamp(middle - high / 2, 0.0,
                                std::max(0.0, row * static_cast<double>(m_schedule.stages) - high));
    painter.drawText(QRectF(0, y, kStageWidth - 6, high), Qt::AlignRight | Qt::AlignVCenter,
                     format::count(s));
  }
  const int axis = static_cast<int>(row * static_cast<double>(m_schedule.stages));
  const QRect times(kStageWidth, axis, width() - kStageWidth, kAxisHeight);
  painter.drawText(times, Qt::AlignLeft | Qt::AlignVCenter, format::count(0));
  painter.drawText(times, Qt::AlignRight | Qt::AlignVCenter, format::seconds(total()));

  int x = 0, y = axis + kAxisHeight;
  const QFontMetrics legendMetrics(painter.font());
  for (const auto& [name, colour] : legendOf(m_schedule, m_rest)) {
    const int wide = kLegendSwatch + 6 + legendMetrics.horizontalAdvance(name);
    if (x > 0 && x + wide > width()) {
      x = 0;
      y += kLegendRowHeight;
    }
    const QRectF swatch(x, y + (kLegendRowHeight - kLegendSwatch) / 2.0, kLegendSwatch,
                        kLegendSwatch);
    painter.fillRect(swatch, colour);
    painter.setPen(theme.dim);
    painter.drawText(QRect(x + kLegendSwatch + 6, y, wide, kLegendRowHeight),
                     Qt::AlignLeft | Qt::AlignVCenter, name);
    x += wide + kLegendGap;
  }
}

QString PipelineChart::wordsAt(QPointF point) const {
  const double seconds = total() * (point.x() - kStageWidth) / std::max(1, width() - kStageWidth);
  const auto stage = static_cast<std::int64_t>(point.y() / rowHeight());
  if (point.y() < 0 || stage >= m_schedule.stages || seconds < 0 || seconds > total()) return {};
  if (seconds > m_schedule.seconds)
    return tr("sums of gradients and update: %1").arg(format::seconds(m_rest));
  for (const Piece& piece : pieces(m_schedule, least())) {
    if (piece.stage == stage && seconds <= piece.end) return wordsOf(piece);
  }
  return {};
}

bool PipelineChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), wordsAt(help->pos()), this);
  return true;
}

}  // namespace tessera::ui
