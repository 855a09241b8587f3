// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One bar divided by bytes, with a legend below.

#include <QColor>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <vector>

namespace tessera::ui {

class StackedBar : public QWidget {
  Q_OBJECT

 public:
  /// The first four are for bytes that move, the others for the memory of a GPU.
  enum class Tone { Stay, Inside, Network, Storage, Parameters, Optimizer, Gradients, Free };
  struct Segment {
    QString name;
    std::int64_t bytes = 0;
    Tone tone = Tone::Stay;
    friend bool operator==(const Segment&, const Segment&) = default;
  };

  explicit StackedBar(QWidget* parent = nullptr);
  /// The accessible name lists the segments.
  void setSegments(std::vector<Segment> segments);
  const std::vector<Segment>& segments() const { return m_segments; }
  /// Draws the numbers faint and struck through, because a newer plan is pending.
  void setOutdated(bool outdated);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  int legendRows(int width) const;
  void keepLegend();
  std::vector<Segment> m_segments;
  bool m_outdated = false;
};

}  // namespace tessera::ui
