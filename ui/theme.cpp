// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme.h"

#include <QApplication>
#include <QBrush>
#include <QFontDatabase>
#include <QImage>
#include <QPainter>
#include <QPalette>
#include <QStyle>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ui/restyle.h"
#include "ui/style_sheet.h"

namespace tessera::ui {
namespace {

constexpr double kEnlargedText = 1.25, kEnlargedLine = 1.6;

QColor rgb(std::uint32_t value) { return QColor::fromRgb(value); }
QColor black(int alpha) { return QColor(0, 0, 0, alpha); }

const Theme* g_current = nullptr;

// Relative luminance of WCAG 2.1.
double luminance(const QColor& color) {
  const auto linear = [](double c) {
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
         0.0722 * linear(color.blueF());
}

QPalette paletteOf(const Theme& theme) {
  QPalette palette(theme.text, theme.cell, theme.cell, theme.line, theme.dim, theme.text,
                   theme.text, theme.canvas, theme.window);
  palette.setColor(QPalette::AlternateBase, theme.frame);
  palette.setColor(QPalette::Button, theme.cell);
  palette.setColor(QPalette::ButtonText, theme.text);
  palette.setColor(QPalette::Mid, theme.line);
  palette.setColor(QPalette::Midlight, theme.soft);
  palette.setColor(QPalette::Shadow, theme.line);
  palette.setColor(QPalette::Highlight, theme.accent);
  palette.setColor(QPalette::HighlightedText, ink(theme.accent));
  palette.setColor(QPalette::Link, theme.accent);
  palette.setColor(QPalette::LinkVisited, theme.accent);
  palette.setColor(QPalette::PlaceholderText, theme.dim);
  palette.setColor(QPalette::ToolTipBase, theme.cell);
  palette.setColor(QPalette::ToolTipText, theme.text);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, theme.faint);
  }
  return palette;
}

QString family() {
  static const QString name = [] {
    const QStringList installed = QFontDatabase::families();
    for (const auto& wanted :
         {QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")}) {
      if (installed.contains(wanted)) return wanted;
    }
    return QFont().family();
  }();
  return name;
}

// Returns one period of a pattern, transparent between the marks. Lines are drawn three times,
// shifted by one period, so that diagonals continue across the edges.
QImage patternTile(Pattern pattern, const QColor& color) {
  constexpr int kPeriod = 7;
  QImage tile(kPeriod, kPeriod, QImage::Format_ARGB32_Premultiplied);
  tile.fill(Qt::transparent);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 1.8));
  switch (pattern) {
    case Pattern::Solid:
      break;
    case Pattern::Falling:
      for (int shift = -kPeriod; shift <= kPeriod; shift += kPeriod) {
        painter.drawLine(shift - 1, -1, shift + kPeriod + 1, kPeriod + 1);
      }
      break;
    case Pattern::Rising:
      for (int shift = -kPeriod; shift <= kPeriod; shift += kPeriod) {
        painter.drawLine(shift - 1, kPeriod + 1, shift + kPeriod + 1, -1);
      }
      break;
    case Pattern::Level:
      painter.drawLine(QPointF(0, 3), QPointF(kPeriod, 3));
      break;
    case Pattern::Upright:
      painter.drawLine(QPointF(3, 0), QPointF(3, kPeriod));
      break;
    case Pattern::Dots:
      painter.setPen(Qt::NoPen);
      painter.setBrush(color);
      painter.drawEllipse(QPointF(3, 3), 1.5, 1.5);
      break;
  }
  return tile;
}

bool& canvasEnlarged() {
  static bool enlarged = false;
  return enlarged;
}

}  // namespace

const Theme& Theme::light() {
  static const Theme theme{.window = rgb(0xf4f5f7),
                           .panel = rgb(0xfbfbfc),
                           .canvas = rgb(0xffffff),
                           .line = rgb(0xd9dde3),
                           .soft = rgb(0xeceef2),
                           .text = rgb(0x1b1f24),
                           .dim = rgb(0x5f6b7a),
                           .faint = rgb(0x98a2b0),
                           .accent = rgb(0x2866d2),
                           .accentSoft = rgb(0xe4edfc),
                           .ok = rgb(0x1a7f4b),
                           .warn = rgb(0xa15c00),
                           .bad = rgb(0xc02d3a),
                           .frame = rgb(0xf7f8fa),
                           .cell = rgb(0xffffff),
                           .shadow = black(0x14),
                           .track = rgb(0xe6e9ee),
                           .isDark = false};
  return theme;
}

const Theme& Theme::dark() {
  static const Theme theme{.window = rgb(0x1d2025),
                           .panel = rgb(0x22262c),
                           .canvas = rgb(0x181b1f),
                           .line = rgb(0x363c45),
                           .soft = rgb(0x2a2f37),
                           .text = rgb(0xe7eaee),
                           .dim = rgb(0xa3adba),
                           .faint = rgb(0x6d7785),
                           .accent = rgb(0x6ea1f7),
                           .accentSoft = rgb(0x26364f),
                           .ok = rgb(0x57c78b),
                           .warn = rgb(0xe0a63f),
                           .bad = rgb(0xf0717b),
                           .frame = rgb(0x1f2328),
                           .cell = rgb(0x262b32),
                           .shadow = black(0x55),
                           .track = rgb(0x343a43),
                           .isDark = true};
  return theme;
}

const Theme& Theme::current() { return g_current ? *g_current : light(); }

void applyTheme(QApplication& application, ThemeMode mode) {
  static const bool systemIsDark = application.palette().color(QPalette::Window).lightness() < 128;
  const bool isDark = mode == ThemeMode::Dark || (mode == ThemeMode::System && systemIsDark);
  const Theme* wanted = isDark ? &Theme::dark() : &Theme::light();
  const bool isShown = std::exchange(g_current, wanted) == wanted;
  if (isShown && !application.styleSheet().isEmpty()) return;
  static const bool styled = QApplication::setStyle(QStringLiteral("Fusion")) != nullptr;
  Q_UNUSED(styled)  // without Fusion the platform style is used
  // Every widget measures its text again for a font, also for the same one.
  if (const QFont font = uiFont(12.5); QApplication::font() != font) QApplication::setFont(font);
  QApplication::setPalette(paletteOf(*g_current));
  restyle(application, styleSheet(*g_current));
}

QColor identity(int piece) {
  // Paul Tol, "Colour schemes" (SRON/EPS/TN/09-002), qualitative scheme "muted".
  static const std::array<QColor, kNumHues> colors{rgb(0x332288), rgb(0x88ccee), rgb(0x44aa99),
                                                   rgb(0x117733), rgb(0x999933), rgb(0xddcc77),
                                                   rgb(0xcc6677), rgb(0x882255), rgb(0xaa4499)};
  // The first pieces get the most different hues, so that small jobs are easy to read.
  static constexpr std::array<std::size_t, kNumHues> order{0, 1, 2, 6, 5, 7, 3, 8, 4};
  return colors[order[static_cast<std::size_t>(piece % kNumHues)]];
}

Pattern pattern(int piece) { return static_cast<Pattern>(piece / kNumHues % kNumPatterns); }

QColor quantity(double fraction) {
  static const std::array<QColor, 10> stops{
      rgb(0x00204d), rgb(0x00336f), rgb(0x39486b), rgb(0x575c6d), rgb(0x707173),
      rgb(0x8a8779), rgb(0xa69d75), rgb(0xc4b56c), rgb(0xe4cf5b), rgb(0xffea46)};
  const double at = std::clamp(fraction, 0.0, 1.0) * (stops.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  return blend(stops[below + 1], stops[below], at - static_cast<double>(below));
}

void paintPattern(QPainter& painter, const QRectF& area, Pattern pattern, const QColor& on,
                  double strength) {
  if (pattern == Pattern::Solid) return;
  static const auto tiles = [] {
    std::array<std::array<QBrush, kNumPatterns>, 2> made;
    for (std::size_t i = 0; i < kNumPatterns; ++i) {
      made[0][i] = QBrush(patternTile(static_cast<Pattern>(i), QColor(0, 0, 0, 90)));
      made[1][i] = QBrush(patternTile(static_cast<Pattern>(i), QColor(255, 255, 255, 130)));
    }
    return made;
  }();
  const bool light = ink(on) == QColor(Qt::white);
  const QBrush& tile = tiles[light ? 1 : 0][static_cast<std::size_t>(pattern)];
  const QPointF origin = painter.brushOrigin();
  const qreal opacity = painter.opacity();
  painter.setBrushOrigin(area.topLeft());
  painter.setOpacity(opacity * strength);
  painter.fillRect(area, tile);
  painter.setOpacity(opacity);
  painter.setBrushOrigin(origin);
}

QColor ink(const QColor& background) {
  const QColor dark = rgb(0x15181c);
  return contrast(background, Qt::white) >= contrast(background, dark) ? QColor(Qt::white) : dark;
}

double contrast(const QColor& a, const QColor& b) {
  const double x = luminance(a);
  const double y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QColor blend(const QColor& top, const QColor& bottom, double opacity) {
  const auto mix = [opacity](int t, int b) {
    return static_cast<int>(std::lround(t * opacity + b * (1 - opacity)));
  };
  return QColor(mix(top.red(), bottom.red()), mix(top.green(), bottom.green()),
                mix(top.blue(), bottom.blue()));
}

QFont uiFont(double pixels, int weight) {
  QFont font(family());
  // QFont takes fractions only in points; Qt 6 reports 96 logical dots an inch and scales by the
  // device pixel ratio instead.
  font.setPointSizeF(pixels * 72.0 / 96.0);
  font.setWeight(static_cast<QFont::Weight>(weight));
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

void setCanvasEnlarged(bool enlarged) { canvasEnlarged() = enlarged; }

QFont canvasFont(double pixels, int weight) {
  return uiFont(canvasEnlarged() ? pixels * kEnlargedText : pixels, weight);
}

double canvasLine(double width) { return canvasEnlarged() ? width * kEnlargedLine : width; }

}  // namespace tessera::ui
