// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Global batches side by side, each cut into the shares of its data-parallel ranks.

#include <QWidget>
#include <vector>

#include "ui/models/data_view.h"

namespace tessera::ui {

class BatchStrip : public QWidget {
  Q_OBJECT

 public:
  struct Batch {
    QString title;  // "step 266"
    bool done = false;
    std::vector<DataView::Share> shares;
  };

  explicit BatchStrip(QWidget* parent = nullptr);
  /// The accessible description lists the shares.
  void setBatches(std::vector<Batch> batches);
  QSize sizeHint() const override { return {400, 58}; }
  QSize minimumSizeHint() const override { return {200, 58}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Cell {
    QRectF area;
    const DataView::Share* share;
    bool done;
  };
  std::vector<Cell> cells() const;
  QRectF batchArea(std::size_t index) const;

  std::vector<Batch> m_batches;
};

}  // namespace tessera::ui
