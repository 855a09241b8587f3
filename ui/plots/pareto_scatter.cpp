// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/pareto_scatter.h"

#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ui/format.h"
#include "ui/models/candidate_table_model.h"
#include "ui/plots/pareto_front.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kLeft = 42, kScatterTop = 18, kRight = 10, kBottom = 22;
constexpr double kPointReach = 9;  // of the pointer, pixels

struct Span {
  double low = 0, high = 1;
  double at(double value, double from, double to) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

// Returns a tick step of 1, 2 or 5 times a power of ten, for about `count` ticks.
double tickStep(const Span& span, int count) {
  const double raw = (span.high - span.low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

Span spanOf(const std::vector<engine::Candidate>& candidates, double engine::Candidate::*value,
            bool fromZero) {
  Span span{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const engine::Candidate& candidate : candidates) {
    span.low = std::min(span.low, candidate.*value);
    span.high = std::max(span.high, candidate.*value);
  }
  if (fromZero) span.low = 0;
  const double margin = std::max((span.high - span.low) * 0.12, 1e-6 + span.high * 0.02);
  if (!fromZero) span.low = std::max(0.0, span.low - margin);
  span.high += margin;
  return span;
}

}  // namespace

ParetoScatter::ParetoScatter(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Configurations by step time and pause"));
}

void ParetoScatter::setCandidates(std::vector<engine::Candidate> candidates) {
  if (candidates == m_candidates) return;
  m_candidates = std::move(candidates);
  m_hovered.reset();
  if (m_chosen && *m_chosen >= static_cast<int>(m_candidates.size())) m_chosen.reset();
  update();
}

void ParetoScatter::setChosen(std::optional<int> index) {
  if (index == m_chosen) return;
  m_chosen = index;
  const bool known = index && *index < static_cast<int>(m_words.size());
  setAccessibleDescription(known ? m_words[static_cast<std::size_t>(*index)] : QString());
  update();
}

void ParetoScatter::setHovered(std::optional<int> index) {
  if (index == m_hovered) return;
  m_hovered = index;
  update();
}

void ParetoScatter::setOutdated(bool outdated) {
  if (outdated == m_outdated) return;
  m_outdated = outdated;
  update();
}

QRectF ParetoScatter::plotArea() const {
  return QRectF(rect()).adjusted(kLeft, kScatterTop, -kRight, -kBottom);
}

QPointF ParetoScatter::pointOf(int index) const {
  const QRectF area = plotArea();
  const engine::Candidate& candidate = m_candidates[static_cast<std::size_t>(index)];
  const Span x = spanOf(m_candidates, &engine::Candidate::step_seconds, false);
  const Span y = spanOf(m_candidates, &engine::Candidate::pause_seconds, true);
  return {x.at(candidate.step_seconds, area.left(), area.right()),
          y.at(moveSeconds(candidate), area.bottom(), area.top())};
}

std::optional<int> ParetoScatter::indexAt(QPointF position) const {
  std::optional<int> best;
  double least = kPointReach * kPointReach;
  for (int i = 0; i < static_cast<int>(m_candidates.size()); ++i) {
    const QPointF d = pointOf(i) - position;
    const double distance = d.x() * d.x() + d.y() * d.y();
    if (distance <= least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

void ParetoScatter::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  const QRectF area = plotArea();
  const QFont small = uiFont(10.5);
  p.setFont(small);
  p.setPen(theme.dim);
  p.drawText(QPointF(0, 11), tr("pause, ≈ s"));
  if (m_candidates.empty()) return;
  p.drawText(QRectF(area.left(), area.bottom() + 4, area.width(), kBottom),
             Qt::AlignRight | Qt::AlignTop, tr("step, ≈ s"));
  p.setOpacity(m_outdated ? 0.45 : 1.0);

  const Span x = spanOf(m_candidates, &engine::Candidate::step_seconds, false);
  const Span y = spanOf(m_candidates, &engine::Candidate::pause_seconds, true);
  const auto label = [](double value, double step) {
    const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
    return QLocale().toString(value, 'f', decimals);
  };
  const double yStep = tickStep(y, 3), xStep = tickStep(x, 4);
  for (double value = 0; value <= y.high; value += yStep) {
    const double at = std::round(y.at(value, area.bottom(), area.top())) + 0.5;
    p.setPen(QPen(value == 0 ? theme.line : theme.soft, 1));
    p.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
    p.setPen(theme.dim);
    p.drawText(QRectF(0, at - 8, kLeft - 8, 16), Qt::AlignRight | Qt::AlignVCenter,
               label(value, yStep));
  }
  const double unitWidth = QFontMetricsF(small).horizontalAdvance(tr("step, ≈ s")) + 8;
  for (double value = std::ceil(x.low / xStep) * xStep; value <= x.high; value += xStep) {
    const double at = std::round(x.at(value, area.left(), area.right())) + 0.5;
    if (at > area.right() - unitWidth) break;
    p.setPen(QPen(theme.line, 1));
    p.drawLine(QPointF(at, area.bottom()), QPointF(at, area.bottom() + 3));
    p.setPen(theme.dim);
    p.drawText(QRectF(at - 30, area.bottom() + 4, 60, kBottom), Qt::AlignHCenter | Qt::AlignTop,
               label(value, xStep));
  }

  const std::vector<int> front = paretoFront(m_candidates);
  p.setPen(QPen(blend(theme.accent, theme.panel, 0.55), 1.4, Qt::SolidLine, Qt::RoundCap,
                Qt::RoundJoin));
  for (std::size_t i = 1; i < front.size(); ++i)
    p.drawLine(pointOf(front[i - 1]), pointOf(front[i]));

  for (int i = 0; i < static_cast<int>(m_candidates.size()); ++i) {
    const engine::Candidate& candidate = m_candidates[static_cast<std::size_t>(i)];
    const QPointF at = pointOf(i);
    const bool onFront = std::find(front.begin(), front.end(), i) != front.end();
    const bool chosen = m_chosen == i;
    const double grow = chosen || m_hovered == i ? 1.25 : 1.0;
    if (chosen) {
      p.setPen(Qt::NoPen);
      p.setBrush(theme.accentSoft);
      p.drawEllipse(at, 10, 10);
      p.setPen(QPen(theme.accent, 1.5));
      p.setBrush(Qt::NoBrush);
      p.drawEllipse(at, 10, 10);
    } else if (m_hovered == i) {
      p.setPen(QPen(theme.faint, 1));
      p.setBrush(Qt::NoBrush);
      p.drawEllipse(at, 10, 10);
    }
    switch (fitOf(candidate)) {
      case Fit::Fits:
        p.setPen(QPen(theme.panel, 1));
        p.setBrush(onFront ? theme.accent : theme.dim);
        p.drawEllipse(at, 4.5 * grow, 4.5 * grow);
        break;
      case Fit::Tight: {
        const double r = 5 * grow;
        QPainterPath path(at + QPointF(0, -r));
        path.lineTo(at + QPointF(r, r * 0.8));
        path.lineTo(at + QPointF(-r, r * 0.8));
        path.closeSubpath();
        p.fillPath(path, theme.warn);
        break;
      }
      case Fit::TooLarge: {
        const double r = 3.5 * grow;
        p.setPen(QPen(theme.bad, 1.8, Qt::SolidLine, Qt::RoundCap));
        p.drawLine(at + QPointF(-r, -r), at + QPointF(r, r));
        p.drawLine(at + QPointF(-r, r), at + QPointF(r, -r));
        break;
      }
    }
  }
  // At most one label: for the hovered point, else the selected, else the recommended one.
  std::optional<int> named = m_hovered ? m_hovered : m_chosen;
  for (int i = 0; i < static_cast<int>(m_candidates.size()) && !named; ++i) {
    if (m_candidates[static_cast<std::size_t>(i)].recommended) named = i;
  }
  if (named) {
    const engine::Candidate& candidate = m_candidates[static_cast<std::size_t>(*named)];
    const QFont font = uiFont(11, QFont::Medium);
    const QString text = format::shape(candidate.mesh);
    const double wide = QFontMetricsF(font).horizontalAdvance(text);
    QPointF at = pointOf(*named) + QPointF(14, -7);
    if (at.x() + wide > width() - 2) at.setX(pointOf(*named).x() - 14 - wide);
    at.setY(std::max(at.y(), 11.0));
    p.setFont(font);
    p.setPen(Qt::NoPen);
    p.setBrush(theme.panel);
    p.drawRoundedRect(QRectF(at.x() - 3, at.y() - 11, wide + 6, 15), 3, 3);
    p.setPen(theme.text);
    p.drawText(at, text);
  }
  if (hasFocus()) {
    p.setOpacity(1);
    p.setPen(QPen(theme.accent, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
  }
}

void ParetoScatter::mouseMoveEvent(QMouseEvent* event) {
  const std::optional<int> index = indexAt(event->position());
  setCursor(index ? Qt::PointingHandCursor : Qt::ArrowCursor);
  const bool known = index && *index < static_cast<int>(m_words.size());
  setToolTip(known ? m_words[static_cast<std::size_t>(*index)] : QString());
  if (index == m_hovered) return;
  setHovered(index);
  emit candidateHovered(index);
}

void ParetoScatter::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto index = indexAt(event->position())) emit candidateChosen(*index);
}

void ParetoScatter::leaveEvent(QEvent* event) {
  setHovered(std::nullopt);
  emit candidateHovered(std::nullopt);
  QWidget::leaveEvent(event);
}

void ParetoScatter::keyPressEvent(QKeyEvent* event) {
  int direction = 0;
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Up:
      direction = -1;
      break;
    case Qt::Key_Right:
    case Qt::Key_Down:
      direction = 1;
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  if (m_candidates.empty()) return;
  std::vector<int> order(m_candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
    return m_candidates[static_cast<std::size_t>(a)].step_seconds <
           m_candidates[static_cast<std::size_t>(b)].step_seconds;
  });
  const auto at = m_chosen ? std::find(order.begin(), order.end(), *m_chosen) : order.end();
  const std::ptrdiff_t next = at == order.end() ? (direction > 0 ? 0 : std::ssize(order) - 1)
                                                : at - order.begin() + direction;
  if (next >= 0 && next < std::ssize(order)) {
    emit candidateChosen(order[static_cast<std::size_t>(next)]);
  }
}

}  // namespace tessera::ui
