// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/header_bar.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/icons.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/toggle_switch.h"

namespace tessera::ui {
namespace {

constexpr int kGoToIconWidth = 34;

enum MetricIndex : std::size_t { kStep, kLoss, kSpeed, kMesh, kNumMetrics };

StateDot::Tone toneOf(engine::JobState state) {
  switch (state) {
    case engine::JobState::kRunning:
      return StateDot::Tone::Good;
    case engine::JobState::kStarting:
    case engine::JobState::kPausing:
    case engine::JobState::kPaused:
    case engine::JobState::kReconfiguring:
    case engine::JobState::kWaitingDecision:
      return StateDot::Tone::Warning;
    case engine::JobState::kStopped:
      return StateDot::Tone::Quiet;
    case engine::JobState::kSuspended:
    case engine::JobState::kFailed:
    case engine::JobState::kUnknown:
      return StateDot::Tone::Bad;
  }
  return StateDot::Tone::Quiet;
}

/// A label that keeps its width while its text is shorter, so that the toolbar does not move when
/// numbers change.
class SteadyLabel : public QLabel {
 public:
  SteadyLabel(int width, QWidget* parent) : QLabel(parent), m_width(width) {}
  QSize sizeHint() const override { return QLabel::sizeHint().expandedTo({m_width, 0}); }
  QSize minimumSizeHint() const override { return sizeHint(); }

 private:
  int m_width;
};

QLabel* fixedLabel(const QString& role, int width, QWidget* parent) {
  auto* label = new SteadyLabel(width, parent);
  setRole(label, role);
  return label;
}

}  // namespace

StateDot::StateDot(QWidget* parent) : QWidget(parent) { setFixedSize(10, 10); }

void StateDot::setTone(Tone tone) {
  if (tone == m_tone) return;
  m_tone = tone;
  update();
}

void StateDot::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QColor color;
  switch (m_tone) {
    case Tone::Quiet:
      color = theme.faint;
      break;
    case Tone::Good:
      color = theme.ok;
      break;
    case Tone::Warning:
      color = theme.warn;
      break;
    case Tone::Bad:
      color = theme.bad;
      break;
  }
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(QRectF(1, 1, 8, 8));
}

HeaderBar::HeaderBar(ClusterModel& model, Draft& draft, MoveControl& control, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_draft(draft),
      m_control(control),
      m_sources(new SegmentedSwitch(this)),
      m_tag(new QWidget(this)),
      m_dot(new StateDot(this)),
      m_job(fixedLabel(QStringLiteral("heading"), 0, this)),
      m_state(fixedLabel(QStringLiteral("caption"), 150, this)),
      m_badge(new QLabel(this)),
      m_jobs(new QToolButton(this)),
      m_goTo(new QPushButton(this)),
      m_operate(new QPushButton(tr("Monitor"), this)),
      m_live(new ToggleSwitch(tr("Live moves"), this)) {
  m_sources->addSegment(static_cast<int>(LayoutSource::Live), tr("Live"),
                        tr("Show the live layout"));
  m_sources->addSegment(static_cast<int>(LayoutSource::Draft), tr("Draft"), tr("Show the draft"));
  m_sources->addSegment(static_cast<int>(LayoutSource::Past), tr("Past"), tr("Show the past"));
  m_sources->addSegment(static_cast<int>(LayoutSource::Lesson), tr("Lesson"), tr("Show a lesson"));
  m_operate->setCheckable(true);
  m_operate->setMinimumWidth(104);
  m_live->setAccessibleName(tr("Live moves: a drop starts a change after a countdown"));

  m_tag->setFixedSize(4, 28);
  m_tag->setAutoFillBackground(true);
  m_tag->hide();
  m_jobs->setPopupMode(QToolButton::InstantPopup);
  m_jobs->setMenu(new QMenu(m_jobs));
  m_jobs->setAccessibleName(tr("Select the job to show"));
  m_jobs->setToolTip(tr("Select the job to show"));
  m_jobs->hide();
  // A button that looks like the search field that it opens.
  auto* goToRow = new QHBoxLayout(m_goTo);
  goToRow->setContentsMargins(10, 0, 10, 0);
  for (const QString& words : {tr("Go to…"), tr("Ctrl+K")}) {
    auto* label = new QLabel(words, m_goTo);
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
    setRole(label, QStringLiteral("hint"));
    if (goToRow->count() > 0) goToRow->addStretch();
    goToRow->addWidget(label);
    m_goToWords.push_back(label);
  }
  m_goToWidth = std::max(156, goToRow->sizeHint().width() + 16);
  m_goTo->setFixedWidth(m_goToWidth);
  m_goTo->setFocusPolicy(Qt::NoFocus);  // its shortcut replaces Tab
  m_goTo->setAccessibleName(tr("Go to an action, a GPU, a node, a job, a change or an event"));
  m_goTo->setToolTip(tr("Search actions, GPUs, nodes, jobs, changes and events (Ctrl+K)"));

  auto* name = new QVBoxLayout;
  name->setSpacing(0);
  name->addWidget(m_job);
  name->addWidget(m_state);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 0, 12, 0);
  row->setSpacing(8);
  row->addWidget(m_sources);
  row->addSpacing(10);
  row->addWidget(m_tag);
  row->addWidget(m_dot);
  row->addLayout(name);
  setRole(m_badge, QStringLiteral("badge"));
  m_badge->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Maximum);
  m_badge->hide();
  row->addWidget(m_badge);
  row->addWidget(m_jobs);
  row->addSpacing(16);
  constexpr int kWidths[kNumMetrics] = {76, 76, 76, 132};
  for (const int width : kWidths) {
    Metric metric{fixedLabel(QStringLiteral("number"), width, this),
                  fixedLabel(QStringLiteral("caption"), width, this)};
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    column->addWidget(metric.value);
    column->addWidget(metric.caption);
    row->addLayout(column);
    row->addSpacing(8);
    m_metrics.push_back(metric);
  }
  row->addStretch();
  row->addWidget(m_goTo);
  row->addSpacing(6);
  row->addWidget(m_operate);
  row->addSpacing(6);
  row->addWidget(m_live);

  connect(m_sources, &SegmentedSwitch::chosen, this,
          [this](int id) { emit sourceChosen(static_cast<LayoutSource>(id)); });
  connect(m_goTo, &QPushButton::clicked, this, &HeaderBar::goToRequested);
  connect(m_operate, &QPushButton::clicked, this,
          [this](bool checked) { m_control.setOperating(checked); });
  connect(m_live, &QAbstractButton::clicked, this,
          [this](bool checked) { m_control.setLive(checked); });
  refresh();
}

void HeaderBar::setTag(const QColor& color) {
  m_tag->setVisible(color.alpha() > 0);
  QPalette palette = m_tag->palette();
  palette.setColor(QPalette::Window, color);
  m_tag->setPalette(palette);
}

void HeaderBar::resizeEvent(QResizeEvent* event) {
  fit();
  QWidget::resizeEvent(event);
}

std::vector<HeaderBar::Part> HeaderBar::droppable() const {
  const auto showWords = [this](bool wide) {
    if (wide == !m_goToWords.front()->isHidden()) return;
    for (QLabel* label : m_goToWords) label->setVisible(wide);
    m_goTo->setStyleSheet(wide ? QString() : QStringLiteral("QPushButton { padding: 0px; }"));
    m_goTo->setFixedWidth(wide ? m_goToWidth : kGoToIconWidth);
    paintGoTo();
  };
  std::vector<Part> parts{
      {m_goToWidth - kGoToIconWidth, !m_goToWords.front()->isHidden(), showWords}};
  for (const MetricIndex index : {kMesh, kLoss, kSpeed}) {
    const Metric& metric = m_metrics[index];
    int room = 0;
    for (const QLabel* label : {metric.value, metric.caption}) {
      room = std::max({room, label->minimumWidth(), label->minimumSizeHint().width()});
    }
    parts.push_back({room + layout()->spacing(), !metric.value->isHidden(), [&metric](bool shown) {
                       metric.value->setVisible(shown);
                       metric.caption->setVisible(shown);
                     }});
  }
  parts.push_back({m_live->textRoom(), m_live->isTextShown(),
                   [this](bool shown) { m_live->setTextShown(shown); }});
  return parts;
}

QSize HeaderBar::minimumSizeHint() const {
  QSize hint = layout()->minimumSize();
  for (const Part& part : droppable()) hint.rwidth() -= part.isShown ? part.room : 0;
  return hint;
}

void HeaderBar::paintGoTo() const {
  const bool wide = !m_goToWords.front()->isHidden();
  m_goTo->setIcon(wide ? QIcon() : icon(QStringLiteral("search"), Theme::current().dim));
}

void HeaderBar::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) paintGoTo();
  QWidget::changeEvent(event);
}

void HeaderBar::fit() {
  int need = minimumSizeHint().width();
  const auto parts = droppable();
  // The last ones are kept longest.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    need += part->room;
    part->show(need <= width());
  }
}

void HeaderBar::refreshJobs() {
  const auto& jobs = m_model.snapshot().jobs;
  m_jobs->setVisible(jobs.size() > 1);
  if (jobs.size() < 2) return;
  m_jobs->setText(tr("%1 jobs").arg(jobs.size()));
  QMenu* menu = m_jobs->menu();
  if (menu->isVisible()) return;
  menu->clear();
  const engine::JobStatus* shown = m_model.job();
  for (const engine::JobStatus& job : jobs) {
    const QString name = QString::fromStdString(job.name);
    QStringList facts = {format::text(job.state)};
    if (!job.devices.empty()) facts << format::gpus(std::ssize(job.devices));
    if (job.state == engine::JobState::kRunning && job.step_seconds)
      facts << tr("%1 per step").arg(format::seconds(*job.step_seconds));
    QAction* action = menu->addAction(tr("%1 — %2").arg(name, facts.join(QStringLiteral(" · "))),
                                      this, [this, name] { emit jobChosen(name); });
    action->setCheckable(true);
    action->setChecked(shown != nullptr && shown->name == job.name);
  }
}

void HeaderBar::setSource(LayoutSource source) { m_sources->setCurrent(static_cast<int>(source)); }

void HeaderBar::setPastBlocked(const QString& reason) {
  QAbstractButton* segment = m_sources->segment(static_cast<int>(LayoutSource::Past));
  segment->setEnabled(reason.isEmpty());
  segment->setToolTip(reason);
}

void HeaderBar::showPast(const ClusterModel* past, double time) {
  m_past = past;
  m_time = time;
  m_simulated = false;
  refresh();
}

void HeaderBar::showLesson(const ClusterModel& simulated) {
  m_past = &simulated;
  m_simulated = true;
  refresh();
}

QString HeaderBar::jobText() const { return m_job->text(); }
QString HeaderBar::stateText() const { return m_state->text(); }
QString HeaderBar::badgeText() const { return m_badge->isHidden() ? QString() : m_badge->text(); }

void HeaderBar::refreshBadge() {
  const auto& simulation = m_model.snapshot().simulation;
  const bool shown = simulation && m_model.hasSnapshot() && !m_simulated;
  m_badge->setVisible(shown);
  if (!shown) return;
  if (m_model.isFile()) {
    m_badge->setText(tr("SIMULATED"));
    m_badge->setToolTip(tr("The cluster of this history was simulated, on hardware %1.")
                            .arg(QString::fromStdString(simulation->hardware)));
    m_badge->setAccessibleName(m_badge->text() + QLatin1Char(' ') + m_badge->toolTip());
    return;
  }
  const QString speed = QLocale().toString(simulation->speed);
  m_badge->setText(simulation->speed == 0 ? tr("SIMULATED, stopped")
                                          : tr("SIMULATED %1 ×").arg(speed));
  const bool isSlower = simulation->reached < simulation->speed;
  m_badge->setToolTip(tr("Hardware %1, seed %2. %3 simulated seconds pass in a second.")
                          .arg(QString::fromStdString(simulation->hardware))
                          .arg(simulation->seed)
                          .arg(QLocale().toString(simulation->reached)) +
                      (isSlower
                           ? QLatin1Char(' ') + tr("This machine does not compute %1.").arg(speed)
                           : QString()));
  m_badge->setAccessibleName(m_badge->text() + QLatin1Char(' ') + m_badge->toolTip());
}

QString HeaderBar::metric(const QString& caption) const {
  for (const Metric& metric : m_metrics) {
    if (metric.caption->text() == caption) return metric.value->text();
  }
  return {};
}

void HeaderBar::setMetric(std::size_t index, const QString& value, const QString& caption) {
  m_metrics[index].value->setText(value);
  m_metrics[index].value->setAccessibleName(caption + QLatin1Char(' ') + value);
  m_metrics[index].caption->setText(caption);
}

void HeaderBar::refresh() {
  ++m_numRefreshes;
  const ClusterModel& shown = m_past == nullptr ? m_model : *m_past;
  const engine::ClusterSnapshot& snapshot = shown.snapshot();
  const engine::JobStatus* job = shown.job();
  const engine::TxnStatus* txn = shown.runningTxn();
  const QString cluster = QString::fromStdString(snapshot.cluster);

  if (m_past != nullptr && job != nullptr) {
    m_job->setText(cluster + QStringLiteral(" · ") + QString::fromStdString(job->name));
    m_state->setText(m_simulated
                         ? tr("lesson, epoch %1").arg(job->epoch)
                         : tr("at %1, epoch %2").arg(format::timeOfDay(m_time)).arg(job->epoch));
    m_dot->setTone(StateDot::Tone::Quiet);
  } else if (!m_model.hasSnapshot()) {
    m_job->setText(tr("No cluster"));
    m_state->setText(m_model.link() == LinkState::Connecting ? tr("connecting") : QString());
    m_dot->setTone(StateDot::Tone::Quiet);
  } else if (m_model.link() != LinkState::Connected) {
    m_job->setText(job == nullptr
                       ? cluster
                       : cluster + QStringLiteral(" · ") + QString::fromStdString(job->name));
    const auto stopped = m_model.stopped();
    m_state->setText(stopped ? tr("stopped at %1").arg(format::minuteClock(stopped->time))
                             : tr("as of %1").arg(format::age(m_model.ageSeconds().value_or(0))));
    m_dot->setTone(stopped ? StateDot::Tone::Quiet : StateDot::Tone::Bad);
  } else if (job == nullptr) {
    m_job->setText(cluster);
    m_state->setText(tr("no job"));
    m_dot->setTone(StateDot::Tone::Quiet);
  } else {
    m_job->setText(cluster + QStringLiteral(" · ") + QString::fromStdString(job->name));
    const bool still = txn != nullptr && txn->paused > 0;
    m_state->setText(still ? tr("paused after step %1").arg(format::count(job->step))
                           : tr("%1, epoch %2").arg(format::text(job->state)).arg(job->epoch));
    m_dot->setTone(still ? StateDot::Tone::Warning : toneOf(job->state));
  }

  if (m_model.isFile() && m_past == nullptr) {
    m_state->setText(tr("history file, not live"));
    m_dot->setTone(StateDot::Tone::Quiet);
  }
  refreshJobs();
  refreshBadge();

  const bool known = job != nullptr && job->state != engine::JobState::kUnknown;
  setMetric(kStep, known ? format::count(job->step) : format::unknown(), tr("step"));
  setMetric(kLoss, known && job->loss ? QLocale().toString(*job->loss, 'f', 3) : format::unknown(),
            tr("loss"));
  // Before that the job trains, with short waits while its state is copied.
  if (txn != nullptr && txn->paused > 0 && txn->phase >= engine::TxnPhase::kTransferring) {
    setMetric(kSpeed, format::seconds(txn->paused), tr("paused"));
  } else {
    setMetric(kSpeed,
              known && job->tokens_per_second ? format::shortCount(*job->tokens_per_second)
                                              : format::unknown(),
              tr("tokens/s"));
  }
  const bool isPlaced = known && !job->devices.empty();  // false while the job opens its data
  QString mesh = isPlaced ? format::shape(job->mesh) : format::unknown();
  if (txn != nullptr) {
    mesh = format::shape(txn->from_mesh) + QStringLiteral(" → ") + format::shape(txn->to_mesh);
  }
  setMetric(kMesh, mesh, QStringLiteral("dp × tp × pp"));

  const Draft::Edits& edits = m_draft.edits();
  QString draft = tr("Draft");
  if (!edits.in.empty()) draft += QStringLiteral("  +%1").arg(format::count(std::ssize(edits.in)));
  if (!edits.out.empty()) {
    draft += QStringLiteral("  ") + QChar(0x2212) + format::count(std::ssize(edits.out));
  }
  QAbstractButton* segment = m_sources->segment(static_cast<int>(LayoutSource::Draft));
  if (segment->text() != draft) {
    segment->setText(draft);
    segment->updateGeometry();
  }

  m_operate->setText(m_control.isOperating() ? tr("Operate") : tr("Monitor"));
  m_operate->setChecked(m_control.isOperating());
  m_operate->setEnabled(!m_control.isReadOnly());
  m_operate->setAccessibleName(m_control.isOperating()
                                   ? tr("Operate: this panel can change the cluster")
                                   : tr("Monitor: this panel cannot change the cluster"));
  m_operate->setToolTip(m_control.isReadOnly()    ? m_control.readOnlyReason()
                        : m_control.isOperating() ? tr("Lock (Ctrl+Shift+O)")
                                                  : tr("Switch to Operate (Ctrl+Shift+O)"));
  m_live->setEnabled(m_control.isOperating());
  m_live->setChecked(m_control.isLive());
  m_live->setToolTip(m_control.isOperating()
                         ? tr("A drop starts a change after a countdown. Esc stops it")
                         : tr("Switch to Operate first (Ctrl+Shift+O)"));
  fit();
}

}  // namespace tessera::ui
