// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One pass over the data as a strip: the completed part, the position of the job, and the changes
/// of its mesh.

#include <QWidget>
#include <optional>

#include "ui/models/data_view.h"

namespace tessera::ui {

class PassStrip : public QWidget {
  Q_OBJECT

 public:
  explicit PassStrip(QWidget* parent = nullptr);
  /// The accessible description contains the same facts.
  void setView(const DataView& view);
  /// Marks the change of this transaction, if any.
  void setSelected(std::optional<std::int64_t> txn);
  /// Returns the left edge of a position in pixels.
  double xOf(std::int64_t position) const;
  /// Returns the change whose mark is nearest to `x`, within reach.
  std::optional<std::int64_t> changeAt(double x) const;
  QSize sizeHint() const override { return {400, 62}; }
  QSize minimumSizeHint() const override { return {200, 62}; }

 signals:
  void changeChosen(qint64 txn);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  DataView m_view;
  std::optional<std::int64_t> m_selected;
};

}  // namespace tessera::ui
