// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The schedule of a pipeline with a heading, and what of it is measured; or why there is none.

#include <QWidget>
#include <optional>

#include "ui/models/pipeline_view.h"

class QLabel;

namespace tessera::ui {

class PipelineChart;

class PipelineBox : public QWidget {
  Q_OBJECT

 public:
  explicit PipelineBox(QWidget* parent = nullptr);
  /// Makes the schedule again only if the input differs from the one before.
  void setInput(const PipelineInput& input);
  PipelineChart* chart() const { return m_chart; }
  /// The sentences below the chart, or in its place.
  QString text() const;

 private:
  std::optional<PipelineInput> m_input;
  QLabel* m_title;
  PipelineChart* m_chart;
  QLabel *m_text, *m_source;
};

}  // namespace tessera::ui
