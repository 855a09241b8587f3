// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One training step of a pipeline: a row per stage, with its passes, sends and waits over time.

#include <QWidget>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/search/pipeline_schedule.h"

namespace tessera::ui {

class PipelineChart : public QWidget {
  Q_OBJECT

 public:
  /// One bar, or several of one stage that are too narrow to be drawn apart.
  struct Piece {
    std::int64_t stage = 0;
    std::int64_t firstMicroBatch = 0, lastMicroBatch = 0;
    double begin = 0, end = 0;           // seconds
    std::array<double, 4> seconds = {};  // by PipelineBar::Kind
    int bars = 0;
    double of(engine::PipelineBar::Kind kind) const {
      return seconds[static_cast<std::size_t>(kind)];
    }
  };
  /// Joins neighbouring bars that are shorter than `least` seconds until they are that long.
  static std::vector<Piece> pieces(const engine::PipelineSchedule& schedule, double least);

  explicit PipelineChart(QWidget* parent = nullptr);
  /// `rest` is the part of the step after the passes, in seconds. The accessible description has
  /// the times of each stage.
  void setSchedule(engine::PipelineSchedule schedule, double rest);
  const engine::PipelineSchedule& schedule() const { return m_schedule; }
  double rest() const { return m_rest; }
  /// The tool tip at a point of the widget: stage, micro-batch, kind and time; empty outside of the
  /// rows.
  QString wordsAt(QPointF point) const;
  /// The rectangle of a time on the row of a stage.
  QRectF area(std::int64_t stage, double begin, double end) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  double total() const { return m_schedule.seconds + m_rest; }
  double rowHeight() const;
  double least() const;
  int legendRows(int width) const;

  engine::PipelineSchedule m_schedule;
  double m_rest = 0;
};

}  // namespace tessera::ui
