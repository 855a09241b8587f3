// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera::app {
namespace {

constexpr double kWidth = 860, kHeight = 460;
constexpr double kLeft = 66, kRight = 24, kTop = 66, kBottom = 58;
constexpr std::size_t kCurves = 4;

constexpr std::string_view kStyle = R"(<style>
  text { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: #3c4149; }
  .title { font-size: 16px; font-weight: 600; fill: #1c1f24; }
  .ground { fill: #ffffff; } .grid { stroke: #e7e9ee; } .axis { stroke: #9aa1ac; }
  .mark { stroke: #9aa1ac; stroke-dasharray: 4 4; }
  .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
  .c0 { stroke: #1a7f4b; } .c1 { stroke: #c2410c; } .c2 { stroke: #2563eb; } .c3 { stroke: #8b919b; }
  @media (prefers-color-scheme: dark) {
    text { fill: #b9bfca; } .title { fill: #eceff4; }
    .ground { fill: #16181d; } .grid { stroke: #262a32; } .axis, .mark { stroke: #5d6470; }
    .c0 { stroke: #4ac27f; } .c1 { stroke: #f08a4b; } .c2 { stroke: #7aa7ff; }
  }
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;  // others are not allowed in XML
    }
  }
  return out;
}

class Picture {
 public:
  explicit Picture(const Plot& plot) : m_plot(plot), m_span(spanOf(plot)) {}

  std::string draw() {
    m_out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n",
        kWidth, kHeight, escaped(m_plot.title));
    m_out += kStyle;
    m_out += fmt::format("<rect class=\"ground\" width=\"{}\" height=\"{}\"/>\n", kWidth, kHeight);
    text(kLeft, 28, "start", m_plot.title, "title");
    axes();
    if (m_plot.mark) mark();
    // The first curve lies above the others.
    for (std::size_t i = m_plot.curves.size(); i-- > 0;) curve(i);
    legend();
    return m_out + "</svg>\n";
  }

 private:
  double x(double value) const {
    return kLeft + (value - m_span.left) / (m_span.right - m_span.left) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kTop + (m_span.high - value) / (m_span.high - m_span.low) * (kHeight - kTop - kBottom);
  }

  void line(const char* kind, double x0, double y0, double x1, double y1) {
    m_out += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x0,
        y0, x1, y1);
  }
  void text(double atX, double atY, const char* anchor, std::string_view words,
            const char* kind = nullptr) {
    m_out += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                         kind == nullptr ? std::string() : fmt::format(" class=\"{}\"", kind), atX,
                         atY, anchor, escaped(words));
  }

  void axes() {
    const Ticks values = ticksOf(m_span.low, m_span.high, 6);
    for (const double value : values.values) {
      line("grid", kLeft, y(value), kWidth - kRight, y(value));
      text(kLeft - 8, y(value) + 4.5, "end", tickText(value, values.decimals));
    }
    const Ticks across = ticksOf(m_span.left, m_span.right, 8);
    for (const double value : across.values) {
      line("axis", x(value), kHeight - kBottom, x(value), kHeight - kBottom + 5);
      text(x(value), kHeight - kBottom + 20, "middle", tickText(value, across.decimals));
    }
    line("axis", kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom);
    text((kLeft + kWidth - kRight) / 2, kHeight - 14, "middle", m_plot.xLabel);
    m_out += fmt::format(
        "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        (kTop + kHeight - kBottom) / 2, escaped(m_plot.yLabel));
  }

  void mark() {
    line("mark", x(*m_plot.mark), kTop, x(*m_plot.mark), kHeight - kBottom);
    const bool isLate = x(*m_plot.mark) > kWidth * 0.7;
    text(x(*m_plot.mark) + (isLate ? -6 : 6), kTop + 14, isLate ? "end" : "start",
         m_plot.markLabel);
  }

  void curve(std::size_t index) {
    if (m_plot.curves[index].points.empty()) return;
    m_out += fmt::format("<polyline class=\"curve c{}\" points=\"", index % kCurves);
    for (const auto& [px, py] : m_plot.curves[index].points)
      m_out += fmt::format("{:.1f},{:.1f} ", x(px), y(py));
    m_out.back() = '"';
    m_out += "/>\n";
  }

  void legend() {
    double at = kLeft;
    for (std::size_t i = 0; i < m_plot.curves.size(); ++i) {
      const std::string& name = m_plot.curves[i].name;
      m_out += fmt::format(
          "<line class=\"curve c{}\" x1=\"{:.1f}\" y1=\"45\" x2=\"{:.1f}\" y2=\"45\"/>\n",
          i % kCurves, at, at + 20);
      text(at + 27, 49.5, "start", name);
      at += 27 + 7.6 * static_cast<double>(name.size()) + 22;
    }
  }

  const Plot& m_plot;
  const PlotSpan m_span;
  std::string m_out;
};

}  // namespace

std::string drawSvg(const Plot& plot) { return Picture(plot).draw(); }

}  // namespace tessera::app
