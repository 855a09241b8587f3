// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Configurations as points: to the right a slower step, upwards a longer move. Those that no other
/// one beats in both are joined.

#include <QWidget>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Keys: left and right, or up and down, choose the next point by step time.
class ParetoScatter : public QWidget {
  Q_OBJECT

 public:
  explicit ParetoScatter(QWidget* parent = nullptr);
  void setCandidates(std::vector<engine::Candidate> candidates);
  /// The tool tip of a point.
  void setWords(std::vector<QString> words) { m_words = std::move(words); }
  void setChosen(std::optional<int> index);
  std::optional<int> chosen() const { return m_chosen; }
  void setHovered(std::optional<int> index);
  std::optional<int> hovered() const { return m_hovered; }
  /// Numbers that newer ones are about to replace are drawn faint.
  void setOutdated(bool outdated);
  QPointF pointOf(int index) const;
  std::optional<int> indexAt(QPointF position) const;
  QSize sizeHint() const override { return {300, 150}; }
  QSize minimumSizeHint() const override { return {200, 120}; }

 signals:
  /// The user chose a point.
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
