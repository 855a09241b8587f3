// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Configurations as points: step time to the right, pause upwards. A line joins the Pareto front.

#include <QWidget>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Keys: the arrow keys select the next or previous point by step time.
class ParetoScatter : public QWidget {
  Q_OBJECT

 public:
  explicit ParetoScatter(QWidget* parent = nullptr);
  void setCandidates(std::vector<engine::Candidate> candidates);
  /// Sets the tool tip of each point.
  void setWords(std::vector<QString> words) { m_words = std::move(words); }
  void setChosen(std::optional<int> index);
  std::optional<int> chosen() const { return m_chosen; }
  void setHovered(std::optional<int> index);
  std::optional<int> hovered() const { return m_hovered; }
  /// Draws the points faint, because newer ones are pending.
  void setOutdated(bool outdated);
  bool isOutdated() const { return m_outdated; }
  QPointF pointOf(int index) const;
  std::optional<int> indexAt(QPointF position) const;
  QSize sizeHint() const override { return {300, 150}; }
  QSize minimumSizeHint() const override { return {200, 120}; }

 signals:
  /// The user selected a point.
  void candidateChosen(int index);
  void candidateHovered(std::optional<int> index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QRectF plotArea() const;

  std::vector<engine::Candidate> m_candidates;
  std::vector<QString> m_words;
  std::optional<int> m_chosen, m_hovered;
  bool m_outdated = false;
};

}  // namespace tessera::ui
