// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/placement_strip.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/format.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

constexpr double kBar = 24, kPlacementGap = 4, kEnds = 18;
constexpr double kRunSlit = 1;   // between neighbours, if there is room
constexpr double kAlike = 0.05;  // smaller differences between columns are ignored
constexpr int kMostSteps = 4096;
constexpr double kStale = 0.45;

bool looksAlike(const PlacedBytes::Column& a, const PlacedBytes::Column& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return (x.holders == y.holders || *x.holders == *y.holders) &&
           std::abs(x.part - y.part) < kAlike;
  });
}

}  // namespace

PlacementStrip::PlacementStrip(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("GPUs that hold the bytes"));
  setMouseTracking(true);
}

void PlacementStrip::setBytes(PlacedBytesPtr bytes) {
  m_bytes = std::move(bytes);
  makeSegments();
  QStringList words;
  for (int row = 0; m_bytes && row < std::min(m_bytes->rowCount(), 8); ++row) {
    const PlacedBytes::Run run = m_bytes->row(row);
    if (run.begin == run.end) continue;
    words << tr("bytes %1 to %2: %3")
                 .arg(format::count(run.begin), format::count(run.end - 1),
                      deviceNames(*run.holders));
  }
  setAccessibleDescription(words.join(QLatin1Char('\n')));
}

void PlacementStrip::setLooks(const DeviceLooks& looks) {
  if (looks == m_looks) return;
  m_looks = looks;
  update();
}

void PlacementStrip::setSelection(const std::set<ptc::DeviceId>& devices) {
  m_selection = devices;
  update();
}

void PlacementStrip::setStale(bool stale) {
  if (std::exchange(m_stale, stale) != stale) update();
}

int PlacementStrip::bars() const {
  return static_cast<int>(std::clamp<std::size_t>(m_copies, 1, kMostBars));
}

QSize PlacementStrip::sizeHint() const {
  return {300, static_cast<int>(bars() * (kBar + kPlacementGap) + kEnds)};
}

// A column that contains the end of one run and the start of the next is assigned to the larger run
// if both also have columns of their own; it is not drawn as a third segment.
void PlacementStrip::sharpenEnds() {
  for (std::size_t i = 0; i < m_segments.size(); ++i) {
    Segment& segment = m_segments[i];
    if (segment.to - segment.from > 1 || segment.shares.size() < 2) continue;
    const auto largest = std::ranges::max_element(segment.shares, {}, &PlacedBytes::Share::part);
    const PlacedBytes::Column whole{{largest->holders, 1}};
    if (i > 0 && looksAlike(m_segments[i - 1].shares, whole)) {
      m_segments[i - 1].to = segment.to;
    } else if (i + 1 < m_segments.size() && looksAlike(m_segments[i + 1].shares, whole)) {
      m_segments[i + 1].from = segment.from;
    } else {
      continue;
    }
    m_segments.erase(m_segments.begin() + static_cast<std::ptrdiff_t>(i--));
  }
}

void PlacementStrip::makeSegments() {
  m_segments.clear();
  m_copies = 0;
  if (m_bytes && m_bytes->end() > m_bytes->begin() && width() > 0) {
    int column = 0;
    for (PlacedBytes::Column& shares : m_bytes->columns(width())) {
      for (const auto& share : shares) m_copies = std::max(m_copies, share.holders->size());
      if (m_segments.empty() || !looksAlike(m_segments.back().shares, shares)) {
        m_segments.push_back({column, column, std::move(shares)});
      }
      m_segments.back().to = ++column;
    }
  }
  sharpenEnds();
  updateGeometry();
  update();
}

void PlacementStrip::resizeEvent(QResizeEvent*) { makeSegments(); }

void PlacementStrip::paintShare(QPainter& painter, const QRectF& area, ptc::DeviceId device,
                                bool labelled) const {
  const Theme& theme = Theme::current();
  const auto look = m_looks.find(device);
  const DeviceLook drawn = look == m_looks.end() ? DeviceLook{theme.faint} : look->second;
  const QColor fill = m_stale ? blend(drawn.color, theme.canvas, kStale) : drawn.color;
  painter.fillRect(area, fill);
  paintPattern(painter, area, drawn.pattern, fill, m_stale ? kStale : 1);
  if (m_selection.contains(device)) {
    const double wide = std::min(2.0, area.width() / 2);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.accent, wide));
    painter.drawRect(area.adjusted(wide / 2, wide / 2, -wide / 2, -wide / 2));
  }
  const QString name = format::device(device);
  const double room = area.width() - 10;
  if (!labelled || painter.fontMetrics().horizontalAdvance(name) > room) return;
  const QRectF text = area.adjusted(6, 0, -4, 0);
  if (drawn.pattern != Pattern::Solid) {
    // A plain background below the letters.
    const QRectF back(area.left() + 3, area.center().y() - 7,
                      painter.fontMetrics().horizontalAdvance(name) + 6, 14);
    painter.fillRect(back.intersected(area), fill);
  }
  painter.setPen(ink(fill));
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, name);
}

void PlacementStrip::paintBar(QPainter& painter, std::size_t copy, double top) const {
  for (const Segment& segment : m_segments) {
    const double slit = segment.to - segment.from > 6 && segment.to < width() ? kRunSlit : 0;
    const double wide = segment.to - segment.from - slit;
    const bool labelled = kBar / static_cast<double>(segment.shares.size()) >= 12;
    double y = top;
    for (const PlacedBytes::Share& share : segment.shares) {
      const QRectF area(segment.from, y, wide, kBar * share.part);
      y += area.height();
      if (copy < share.holders->size()) paintShare(painter, area, (*share.holders)[copy], labelled);
    }
  }
}

void PlacementStrip::paintEnds(QPainter& painter, double top) const {
  const Theme& theme = Theme::current();
  painter.setPen(theme.dim);
  painter.setFont(uiFont(11));
  const QRectF line(0, top, width(), kEnds - 2);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, format::count(m_bytes->begin()));
  const QString last = format::count(m_bytes->end());
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, last);
  if (m_copies <= static_cast<std::size_t>(kMostBars)) return;
  const QString more = tr("and %1 more replicas")
                           .arg(format::count(static_cast<std::int64_t>(m_copies) - kMostBars));
  painter.drawText(line, Qt::AlignHCenter | Qt::AlignVCenter, more);
}

void PlacementStrip::paintEvent(QPaintEvent*) {
  if (!m_bytes) return;
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setFont(uiFont(11));
  for (int bar = 0; bar < bars(); ++bar) {
    const double top = bar * (kBar + kPlacementGap);
    QPainterPath round;
    round.addRoundedRect(QRectF(0, top, width(), kBar), 4, 4);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipPath(round);
    painter.fillRect(QRectF(0, top, width(), kBar), theme.track);
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintBar(painter, static_cast<std::size_t>(bar), top);
  }
  painter.setClipping(false);
  paintEnds(painter, bars() * (kBar + kPlacementGap) - 1);
}

std::optional<PlacementStrip::Hit> PlacementStrip::hitAt(const QPointF& at) const {
  const auto bar = static_cast<int>(std::floor(at.y() / (kBar + kPlacementGap)));
  const double inBar = at.y() - bar * (kBar + kPlacementGap);
  if (bar < 0 || bar >= bars() || inBar >= kBar || at.x() < 0 || at.x() >= width()) return {};
  const auto segment =
      std::ranges::find_if(m_segments, [&](const Segment& s) { return at.x() < s.to; });
  if (segment == m_segments.end()) return {};
  // If several runs share the column, take the one at this height.
  double below = inBar / kBar;
  auto share = segment->shares.begin();
  while (below >= share->part && share + 1 != segment->shares.end()) below -= (share++)->part;
  const double bytes = static_cast<double>(m_bytes->end() - m_bytes->begin());
  const auto first =
      m_bytes->begin() + static_cast<std::int64_t>(bytes * std::floor(at.x()) / width());
  Hit hit{m_bytes->at(std::min(first, m_bytes->end() - 1)), {}};
  for (int step = 0; step < kMostSteps && *hit.run.holders != *share->holders; ++step) {
    if (hit.run.end >= m_bytes->end()) break;
    hit.run = m_bytes->at(hit.run.end);
  }
  const auto copy = static_cast<std::size_t>(bar);
  if (copy < hit.run.holders->size()) hit.device = (*hit.run.holders)[copy];
  return hit;
}

void PlacementStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto hit = hitAt(event->position()); hit && hit->device) {
    emit deviceChosen(*hit->device);
  }
}

void PlacementStrip::mouseMoveEvent(QMouseEvent* event) {
  const auto hit = hitAt(event->position());
  setCursor(hit && hit->device ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

bool PlacementStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto hit = hitAt(help->pos());
  if (!hit) {
    QToolTip::hideText();
    return true;
  }
  const PlacedBytes::Run& run = hit->run;
  const QString holders = run.holders->empty() ? tr("created when read")
                                               : tr("held by %1").arg(deviceNames(*run.holders));
  QToolTip::showText(help->globalPos(),
                     tr("%1\nbytes %2 to %3, %4\n%5")
                         .arg(run.what, format::count(run.begin), format::count(run.end - 1),
                              format::bytes(run.end - run.begin), holders),
                     this);
  return true;
}

}  // namespace tessera::ui
