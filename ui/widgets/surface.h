// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A plain area in one of the theme's background colours; it follows a change of theme.

#include <QWidget>

namespace tessera::ui {

class Surface : public QWidget {
  Q_OBJECT

 public:
  enum class Tone { Panel, Canvas, Window, Accent, Warning, Problem };

  explicit Surface(Tone tone, QWidget* parent = nullptr);
  void setTone(Tone tone);
  Tone tone() const { return m_tone; }
  /// A hairline on this edge; none before.
  void setEdge(Qt::Edges edges);
  /// A coloured frame just inside the edge, for sources other than Live; 0: none.
  void setMark(int width);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void placeMark();

  Tone m_tone;
  Qt::Edges m_edges;
  int m_markWidth = 0;
  QWidget* m_mark = nullptr;  // over the children, only as large as its lines
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
