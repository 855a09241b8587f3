// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The job over time: its plots, or a text if there is nothing to plot.

#include <QTimer>
#include <deque>
#include <optional>
#include <set>

#include "ui/models/history_table_model.h"
#include "ui/models/playback.h"
#include "ui/models/sample_history.h"
#include "ui/plots/bands.h"
#include "ui/plots/busy_series.h"
#include "ui/plots/plot_curve.h"
#include "ui/widgets/surface.h"

class QLabel;
class QMenu;
class QPushButton;
class QStackedLayout;
class QToolButton;

namespace tessera::ui {

class JobPlots;

class TimelinePage : public Surface {
  Q_OBJECT

 public:
  static constexpr std::size_t kMaxMarks = 2000;

  /// All arguments must outlive the page. `history` provides the bands.
  TimelinePage(ClusterModel& model, ClusterCommands& commands, HistoryTableModel& history,
               QWidget* parent = nullptr);

  void addEvents(const std::vector<engine::Event>& events);
  /// Marks the band of this transaction.
  void setSelected(std::optional<std::int64_t> txn);
  JobPlots* plots() const { return m_plots; }
  const SampleHistory& samples() const { return m_samples; }
  /// The plot of the step time shows what these GPUs compute.
  void setDevices(const std::set<ptc::DeviceId>& devices);
  /// Chooses the curves to draw. One that the job does not have appears as soon as it has it.
  void chooseCurves(std::vector<PlotCurve> curves);
  /// What can be drawn: what each job has, and the metrics of this one.
  std::vector<PlotCurve> availableCurves() const;
  /// Shows the menu that chooses the curves.
  void showCurvesMenu();
  QMenu* curvesMenu() const { return m_curvesMenu; }
  QPushButton* curvesButton() const { return m_curves; }
  /// Writes the visible plots (.png, .svg) or all samples (.json, else CSV).
  Status exportTo(const QString& file) const;
  /// Asks the user for the file.
  void exportByHand();
  /// Returns why there is nothing to export, as one sentence; empty if there is.
  QString exportBlockedReason() const;
  QPushButton* exportButton() const { return m_export; }
  /// The text shown instead of the plots; empty while they are shown.
  QString words() const;
  /// The widget for the row of tabs: "as of 14:02:31", the keys of the player, "Show all".
  QWidget* corner() const { return m_corner; }
  Playback& playback() { return m_playback; }
  QToolButton* previousButton() const { return m_previous; }
  QToolButton* playButton() const { return m_play; }
  QToolButton* nextButton() const { return m_next; }
  QPushButton* speedButton() const { return m_speed; }

 signals:
  void changeChosen(qint64 txn);
  /// The user chose other curves.
  void curvesChosen(const QString& keys);
  /// Something could not be written. `message` is one line.
  void failed(const QString& message);

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  QToolButton* addKey(const QString& name);
  void connectPlayer();
  /// From the playhead; from the first sample if there is none, or if it is at the end.
  void togglePlay();
  void refreshPlayer();
  void refresh();
  void refreshBands();
  void refreshNote();
  /// Draws those of the chosen curves that are available.
  void refreshCurves();
  void fillCurvesMenu();
  /// Adds what the ranks of the job compute now, with its newest sample.
  void noteComputing();
  void refreshComputing();
  /// The wall clock of the cluster, from the newest sample and the time since its arrival.
  std::optional<double> clusterNow() const;

  ClusterModel& m_model;
  HistoryTableModel& m_history;
  SampleHistory m_samples;
  JobPlots* m_plots;
  std::vector<PlotCurve> m_chosenCurves = usualCurves();
  BusySeries m_busy;  // of the next two
  QString m_busyJob;
  std::int64_t m_busyOrigin = 0;
  std::set<ptc::DeviceId> m_devices;
  QLabel* m_words;
  QStackedLayout* m_stack;
  QWidget* m_corner;
  QLabel* m_note;
  QToolButton *m_previous, *m_play, *m_next;
  QPushButton* m_speed;
  QPushButton* m_curves;
  QMenu* m_curvesMenu;
  QPushButton* m_export;
  QPushButton* m_fit;
  Playback m_playback;
  QTimer m_clock;
  std::deque<PlotMark> m_marks;
  std::int64_t m_runningTxn = -1;
  double m_runningSince = 0;
  double m_lastTime = 0;  // of the newest sample
  double m_skew = 0;      // the cluster's clock minus this one
};

}  // namespace tessera::ui
