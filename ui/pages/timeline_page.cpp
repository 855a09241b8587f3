// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/timeline_page.h"

#include <QDateTime>
#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedLayout>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ui/format.h"
#include "ui/icons.h"
#include "ui/models/export_text.h"
#include "ui/plots/job_plots.h"
#include "ui/plots/plot_canvas.h"
#include "ui/theme.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/scrolled.h"

namespace tessera::ui {
namespace {

constexpr int kClockMs = 250;  // of the "now" line, while the page is visible
constexpr int kSpeedWidth = 44;
constexpr QSize kLeastPicture(960, 320);
constexpr double kPlotPictureScale = 2;
constexpr double kLatency = 2;  // seconds that a sample may be late although the clocks are equal

double localNow() { return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000; }

}  // namespace

TimelinePage::TimelinePage(ClusterModel& model, ClusterCommands& commands,
                           HistoryTableModel& history, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_model(model),
      m_history(history),
      m_samples(model, commands),
      m_plots(new JobPlots(this)),
      m_words(new QLabel(this)),
      m_stack(new QStackedLayout(this)),
      m_corner(new QWidget(this)),
      m_note(new ElidedLabel(m_corner)),
      m_previous(addKey(tr("Go to the previous change or event"))),
      m_play(addKey(tr("Play the past"))),
      m_next(addKey(tr("Go to the next change or event"))),
      m_speed(new QPushButton(m_corner)),
      m_curves(new QPushButton(tr("Curves"), m_corner)),
      m_curvesMenu(new QMenu(m_curves)),
      m_export(new QPushButton(tr("Export…"), m_corner)),
      m_fit(new QPushButton(tr("Show all"), m_corner)) {
  setRole(m_words, QStringLiteral("hint"));
  m_words->setAlignment(Qt::AlignCenter);
  m_words->setWordWrap(true);
  QScrollArea* scroll = scrolled(m_plots, this);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setMinimumHeight(m_plots->minimumSizeHint().height());
  m_stack->addWidget(scroll);
  m_stack->addWidget(m_words);
  setRole(m_note, QStringLiteral("hint"));
  m_speed->setFlat(true);
  m_speed->setMinimumWidth(kSpeedWidth);
  m_fit->setFlat(true);
  m_fit->setAccessibleName(tr("Show the whole time and follow the newest sample"));
  m_fit->setStatusTip(tr("Show the whole time and follow the newest sample (double click)"));
  m_curves->setFlat(true);
  m_curves->setAccessibleName(tr("Choose the curves to draw"));
  m_curves->setStatusTip(
      tr("Choose what is drawn over time: loss, speed, and what the program logs"));
  m_curves->setMenu(m_curvesMenu);
  m_curvesMenu->setAccessibleName(tr("Curves"));
  m_curvesMenu->setToolTipsVisible(true);
  m_export->setFlat(true);
  m_export->setAccessibleName(tr("Export the plots"));
  m_export->setStatusTip(tr("Save the plots as PNG or SVG, or their samples as CSV or JSON"));
  auto* row = new QHBoxLayout(m_corner);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  row->addStretch();
  row->addWidget(m_note);
  auto* keys = new QHBoxLayout;
  keys->setSpacing(2);
  keys->addWidget(m_previous);
  keys->addWidget(m_play);
  keys->addWidget(m_next);
  keys->addWidget(m_speed);
  row->addLayout(keys);
  row->addWidget(m_curves);
  row->addWidget(m_export);
  row->addWidget(m_fit);

  m_clock.setInterval(kClockMs);
  connect(&m_clock, &QTimer::timeout, this, [this] {
    if (isVisible()) {
      refreshBands();
    } else {
      m_clock.stop();
    }
  });
  connect(&m_samples, &SampleHistory::changed, this, &TimelinePage::refresh);
  connect(&m_model, &ClusterModel::cleared, this, [this] {
    m_marks.clear();
    m_plots->setMarks({});
    m_runningTxn = -1;
  });
  connect(&m_model, &ClusterModel::changed, this, &TimelinePage::refreshBands);
  connect(&m_history, &QAbstractItemModel::modelReset, this, &TimelinePage::refreshBands);
  connect(m_plots, &JobPlots::bandChosen, this, &TimelinePage::changeChosen);
  connect(m_plots, &JobPlots::rangeChanged, this, &TimelinePage::refreshNote);
  connect(m_curvesMenu, &QMenu::aboutToShow, this, &TimelinePage::fillCurvesMenu);
  connect(m_export, &QPushButton::clicked, this, &TimelinePage::exportByHand);
  connect(m_fit, &QPushButton::clicked, m_plots, &JobPlots::fit);
  connectPlayer();
  refresh();
}

QToolButton* TimelinePage::addKey(const QString& name) {
  auto* button = new QToolButton(m_corner);
  button->setAutoRaise(true);
  button->setAccessibleName(name);
  return button;
}

void TimelinePage::connectPlayer() {
  m_previous->setToolTip(tr("Previous change or event (Left, in the plots)"));
  m_next->setToolTip(tr("Next change or event (Right, in the plots)"));
  m_speed->setToolTip(tr("Seconds of the past per second: slower with comma, faster with period"));
  connect(m_previous, &QToolButton::clicked, this, [this] { m_plots->goToStop(-1); });
  connect(m_next, &QToolButton::clicked, this, [this] { m_plots->goToStop(1); });
  connect(m_play, &QToolButton::clicked, this, &TimelinePage::togglePlay);
  connect(m_speed, &QPushButton::clicked, &m_playback, &Playback::cycleSpeed);
  connect(m_plots, &JobPlots::playRequested, this, &TimelinePage::togglePlay);
  connect(m_plots, &JobPlots::speedRequested, &m_playback, &Playback::stepSpeed);
  connect(m_plots, &JobPlots::playheadChanged, this, [this] {
    if (const auto time = m_plots->playhead()) {
      m_playback.moveTo(*time);
    } else {
      m_playback.stop();
    }
  });
  connect(&m_playback, &Playback::moved, m_plots, &JobPlots::goTo);
  connect(&m_playback, &Playback::changed, this, &TimelinePage::refreshPlayer);
}

void TimelinePage::togglePlay() {
  if (m_playback.isPlaying()) return m_playback.stop();
  const auto& points = m_samples.series().points();
  if (points.empty()) return;
  const double from = m_plots->playhead().value_or(points.front().time);
  m_playback.play(from >= points.back().time ? points.front().time : from);
}

void TimelinePage::refreshPlayer() {
  const Theme& theme = Theme::current();
  const bool playing = m_playback.isPlaying();
  const bool any = !m_samples.series().points().empty();
  m_previous->setIcon(icon(QStringLiteral("previous"), theme.dim));
  m_next->setIcon(icon(QStringLiteral("next"), theme.dim));
  m_play->setIcon(icon(playing ? QStringLiteral("pause") : QStringLiteral("play"), theme.dim));
  m_play->setAccessibleName(playing ? tr("Pause") : tr("Play the past"));
  m_play->setToolTip(playing ? tr("Pause (Space, in the plots)")
                             : tr("Play the past in every view (Space, in the plots)"));
  m_speed->setText(tr("%1×").arg(m_playback.speed()));
  m_speed->setAccessibleName(tr("Speed: %1 seconds per second").arg(m_playback.speed()));
  for (QWidget* each : {static_cast<QWidget*>(m_previous), static_cast<QWidget*>(m_play),
                        static_cast<QWidget*>(m_next), static_cast<QWidget*>(m_speed)}) {
    each->setEnabled(any);
  }
}

void TimelinePage::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) refreshPlayer();
  Surface::changeEvent(event);
}

QString TimelinePage::words() const { return m_words->text(); }

void TimelinePage::addEvents(const std::vector<engine::Event>& events) {
  for (const engine::Event& event : events) {
    if (auto mark = markOf(event)) m_marks.push_back(std::move(*mark));
  }
  while (m_marks.size() > kMaxMarks) m_marks.pop_front();
  m_plots->setMarks({m_marks.begin(), m_marks.end()});
}

void TimelinePage::setSelected(std::optional<std::int64_t> txn) { m_plots->setSelectedBand(txn); }

std::optional<double> TimelinePage::clusterNow() const {
  if (m_model.link() != LinkState::Connected || m_samples.series().points().empty()) {
    return std::nullopt;
  }
  const engine::JobStatus* job = m_model.job();
  const bool over = job == nullptr || job->state == engine::JobState::kStopped ||
                    job->state == engine::JobState::kSuspended ||
                    job->state == engine::JobState::kFailed ||
                    job->state == engine::JobState::kUnknown;
  return over ? std::nullopt : std::optional(localNow() + m_skew);
}

void TimelinePage::refresh() {
  const auto& points = m_samples.series().points();
  // A new sample gives the difference between the clock of the cluster and this one.
  const engine::JobStatus* job = m_model.job();
  const bool running = job != nullptr && (job->state == engine::JobState::kRunning ||
                                          job->state == engine::JobState::kPausing ||
                                          job->state == engine::JobState::kReconfiguring);
  if (!points.empty() && running && m_samples.state() == SampleHistory::State::Following &&
      points.back().time != m_lastTime) {
    m_lastTime = points.back().time;
    const double lag = m_lastTime - localNow();
    m_skew = std::abs(lag) > kLatency ? lag : 0;
  }
  QString words;
  if (points.empty()) {
    switch (m_samples.state()) {
      case SampleHistory::State::None:
        words = tr("No job is running. The loss and speed of a job appear here.");
        break;
      case SampleHistory::State::Loading:
        words = tr("Reading the samples of %1…").arg(m_samples.job());
        break;
      case SampleHistory::State::Following:
        words = tr("%1 has not reported a step yet.").arg(m_samples.job());
        break;
      case SampleHistory::State::Waiting:
        words = tr("There is no connection to the cluster.");
        break;
      case SampleHistory::State::Failed:
        words = tr("The samples could not be read: %1. Trying again.").arg(m_samples.problem());
        break;
    }
  }
  m_words->setText(words);
  m_stack->setCurrentIndex(words.isEmpty() ? 0 : 1);
  m_plots->setSeries(m_samples.series());
  noteComputing();
  refreshCurves();
  if (!points.empty()) m_playback.setEnd(points.back().time);
  refreshPlayer();
  refreshBands();
}

void TimelinePage::chooseCurves(std::vector<PlotCurve> curves) {
  m_chosenCurves = std::move(curves);
  refreshCurves();
}

std::vector<PlotCurve> TimelinePage::availableCurves() const {
  std::vector<PlotCurve> curves = usualCurves();
  curves.push_back({PlotCurve::Kind::GradNorm});
  curves.push_back({PlotCurve::Kind::StepTime});
  std::set<std::string> names;
  for (const SampleSeries::Metric& metric : m_samples.series().metrics()) names.insert(metric.name);
  if (const engine::JobStatus* job = m_model.job()) {
    for (const auto& [name, value] : job->metrics) names.insert(name);
  }
  for (const std::string& name : names) curves.push_back(PlotCurve::ofMetric(name));
  return curves;
}

void TimelinePage::refreshCurves() {
  std::vector<PlotCurve> drawn = availableCurves();
  std::erase_if(drawn, [this](const PlotCurve& curve) {
    return std::ranges::find(m_chosenCurves, curve) == m_chosenCurves.end();
  });
  if (drawn.empty()) drawn = {usualCurves().front()};
  m_plots->setCurves(std::move(drawn));
  refreshComputing();
}

void TimelinePage::setDevices(const std::set<ptc::DeviceId>& devices) {
  if (devices == m_devices) return;
  m_devices = devices;
  refreshComputing();
}

void TimelinePage::noteComputing() {
  if (m_samples.job() != m_busyJob || m_samples.origin() != m_busyOrigin) {
    m_busyJob = m_samples.job();
    m_busyOrigin = m_samples.origin();
    m_busy.clear();
  }
  const auto& points = m_samples.series().points();
  if (points.empty() || m_samples.state() != SampleHistory::State::Following) return;
  m_busy.add(points.back(), m_model.snapshot(), m_busyJob.toStdString());
}

void TimelinePage::refreshComputing() {
  std::vector<JobPlots::Computing> lines;
  const auto isStepTime = [](const PlotCurve& curve) {
    return curve.kind == PlotCurve::Kind::StepTime;
  };
  if (std::ranges::any_of(m_plots->curves(), isStepTime)) {
    for (const ptc::DeviceId device : m_devices) {
      if (lines.size() == kMostFurtherLines) break;
      if (auto values = m_busy.of(device); !values.empty())
        lines.push_back({device, std::move(values)});
    }
  }
  m_plots->setComputing(std::move(lines));
}

void TimelinePage::fillCurvesMenu() {
  m_curvesMenu->clear();
  const std::vector<PlotCurve> all = availableCurves();
  const std::vector<PlotCurve>& drawn = m_plots->curves();
  bool anyMetric = false;
  for (const PlotCurve& curve : all) {
    const bool isMetric = curve.kind == PlotCurve::Kind::Metric;
    if (isMetric && !std::exchange(anyMetric, true)) m_curvesMenu->addSeparator();
    QAction* action = m_curvesMenu->addAction(curve.title());
    const bool isDrawn = std::ranges::find(drawn, curve) != drawn.end();
    if (curve.kind == PlotCurve::Kind::StepTime)
      action->setToolTip(
          tr("Seconds of each step, and what the selected GPUs compute of them, at most eight: "
             "this is not recorded, but seen while the panel is connected"));
    action->setCheckable(true);
    action->setChecked(isDrawn);
    action->setEnabled(!isDrawn || drawn.size() > 1);  // one of them is always drawn
    connect(action, &QAction::toggled, this, [this, curve](bool on) {
      std::erase(m_chosenCurves, curve);
      if (on) m_chosenCurves.push_back(curve);
      refreshCurves();
      emit curvesChosen(printCurves(m_chosenCurves));
    });
  }
  if (anyMetric) return;
  m_curvesMenu->addSeparator();
  m_curvesMenu->addAction(tr("A program adds its own with job.log(accuracy=0.9)"))
      ->setEnabled(false);
}

void TimelinePage::showCurvesMenu() {
  m_curvesMenu->popup(m_curves->mapToGlobal(QPoint(0, m_curves->height())));
}

void TimelinePage::refreshBands() {
  const std::optional<double> now = clusterNow();
  std::optional<RunningBand> running;
  if (const engine::TxnStatus* txn = m_model.runningTxn(); txn != nullptr && now) {
    if (txn->id != m_runningTxn) {
      m_runningTxn = txn->id;
      m_runningSince = *now - txn->paused;
    }
    running.emplace(RunningBand{*txn, m_runningSince, *now});
  }
  m_plots->setBands(
      bandsOf(m_history.entries(), m_samples.job().toStdString(), running, m_samples.origin()));
  m_plots->setNow(now);
  const bool stale = m_model.link() != LinkState::Connected && m_model.hasSnapshot();
  m_plots->setStale(stale);
  if (now && isVisible() && !m_clock.isActive()) m_clock.start();
  if (!now) m_clock.stop();
  refreshNote();
}

void TimelinePage::refreshNote() {
  const auto& points = m_samples.series().points();
  QString note;
  if (!points.empty() && m_model.link() != LinkState::Connected) {
    note = tr("as of %1")
               .arg(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(points.back().time * 1000))
                        .toString(QStringLiteral("HH:mm:ss")));
  } else if (!points.empty() && m_samples.state() == SampleHistory::State::Loading) {
    note = tr("reading older samples…");
  } else if (!points.empty() && m_samples.state() == SampleHistory::State::Failed) {
    note = tr("the samples could not be read; trying again");
  } else if (!points.empty() && !m_plots->isFollowing()) {
    note = tr("not following");
  }
  m_note->setText(note);
  m_fit->setEnabled(!points.empty());
  m_export->setEnabled(!points.empty());
  m_export->setToolTip(exportBlockedReason());
}

QString TimelinePage::exportBlockedReason() const {
  return m_samples.series().points().empty() ? tr("There are no samples to export.") : QString();
}

void TimelinePage::exportByHand() {
  const QString name = QFileDialog::getSaveFileName(
      this, tr("Export the plots"), QStringLiteral("tessera-%1.png").arg(m_samples.job()),
      tr("PNG picture (*.png);;SVG drawing (*.svg);;CSV table of the samples (*.csv);;"
         "JSON of the samples (*.json)"));
  if (name.isEmpty()) return;
  if (const Status written = exportTo(name); !written) emit failed(format::error(written.error()));
}

Status TimelinePage::exportTo(const QString& file) const {
  const QSize size = m_plots->size().expandedTo(kLeastPicture);
  if (file.endsWith(QLatin1String(".png"), Qt::CaseInsensitive))
    return writeFile(file, m_plots->toPng(size, kPlotPictureScale));
  if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
    return writeFile(file, m_plots->toSvg(size));
  return writeFile(file, exportText(m_samples.job(), m_samples.series(), exportFormatOf(file)));
}

void TimelinePage::showEvent(QShowEvent* event) {
  Surface::showEvent(event);
  refreshBands();
}

}  // namespace tessera::ui
