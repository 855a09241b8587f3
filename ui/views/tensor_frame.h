// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Places the boxes of one tensor in a picture. Two dimensions are rows and columns; along each
/// other one the tensor is divided where shards begin and end, and each combination of these
/// intervals is a sheet. So every box is drawn at its true range, whatever the rank.

#include <QPointF>
#include <QRectF>
#include <QString>
#include <optional>
#include <vector>

#include "ptc/tensor_spec.h"

namespace tessera::ui {

class TensorFrame {
 public:
  /// Sheets beyond these are not drawn.
  static constexpr std::size_t kMostSheets = 48;

  /// Which dimensions are rows and columns; -1: the tensor has none left for it.
  struct Axes {
    int row = -1, column = -1;
    friend bool operator==(const Axes&, const Axes&) = default;
  };
  struct Sheet {
    std::vector<ptc::Interval> at;  // by dimension; rows and columns are whole
    QRectF area;
    QString name;  // "dim 0: 4 to 7"; empty if it is the only one
  };
  struct Band {
    QString name;  // of a segment: "q", "1"
    double from = 0, to = 0;
  };

  TensorFrame() = default;
  /// \param boxes all boxes that are to be drawn, also in another frame of the same tensor
  TensorFrame(const ptc::TensorSpec& spec, const std::vector<ptc::Box>& boxes, Axes axes,
              const QRectF& area);

  /// The cut dimension that varies slowest as rows, and the largest other one as columns; of a
  /// vector, its elements as rows.
  static Axes axesFor(const ptc::TensorSpec& spec, const std::vector<ptc::Box>& boxes);
  /// The height for a width: the shape's, but neither flat nor tall beyond use.
  static double heightFor(const ptc::TensorSpec& spec, Axes axes, double width, double most);

  Axes axes() const { return m_axes; }
  const QRectF& area() const { return m_area; }
  /// Those that are drawn.
  const std::vector<Sheet>& sheets() const { return m_sheets; }
  std::size_t hiddenSheets() const { return m_hidden; }
  /// Segments along the rows of the first sheet, as y, or along its columns, as x; empty: none.
  const std::vector<Band>& bands() const { return m_bands; }
  bool bandsAreRows() const { return m_bandsAreRows; }

  /// The rectangles of a box, one on each sheet that it reaches.
  std::vector<QRectF> rectsOf(const ptc::Box& box) const;

 private:
  double rowAt(const Sheet& sheet, std::int64_t element, bool end) const;
  double columnAt(const Sheet& sheet, std::int64_t element, bool end) const;

  Axes m_axes;
  QRectF m_area;
  ptc::Shape m_shape;
  std::vector<std::int64_t> m_rowEnds, m_columnEnds;  // of the segments; at least the size
  std::vector<Sheet> m_sheets;
  std::size_t m_hidden = 0;
  std::vector<Band> m_bands;
  bool m_bandsAreRows = true;
};

}  // namespace tessera::ui
