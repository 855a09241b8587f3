// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The light and dark colours of the panel, the colours that identify pieces, and the style of the
/// standard widgets. Sizes are logical pixels. GUI thread only.

#include <QColor>
#include <QFont>

class QApplication;
class QPainter;
class QRectF;

namespace tessera::ui {

enum class ThemeMode { System, Light, Dark };

/// The number of hues that identify pieces: Paul Tol's "muted" scheme. Any two differ by a ΔE2000
/// of at least 11, also for colour-blind users. Further pieces repeat the hues with a pattern.
inline constexpr int kNumHues = 9;

/// Solid comes first, so that small jobs have plain colours.
enum class Pattern { Solid, Falling, Level, Upright, Rising, Dots };
inline constexpr int kNumPatterns = 6;

/// All colours of the panel. A state is shown by a shape first, then by `ok`, `warn` or `bad`.
/// Identity colours are used for pieces only.
struct Theme {
  QColor window, panel, canvas;  // backgrounds: menu and status bar, docks, canvas
  QColor line, soft;             // hairlines; sunken or grouped areas
  QColor text, dim, faint;    // `faint` is too pale for information: disabled text and marks only
  QColor accent, accentSoft;  // selection, motion, primary button; its tint
  QColor ok, warn, bad;
  QColor frame, cell, shadow, track;  // node frame, cell body, its shadow, empty part of a bar
  bool isDark = false;

  static const Theme& light();
  static const Theme& dark();
  /// The table set by the last applyTheme(); light before the first call.
  static const Theme& current();

  friend bool operator==(const Theme&, const Theme&) = default;
};

/// Sets palette, font (Inter if installed) and style sheet of the application. A later call changes
/// them at run time: every widget receives a palette change event and repaints, hidden ones when
/// they are shown or a little later. System follows the lightness of the platform palette before
/// the first call.
///
/// Properties that widgets set before they are shown: `primary` = true on the main QPushButton;
/// setFlat(true) for a button that looks like a link; `role` on a
/// QLabel: "heading", "group", "caption", "number", "hint", "ok", "warn", "bad", "accent", "badge".
void applyTheme(QApplication& application, ThemeMode mode);

/// Returns the colour that identifies `piece`.
/// \pre piece >= 0
QColor identity(int piece);
/// Returns the pattern that identifies `piece` together with identity().
/// \pre piece >= 0
Pattern pattern(int piece);
/// Returns the colour of a quantity, 0 to 1, dark to light, readable with any colour vision
/// (cividis: Nunez, Anderton, Renslow, PLoS ONE 13(7), 2018).
QColor quantity(double fraction);
/// Paints `pattern` over `area`, which is already filled with the identity colour, in a visible
/// tint of white or black. Respects the clip of `painter`.
/// \param strength 0 to 1
void paintPattern(QPainter& painter, const QRectF& area, Pattern pattern, const QColor& on,
                  double strength = 1);
/// Returns near-black or white, whichever has more contrast on `background`.
QColor ink(const QColor& background);
/// Returns the contrast ratio, 1 to 21 (WCAG 2.1). Alpha is ignored.
double contrast(const QColor& a, const QColor& b);
/// Returns `top` at `opacity` (0 to 1) over `bottom`, opaque.
QColor blend(const QColor& top, const QColor& bottom, double opacity);

/// Returns the panel's font at a size in logical pixels; fractions are allowed.
QFont uiFont(double pixels, int weight = QFont::Normal);

/// Makes texts and lines of canvases larger, for the audience of a projector. Canvases that are
/// shown need a QEvent::FontChange afterwards.
void setCanvasEnlarged(bool enlarged);
/// uiFont for a canvas.
QFont canvasFont(double pixels, int weight = QFont::Normal);
/// The width of a line that carries meaning on a canvas, such as a flow or a frame.
double canvasLine(double width);

}  // namespace tessera::ui
