// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/flow_bars.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kFlowRow = 26;
constexpr int kNameWidth = 104;
constexpr int kRateWidth = 76;

QString flowName(const engine::FlowStatus& flow) {
  return format::device(flow.source) + QStringLiteral(" → ") + format::device(flow.destination);
}

}  // namespace

FlowBars::FlowBars(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void FlowBars::setFlows(std::vector<engine::FlowStatus> flows) { set(std::move(flows), false); }

void FlowBars::setBytes(std::vector<engine::FlowStatus> flows) { set(std::move(flows), true); }

void FlowBars::set(std::vector<engine::FlowStatus> flows, bool showBytes) {
  if (flows == m_flows && showBytes == m_showBytes) return;
  const bool resized = flows.size() != m_flows.size();
  m_flows = std::move(flows);
  m_showBytes = showBytes;
  m_largest = 0;
  for (const engine::FlowStatus& flow : m_flows) m_largest = std::max(m_largest, flow.bytes_total);
  QStringList names;
  for (const engine::FlowStatus& flow : m_flows) {
    if (names.size() == kMaxRows) break;
    names << flowName(flow) + QLatin1Char(' ') +
                 (m_showBytes ? format::bytes(flow.bytes_total) : format::percent(fraction(flow)));
  }
  setAccessibleName(names.join(QStringLiteral(", ")));
  if (resized) updateGeometry();
  update();
}

double FlowBars::fraction(const engine::FlowStatus& flow) const {
  const std::int64_t whole = m_showBytes ? m_largest : flow.bytes_total;
  const std::int64_t part = m_showBytes ? flow.bytes_total : flow.bytes_done;
  if (whole <= 0) return 0;
  return std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0);
}

QSize FlowBars::sizeHint() const {
  const int rows = std::min(static_cast<int>(m_flows.size()), kMaxRows);
  const bool more = static_cast<int>(m_flows.size()) > kMaxRows;
  return {280, kFlowRow * (rows + (more ? 1 : 0))};
}

void FlowBars::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont font = uiFont(12);
  painter.setFont(font);
  int y = 0;
  for (const engine::FlowStatus& flow : m_flows) {
    if (y == kFlowRow * kMaxRows) break;
    painter.setPen(theme.text);
    painter.drawText(QRect(0, y, kNameWidth, kFlowRow), Qt::AlignLeft | Qt::AlignVCenter,
                     flowName(flow));
    const QRectF track(kNameWidth, y + kFlowRow / 2 - 4, width() - kNameWidth - kRateWidth, 8);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.track);
    painter.drawRoundedRect(track, 4, 4);
    if (const double part = fraction(flow); part > 0) {
      painter.setBrush(theme.accent);
      painter.drawRoundedRect(
          QRectF(track.left(), track.top(), std::max(8.0, track.width() * part), 8), 4, 4);
    }
    const bool whole = flow.bytes_done >= flow.bytes_total;
    painter.setPen(theme.dim);
    painter.drawText(QRect(width() - kRateWidth, y, kRateWidth, kFlowRow),
                     Qt::AlignRight | Qt::AlignVCenter,
                     m_showBytes                 ? format::bytes(flow.bytes_total)
                     : whole                     ? tr("done")
                     : flow.bytes_per_second > 0 ? format::rate(flow.bytes_per_second)
                                                 : QStringLiteral("—"));
    y += kFlowRow;
  }
  const int rest = static_cast<int>(m_flows.size()) - kMaxRows;
  if (rest > 0) {
    painter.setPen(theme.faint);
    painter.drawText(QRect(0, y, width(), kFlowRow), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("and %1 more").arg(rest));
  }
}

}  // namespace tessera::ui
