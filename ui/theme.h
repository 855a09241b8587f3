// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The two colour tables of the panel, the colours that name a piece, and the style of the standard
/// widgets. Sizes are logical pixels. GUI thread only.

#include <QBrush>
#include <QColor>
#include <QFont>

class QApplication;
class QPainter;

namespace tessera::ui {

enum class ThemeMode { System, Light, Dark };

/// Number of hues that name pieces (Tol's "muted" scheme: at least ΔE2000 11 between any two, also
/// for colour-blind eyes). Pieces beyond it repeat the hues under another pattern.
inline constexpr int kNumHues = 9;

/// Solid first, so that small jobs have plain colours.
enum class Pattern { Solid, Dots, Falling, Level, Upright, Rising };
inline constexpr int kNumPatterns = 6;

/// Every colour that the panel paints with. State is told by shape first, then by `ok`, `warn` or
/// `bad`; identity colours name pieces and nothing else.
struct Theme {
  QColor window, panel, canvas;     // backgrounds: menu and status bar, docks, canvas
  QColor line, soft;                // hairlines; sunken or grouped areas
  QColor text, dim, faint;          // `faint` only for hints and disabled text
  QColor accent, accentSoft;        // selection, motion, primary button; its tint
  QColor ok, warn, bad;
  QColor frame, cell, shadow, track;  // node frame, cell body, cell shadow, empty part of a bar
  bool isDark = false;

  static const Theme& light();
  static const Theme& dark();
  /// The table that `apply` chose last; light before.
  static const Theme& current();

  friend bool operator==(const Theme&, const Theme&) = default;
};

/// Chooses a table and sets the application's palette, font (Inter where installed) and style
/// sheet. May be called again at run time: every widget gets a palette change event and repaints.
/// System follows the lightness of the palette that the platform gave at the first call.
///
/// Style sheet hooks (dynamic properties, set before the widget is shown): `primary` on a
/// QPushButton for the one button that acts, `flat` for a link-like button, `role` on a QLabel:
/// "heading", "group", "caption", "number", "ok", "warn", "bad", "hint".
void applyTheme(QApplication& application, ThemeMode mode);

/// The colour that names `piece`. \pre piece >= 0
QColor identity(int piece);
/// The pattern that names `piece` together with `identity`. \pre piece >= 0
Pattern pattern(int piece);
/// Paints `pattern` over `area` (already filled with the identity colour) in a tint of `ink`.
void paintPattern(QPainter& painter, const QRectF& area, Pattern pattern, const QColor& ink);
/// Black or white, whichever reads better on `background`.
QColor ink(const QColor& background);
/// Contrast ratio of WCAG 2.1, 1 to 21.
double contrast(const QColor& a, const QColor& b);
/// `top` at `opacity` 0 to 1 over `bottom`, opaque.
QColor blend(const QColor& top, const QColor& bottom, double opacity);

/// The panel's typeface in logical pixels, fractions allowed.
QFont uiFont(double pixels, int weight = QFont::Normal);

}  // namespace tessera::ui
