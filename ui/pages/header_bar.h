// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The content of the toolbar: source, job, metrics, and whether this panel may change the cluster.

#include <QWidget>
#include <functional>
#include <vector>

#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"
#include "ui/models/move_control.h"
#include "ui/views/shown_layout.h"

class QLabel;
class QPushButton;
class QToolButton;

namespace tessera::ui {

class SegmentedSwitch;
class StateDot;
class ToggleSwitch;

class HeaderBar : public QWidget {
  Q_OBJECT

 public:
  HeaderBar(ClusterModel& model, Draft& draft, MoveControl& control, QWidget* parent = nullptr);
  void setSource(LayoutSource source);
  /// Sets why the past cannot be shown, as one sentence; empty if it can.
  void setPastBlocked(const QString& reason);
  /// Shows job and metrics of `past` at a time (wall clock) instead of those of Live; null: Live.
  /// `past` must outlive the bar.
  void showPast(const ClusterModel* past, double time = 0);
  /// Shows the job of a lesson. `simulated` must outlive the bar.
  void showLesson(const ClusterModel& simulated);
  /// Shows the present values. The bar follows no model itself: the window calls this, or one of
  /// the two above, once for each change.
  void refresh();
  /// How often the bar was made anew.
  int numRefreshes() const { return m_numRefreshes; }

  /// Sets the colour of the stripe that marks the cluster; transparent: none.
  void setTag(const QColor& color);
  QSize minimumSizeHint() const override;
  QToolButton* jobChooser() const { return m_jobs; }
  QPushButton* operateButton() const { return m_operate; }
  ToggleSwitch* liveToggle() const { return m_live; }
  /// Opens the palette: a field, or its icon in a narrow window.
  QPushButton* goToButton() const { return m_goTo; }
  QString jobText() const;
  QString stateText() const;
  /// "SIMULATED 20 ×"; empty for a real cluster.
  QString badgeText() const;
  /// Returns the value of a metric by its caption; empty if it is not shown.
  QString metric(const QString& caption) const;

 signals:
  void sourceChosen(tessera::ui::LayoutSource source);
  void jobChosen(const QString& job);
  void goToRequested();

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// What a narrow window has less of, the first one first. The views show the numbers, too.
  struct Part {
    int room;  // px that it takes
    bool isShown;
    std::function<void(bool)> show;
  };
  std::vector<Part> droppable() const;
  void paintGoTo() const;
  void fit();
  void refreshJobs();
  void refreshBadge();
  struct Metric {
    QLabel* value;
    QLabel* caption;
  };
  void setMetric(std::size_t index, const QString& value, const QString& caption);

  ClusterModel& m_model;
  const ClusterModel* m_past = nullptr;
  double m_time = 0;
  int m_numRefreshes = 0;
  bool m_simulated = false;  // `m_past` is the cluster of a lesson
  Draft& m_draft;
  MoveControl& m_control;
  SegmentedSwitch* m_sources;
  QWidget* m_tag;
  StateDot* m_dot;
  QLabel* m_job;
  QLabel* m_state;
  QLabel* m_badge;  // that the cluster is simulated
  QToolButton* m_jobs;
  std::vector<Metric> m_metrics;
  QPushButton* m_goTo;
  std::vector<QLabel*> m_goToWords;
  int m_goToWidth = 0;  // with its words
  QPushButton* m_operate;
  ToggleSwitch* m_live;
};

/// A filled circle. The text beside it has the same meaning.
class StateDot : public QWidget {
  Q_OBJECT

 public:
  enum class Tone { Quiet, Good, Warning, Bad };
  explicit StateDot(QWidget* parent = nullptr);
  void setTone(Tone tone);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Tone m_tone = Tone::Quiet;
};

}  // namespace tessera::ui
