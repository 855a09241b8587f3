// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The two colour tables of the panel, the colours that name a piece, and the style of the standard
/// widgets. Sizes are logical pixels. GUI thread only.

#include <QColor>
#include <QFont>

class QApplication;
class QPainter;
class QRectF;

namespace tessera::ui {

enum class ThemeMode { System, Light, Dark };

/// Number of hues that name pieces: Paul Tol's "muted" scheme, at least ΔE2000 11 between any two,
/// for colour-blind eyes too. Further pieces repeat the hues under another pattern.
inline constexpr int kNumHues = 9;

/// Solid first, so that small jobs have plain colours.
enum class Pattern { Solid, Falling, Level, Upright, Rising, Dots };
inline constexpr int kNumPatterns = 6;

/// Every colour that the panel paints with. State is told by shape first, then by `ok`, `warn` or
/// `bad`; identity colours name pieces and nothing else.
struct Theme {
  QColor window, panel, canvas;  // backgrounds: menu and status bar, docks, canvas
  QColor line, soft;             // hairlines; sunken or grouped areas
  QColor text, dim, faint;       // `faint` is for disabled text and marks, too pale to inform
  QColor accent, accentSoft;     // selection, motion, primary button; its tint
  QColor ok, warn, bad;
  QColor frame, cell, shadow, track;  // node frame, cell body, its shadow, empty part of a bar
  bool isDark = false;

  static const Theme& light();
  static const Theme& dark();
  /// The table that applyTheme chose last; light before.
  static const Theme& current();

  friend bool operator==(const Theme&, const Theme&) = default;
};

/// Chooses a table and sets the application's palette, font (Inter where installed) and style
/// sheet. May be called again at run time: every widget gets a palette change event and repaints.
/// System follows the lightness of the palette that the platform gave before the first call.
///
/// Hooks for widgets, set before they are shown: dynamic property `primary` = true on the one
/// QPushButton that acts; setFlat(true) for a link-like button; dynamic property `role` on a
/// QLabel: "heading", "group", "caption", "number", "hint", "ok", "warn", "bad", "accent".
void applyTheme(QApplication& application, ThemeMode mode);

/// The colour that names `piece`. \pre piece >= 0
QColor identity(int piece);
/// The pattern that names `piece` together with `identity`. \pre piece >= 0
Pattern pattern(int piece);
/// The colour of a quantity, 0 to 1: dark to light, readable without any one kind of cone (cividis:
/// Nunez, Anderton, Renslow, PLoS ONE 13(7), 2018).
QColor quantity(double fraction);
/// Paints `pattern` over `area`, which has the identity colour already, in a tint of white or black
/// that shows on it. Honours the clip of `painter`.
/// `strength` 0 to 1.
void paintPattern(QPainter& painter, const QRectF& area, Pattern pattern, const QColor& on,
                  double strength = 1);
/// Near-black or white, whichever reads better on `background`.
QColor ink(const QColor& background);
/// Contrast ratio, 1 to 21 (WCAG 2.1). Alpha is ignored.
double contrast(const QColor& a, const QColor& b);
/// `top` at `opacity` 0 to 1 over `bottom`, opaque.
QColor blend(const QColor& top, const QColor& bottom, double opacity);

/// The panel's typeface at a size in logical pixels, fractions allowed.
QFont uiFont(double pixels, int weight = QFont::Normal);

}  // namespace tessera::ui
