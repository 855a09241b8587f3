// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/text_plot.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace tessera::app {
namespace {

constexpr std::array<char, 4> kLetters = {'*', 'o', 'x', '+'};
// Green, orange, blue, grey: distinct on dark and light terminals, also for most colour-blind
// people.
constexpr std::array<const char*, 4> kColours = {"\033[32m", "\033[33m", "\033[36m", "\033[90m"};
constexpr const char* kPlain = "\033[0m";

/// One character cell.
struct Cell {
  std::uint8_t dots = 0;  // of Braille, bits as in Unicode
  int curve = -1;         // drawn last; -1: none
  bool isMark = false;
};

/// Draws on a grid of points: 2 x 4 per character with Braille, else 1 x 1.
class Canvas {
 public:
  Canvas(int columns, int rows, PlotStyle style)
      : m_columns(columns),
        m_rows(rows),
        m_across(style == PlotStyle::Braille ? 2 : 1),
        m_down(style == PlotStyle::Braille ? 4 : 1),
        m_cells(static_cast<std::size_t>(columns * rows)) {}

  int width() const { return m_columns * m_across; }
  int height() const { return m_rows * m_down; }

  void point(int x, int y, int curve) {
    if (x < 0 || x >= width() || y < 0 || y >= height()) return;
    Cell& cell = at(x / m_across, y / m_down);
    // Dots 1-3 and 4-6 are the columns from top to bottom, dots 7 and 8 the row below.
    static constexpr std::uint8_t kBits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    cell.dots = static_cast<std::uint8_t>(cell.dots | kBits[y % m_down][x % m_across]);
    cell.curve = curve;
  }

  void line(double x0, double y0, double x1, double y1, int curve) {
    const int steps = 1 + static_cast<int>(std::max(std::abs(x1 - x0), std::abs(y1 - y0)));
    for (int i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      point(static_cast<int>(std::lround(x0 + share * (x1 - x0))),
            static_cast<int>(std::lround(y0 + share * (y1 - y0))), curve);
    }
  }

  void markColumn(int x) {
    for (int row = 0; row < m_rows; ++row)
      at(std::clamp(x / m_across, 0, m_columns - 1), row).isMark = true;
  }

  const Cell& cell(int column, int row) const {
    return m_cells[static_cast<std::size_t>(row * m_columns + column)];
  }

 private:
  Cell& at(int column, int row) {
    return m_cells[static_cast<std::size_t>(row * m_columns + column)];
  }

  int m_columns, m_rows, m_across, m_down;
  std::vector<Cell> m_cells;
};

/// U+2800 and the dots, as UTF-8.
std::string braille(std::uint8_t dots) {
  return {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)),
          static_cast<char>(0x80 | (dots & 0x3F))};
}

const char* markOf(PlotStyle style) {
  return style == PlotStyle::Braille ? "\033[90m┊\033[0m" : ":";
}

std::string drawRow(const Canvas& canvas, int columns, int row, PlotStyle style) {
  std::string text;
  for (int column = 0; column < columns; ++column) {
    const Cell& cell = canvas.cell(column, row);
    const auto curve = static_cast<std::size_t>(std::max(cell.curve, 0)) % kLetters.size();
    if (cell.curve >= 0 && style == PlotStyle::Braille) {
      text += fmt::format("{}{}{}", kColours[curve], braille(cell.dots), kPlain);
    } else if (cell.curve >= 0) {
      text += kLetters[curve];
    } else if (cell.isMark) {
      text += markOf(style);
    } else {
      text += ' ';
    }
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string legendOf(const Plot& plot, PlotStyle style) {
  std::string text = "  ";
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const std::size_t kind = i % kLetters.size();
    text += style == PlotStyle::Braille
                ? fmt::format("{}━━{} {}   ", kColours[kind], kPlain, plot.curves[i].name)
                : fmt::format("{} {}   ", kLetters[kind], plot.curves[i].name);
  }
  if (plot.mark) text += fmt::format("{} {}", markOf(style), plot.markLabel);
  while (text.ends_with(' ')) text.pop_back();
  return text + '\n';
}

/// Numbers below the axis, each centred under its column if there is room.
std::string axisNumbers(const Ticks& ticks, const PlotSpan& span, int left, int columns) {
  std::string line(static_cast<std::size_t>(left + columns), ' ');
  std::size_t free = 0;
  for (const double value : ticks.values) {
    const std::string text = tickText(value, ticks.decimals);
    const double share = (value - span.left) / (span.right - span.left);
    const auto middle = left + static_cast<int>(std::lround(share * (columns - 1)));
    const int begin = std::clamp(middle - static_cast<int>(text.size()) / 2, 0,
                                 left + columns - static_cast<int>(text.size()));
    if (static_cast<std::size_t>(begin) < free) continue;
    line.replace(static_cast<std::size_t>(begin), text.size(), text);
    free = static_cast<std::size_t>(begin) + text.size() + 1;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line + '\n';
}

}  // namespace

PlotStyle plotStyleOfOutput() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (isatty(STDOUT_FILENO) == 0 || !variable("NO_COLOR").empty() || variable("TERM") == "dumb")
    return PlotStyle::Ascii;
  // As in the C library, the first variable that is set decides.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = variable(name);
    if (locale.empty()) continue;
    const bool isUtf8 = locale.find("UTF-8") != std::string_view::npos ||
                        locale.find("utf8") != std::string_view::npos;
    return isUtf8 ? PlotStyle::Braille : PlotStyle::Ascii;
  }
  return PlotStyle::Ascii;
}

int columnsOfOutput() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return 80;
  return std::min<int>(size.ws_col, 160);
}

std::string drawText(const Plot& plot, int columns, int rows, PlotStyle style) {
  const PlotSpan span = spanOf(plot);
  const Ticks values = ticksOf(span.low, span.high, std::max(2, rows / 3));
  std::size_t width = 0;
  for (const double value : values.values)
    width = std::max(width, tickText(value, values.decimals).size());
  const int left = static_cast<int>(width) + 2;
  const int across = columns - left;
  Canvas canvas(across, rows, style);
  const auto x = [&](double value) {
    return (value - span.left) / (span.right - span.left) * (canvas.width() - 1);
  };
  const auto y = [&](double value) {
    return (span.high - value) / (span.high - span.low) * (canvas.height() - 1);
  };
  if (plot.mark) canvas.markColumn(static_cast<int>(std::lround(x(*plot.mark))));
  // The first curve is drawn last, on top, because the others are compared with it.
  for (std::size_t c = plot.curves.size(); c-- > 0;) {
    const auto& points = plot.curves[c].points;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& from = points[i == 0 ? 0 : i - 1];
      canvas.line(x(from.first), y(from.second), x(points[i].first), y(points[i].second),
                  static_cast<int>(c));
    }
  }

  std::string text = fmt::format("{}\n{}\n", plot.title, plot.yLabel);
  const bool isUnicode = style == PlotStyle::Braille;
  for (int row = 0; row < rows; ++row) {
    std::string number;
    for (const double value : values.values) {
      const int at = static_cast<int>(y(value)) * rows / canvas.height();
      if (at == row) number = tickText(value, values.decimals);
    }
    text += fmt::format("{:>{}} {}{}\n", number, width,
                        isUnicode ? (number.empty() ? "│" : "┤") : (number.empty() ? "|" : "+"),
                        drawRow(canvas, across, row, style));
  }
  text += std::string(width + 1, ' ') + (isUnicode ? "└" : "+");
  for (int i = 0; i < across; ++i) text += isUnicode ? "─" : "-";
  text += '\n' +
          axisNumbers(ticksOf(span.left, span.right, std::max(2, across / 12)), span, left, across);
  const auto room = static_cast<std::size_t>(
      std::max<int>(0, left + (across - static_cast<int>(plot.xLabel.size())) / 2));
  text += std::string(room, ' ') + plot.xLabel + '\n';
  return text + legendOf(plot, style);
}

}  // namespace tessera::app
