// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A plain area in a background colour of the theme. It follows theme changes.

#include <QWidget>

namespace tessera::ui {

class Surface : public QWidget {
  Q_OBJECT

 public:
  enum class Tone { Panel, Canvas, Window, Accent, Past, Warning, Problem };

  explicit Surface(Tone tone, QWidget* parent = nullptr);
  void setTone(Tone tone);
  Tone tone() const { return m_tone; }
  /// Draws a hairline on these edges; the default is none.
  void setEdge(Qt::Edges edges);
  /// Draws a frame inside the edge, for sources other than Live: grey for Tone::Past, else in the
  /// accent colour. 0: none.
  void setMark(int width, Tone tone = Tone::Accent);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void placeMark();

  Tone m_tone;
  Qt::Edges m_edges;
  int m_markWidth = 0;
  Tone m_markTone = Tone::Accent;
  QWidget* m_mark = nullptr;  // above the children; masked to its lines
};

/// A hairline between groups of a panel.
class Rule : public QWidget {
  Q_OBJECT

 public:
  explicit Rule(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tessera::ui
