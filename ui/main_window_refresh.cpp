// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Updates the parts from the state.
#include <QDateTime>
#include <QLabel>
#include <QProgressBar>
#include <QStackedWidget>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/format.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/models/change_report.h"
#include "ui/models/change_view.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/countdown_bar.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/state_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/sentences.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/widgets/meter.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::ui {
namespace {

constexpr int kSourceMark = 3;

}  // namespace

void MainWindow::Impl::refreshSide() {
  if (source == LayoutSource::Draft) {
    right->setCurrentWidget(planPanel);
    return;
  }
  if (source == LayoutSource::Lesson) {
    right->setCurrentWidget(lessonPane);
    return;
  }
  if (const auto two = history->compared()) {
    // Of another job no samples are here.
    const bool shown = model.job() != nullptr && two->first->job == model.job()->name &&
                       two->second->job == model.job()->name;
    comparison->setDiff(makeChangeDiff(*two->first, *two->second,
                                       shown ? timeline->samples().series() : SampleSeries()));
    right->setCurrentWidget(comparison);
    return;
  }
  if (auto moments = comparedMoments()) {
    comparison->setDiff(std::move(*moments));
    right->setCurrentWidget(comparison);
    return;
  }
  const bool looking = history->chosen() != nullptr;
  if (looking) details->setReverseBlocked(control.editBlockedReason());
  right->setCurrentWidget(looking ? static_cast<QWidget*>(details) : inspector);
}

void MainWindow::Impl::showLink() {
  bool isShown = false;
  for (View* view : views) {
    isShown |= view->id() == QLatin1String("links") && view->widget() == tabs->current();
  }
  inspector->setLink(isShown ? selection.link() : std::nullopt);
}

void MainWindow::Impl::refresh() {
  // The present has changed, and with it the nodes of the past.
  if (source == LayoutSource::Past && !chooseMoment(moment->time)) {
    setSource(LayoutSource::Live);
    return;
  }
  // A transaction is watched in Live, also if another user started it.
  if (source == LayoutSource::Draft && !control.editBlockedReason().isEmpty()) {
    setSource(LayoutSource::Live);
    return;
  }
  if (wantedSource && control.editBlockedReason().isEmpty()) {
    setSource(*std::exchange(wantedSource, std::nullopt));
    return;
  }
  // Read once per connection, because others may have changed the cluster meanwhile.
  if (model.link() != LinkState::Connected) {
    historyLoaded = false;
  } else if (model.hasSnapshot() && !std::exchange(historyLoaded, true)) {
    history->reload();
  }
  refreshParts();
}

void MainWindow::Impl::refreshParts() {
  refreshViews();
  if (pinned || comparison->moments()) refreshSide();
  refreshNotices();
  navigator->refresh(shownModel(), source == LayoutSource::Draft ? &draft : nullptr);
  navigator->setSelection(selection.devices());
  inspector->refresh(shownModel(), &shownModel() != &model);
  flows->refresh(model);
  notifyDecision();
  bottom->setCurrentIndex(source == LayoutSource::Lesson ? 1 : 0);
  if (source == LayoutSource::Lesson) {
    header->showLesson(lessons.model());
  } else {
    header->showPast(source == LayoutSource::Past ? &pastModel : nullptr,
                     moment ? moment->time : 0);
  }
  refreshPastSwitch();
  refreshStatus();
  refreshTitle();
  refreshAge();
  actions->refresh();
}

std::shared_ptr<const MeshScene> MainWindow::Impl::sceneOf(const engine::ClusterSnapshot& cluster,
                                                           LayoutSource of) const {
  const engine::JobStatus* job = model.job();
  const bool drafting = of == LayoutSource::Draft;
  const std::set<ptc::DeviceId> devices = drafting ? draft.deviceSet() : std::set<ptc::DeviceId>();
  MeshScene scene =
      makeScene(cluster, job == nullptr ? std::string() : job->name, drafting ? &devices : nullptr,
                drafting ? plan.summary().get() : nullptr);
  if (of == LayoutSource::Past) hideProgress(&scene);
  if (scene.groupBy != colours->grouping()) groupScene(&scene, colours->grouping());
  scene.isolated = colours->isolated();
  colourScene(&scene, colours->colouring());
  return std::make_shared<const MeshScene>(std::move(scene));
}

void MainWindow::Impl::refreshViews() {
  if (source == LayoutSource::Lesson) {
    const ShownLayout layout = lessonLayout();
    for (View* view : views) view->showLayout(layout);
    mesh->setReadOnly(!isMeshEditable());
    colours->setScene(*layout.scene);
    return;
  }
  const bool drafting = source == LayoutSource::Draft;
  const bool past = source == LayoutSource::Past && moment;
  const engine::JobStatus* job = model.job();
  const auto compared = comparedChanges();
  ShownLayout layout;
  layout.source = compared ? LayoutSource::Past : source;
  layout.cluster = past ? moment->cluster : compared ? compared->cluster : model.shared();
  if (job != nullptr) layout.job = job->name;
  layout.scene = sceneOf(*layout.cluster, layout.source);
  if (compared) {
    MeshScene marked = *layout.scene;
    markScene(&marked, compared->diff.joined, compared->diff.left, compared->diff.resharded);
    for (auto& node : marked.nodes) {
      for (auto& cell : node.cells) cell.used = cell.total = 0;  // the history does not tell
    }
    layout.scene = std::make_shared<const MeshScene>(std::move(marked));
    layout.time = timesOf(compared->diff.b.entry).end;
  }
  if (const auto moments = past ? comparedMoments() : std::nullopt) {
    MeshScene marked = *layout.scene;
    const bool isLater = moment->time >= pinned->time;  // marks tell how one gets to the moment
    markScene(&marked, isLater ? moments->joined : moments->left,
              isLater ? moments->left : moments->joined, moments->resharded);
    layout.scene = std::make_shared<const MeshScene>(std::move(marked));
  }
  layout.live = source == LayoutSource::Live && !compared
                    ? layout.scene
                    : sceneOf(model.snapshot(), LayoutSource::Live);
  if (past) layout.time = moment->time;
  if (drafting) layout.plan = plan.summary();
  if (const auto facts = states.jobs().find(layout.job); facts != states.jobs().end()) {
    layout.state = facts->second;
  }
  if (past) {
    layout.change = moment->change;
  } else if (const engine::HistoryEntry* entry = history->chosen()) {
    layout.change = std::make_shared<const engine::HistoryEntry>(*entry);
  }
  layout.placeJob();
  for (View* view : views) view->showLayout(layout);
  mesh->setReadOnly(!isMeshEditable());
  colours->setScene(*layout.scene);
}

std::optional<MainWindow::Impl::Compared> MainWindow::Impl::comparedChanges() const {
  const auto two = history->compared();
  const engine::JobStatus* job = model.job();
  if (source != LayoutSource::Live || !two || job == nullptr || model.runningTxn() != nullptr ||
      two->first->job != job->name || two->second->job != job->name) {
    return std::nullopt;
  }
  ChangeDiff diff = makeChangeDiff(*two->first, *two->second, SampleSeries());
  auto cluster = clusterOfChange(diff.b.entry, model.snapshot(), true);
  if (!cluster) return std::nullopt;
  return Compared{std::move(diff),
                  std::make_shared<const engine::ClusterSnapshot>(std::move(*cluster))};
}

void MainWindow::Impl::refreshNotices() {
  const bool shown = model.hasSnapshot() && !model.isFile();
  const QString detail = localized(model.linkDetail());
  const bool past = source == LayoutSource::Past && moment;
  const bool inLesson = source == LayoutSource::Lesson;
  const auto compared = comparedChanges();
  meshPage->setClusterShown(shown || past || inLesson);
  linkNotice->hide();
  if (starting) {
    if (shown) {
      linkNotice->say(Surface::Tone::Accent, tr("Starting a local cluster: %1").arg(*starting));
    } else {
      state->showStarting(*starting);
    }
  } else if (model.isFile()) {
    linkNotice->say(Surface::Tone::Accent,
                    tr("This is a history file, not a live cluster: %1").arg(model.file()),
                    tr("Close the file"));
    state->showFile(model.file());
  } else {
    refreshLink(shown, detail);
  }
  if (const QString notice = seat.notice(); shown && !notice.isEmpty()) {
    operatorNotice->say(Surface::Tone::Warning, notice, tr("Take over"));
  } else {
    operatorNotice->hide();
  }
  if (const auto& tuning = control.tuning(); shown && tuning) {
    const QString doing = tuning->doing.isEmpty() ? tr("planning") : tuning->doing;
    tuningNotice->say(
        Surface::Tone::Accent,
        tuning->isStopping
            ? tr("%1 returns to the configuration before the tuning.").arg(tuning->job)
            : tr("%1 is being tuned: %2.").arg(tuning->job, doing),
        tuning->isStopping ? QString() : tr("Stop and go back"));
  } else {
    tuningNotice->hide();
  }
  refreshJobNotice(shown && !past && !inLesson);
  const QString unrecorded = localized(model.recordProblem());
  if (unrecorded.isEmpty()) {
    recordNotice->hide();
  } else {
    recordNotice->say(
        Surface::Tone::Warning,
        tr("The history cannot be written: %1. Monitoring continues.").arg(unrecorded),
        tr("Data settings…"));
  }

  const bool drafting = source == LayoutSource::Draft;
  if (drafting && countdown->isHidden()) {
    draftNotice->say(Surface::Tone::Accent, tr("Draft: nothing moves until you apply it."),
                     tr("Back to live  Esc"));
  } else {
    draftNotice->hide();
  }
  if (past) {
    pastNotice->say(
        Surface::Tone::Past,
        tr("Past: %1, step %2. Nothing here changes the cluster.")
            .arg(format::clock(moment->time), format::count(moment->cluster->jobs.front().step)),
        model.isFile() ? tr("Back  Esc") : tr("Return to live  Esc"));
  } else if (compared) {
    const ChangeDiff& diff = compared->diff;
    pastNotice->say(
        Surface::Tone::Past,
        tr("After change #%1, against #%2: %3 joined, %4 left, %5 hold another shard.")
            .arg(QString::number(diff.b.entry.id), QString::number(diff.a.entry.id),
                 format::gpus(std::ssize(diff.joined)), format::count(std::ssize(diff.left)),
                 format::count(std::ssize(diff.resharded))),
        tr("Return to live  Esc"));
  } else {
    pastNotice->hide();
  }
  if (inLesson) {
    lessonNotice->say(Surface::Tone::Accent,
                      tr("Simulated: lesson “%1”. Nothing is sent to a cluster.")
                          .arg(QString::fromStdString(lessons.lesson().title)),
                      model.hasSnapshot() ? tr("Return to live  Esc") : tr("Leave  Esc"));
  } else {
    lessonNotice->hide();
  }
  centre->setMark(drafting || past || inLesson || compared ? kSourceMark : 0,
                  past || compared ? Surface::Tone::Past : Surface::Tone::Accent);
}

void MainWindow::Impl::refreshLink(bool shown, const QString& detail) {
  switch (model.link()) {
    case LinkState::None:
      if (!shown) state->showEmpty(connections != nullptr);
      break;
    case LinkState::Connecting:
      if (!shown) state->showConnecting(detail);
      break;
    case LinkState::Connected:
      if (!shown) state->showConnecting(tr("Waiting for the first node to answer."));
      if (shown && model.isSilent()) {
        linkNotice->say(Surface::Tone::Problem,
                        tr("The cluster is connected but silent. The data shown is from %1.")
                            .arg(format::age(model.ageSeconds().value_or(0))),
                        tr("Reconnect"));
      }
      break;
    case LinkState::Lost:
      if (shown) {
        linkNotice->say(Surface::Tone::Problem,
                        tr("Connection lost. The data shown is from %1. %2")
                            .arg(format::age(model.ageSeconds().value_or(0)), detail)
                            .trimmed(),
                        tr("Retry now"));
      } else {
        state->showProblem(tr("The cluster does not answer"), detail, true);
      }
      break;
    case LinkState::Refused:
      if (shown) {
        linkNotice->say(Surface::Tone::Problem,
                        tr("The cluster refused the connection: %1").arg(detail), tr("Retry now"));
      } else {
        state->showProblem(tr("The cluster refused the connection"), detail, true);
      }
      break;
  }
}

void MainWindow::Impl::refreshJobNotice(bool shown) {
  jobNotice->hide();
  if (shown && model.link() == LinkState::Connected) {
    const engine::JobStatus* job = model.job();
    if (job != nullptr && job->decision) return;  // its card says more
    const QString command = context.commandLine(
        {QStringLiteral("job"), QStringLiteral("start"), QStringLiteral("gpt-mini")});
    if (job == nullptr || job->state == engine::JobState::kStopped) {
      jobNotice->say(Surface::Tone::Accent, tr("No job is running. Start one:"), tr("Start a job…"),
                     command);
    } else if (job->state == engine::JobState::kFailed) {
      const QString reason =
          job->reason.empty() ? tr("the cluster gave no reason") : localized(job->reason);
      jobNotice->say(Surface::Tone::Problem,
                     tr("%1 failed: %2").arg(QString::fromStdString(job->name), reason));
    } else if (job->state == engine::JobState::kSuspended) {
      jobNotice->say(Surface::Tone::Problem,
                     tr("%1 is suspended, its state is kept: %2")
                         .arg(QString::fromStdString(job->name), localized(job->reason)));
    } else if (job->state == engine::JobState::kStarting && !job->reason.empty()) {
      jobNotice->say(
          Surface::Tone::Accent,
          tr("%1 is starting: %2").arg(QString::fromStdString(job->name), localized(job->reason)));
    } else if (const engine::DeviceStatus* slow = model.slowestDevice(); slow != nullptr) {
      const QString device = format::device(slow->id);
      jobNotice->say(
          Surface::Tone::Warning,
          tr("%1 is slow: it computes %2 per step, its peers %3. All GPUs of the job wait "
             "for it.")
              .arg(device, format::seconds(slow->busy_seconds),
                   format::seconds(slow->peers_seconds)),
          tr("Draft without %1").arg(device));
    }
  }
}

void MainWindow::Impl::refreshStatus() {
  const engine::ClusterSnapshot& snapshot = model.snapshot();
  int alive = 0;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    alive += node.state == engine::NodeState::kAlive;
  }
  const int nodes = static_cast<int>(snapshot.nodes.size());
  QString left;
  switch (model.link()) {
    case LinkState::None:
      left = tr("no cluster");
      break;
    case LinkState::Connecting:
      left = tr("connecting");
      break;
    case LinkState::Connected:
      if (model.isFile()) {
        left = tr("history file");
        break;
      }
      left =
          nodes == 1 ? tr("%1 of 1 agent").arg(alive) : tr("%1 of %2 agents").arg(alive).arg(nodes);
      if (const engine::OperatorLease* lease = seat.other()) {
        left += tr(" · operated by %1").arg(leaseText(*lease));
      }
      if (!model.viewerKey().isEmpty()) {
        left += tr(" · viewer's key '%1': changes need an operator's").arg(model.viewerKey());
      }
      break;
    case LinkState::Lost:
      left = tr("connection lost");
      break;
    case LinkState::Refused:
      left = tr("refused");
      break;
  }
  if (source == LayoutSource::Lesson) {
    left = tr("simulated · %1")
               .arg(format::nodes(static_cast<std::int64_t>(shownModel().snapshot().nodes.size())));
  }
  statusLeft->setText(left);
  const bool good = model.link() == LinkState::Connected;
  const bool waiting = model.link() == LinkState::None || model.link() == LinkState::Connecting ||
                       model.isFile() || source == LayoutSource::Lesson;
  statusDot->setTone(waiting          ? StateDot::Tone::Quiet
                     : !good          ? StateDot::Tone::Bad
                     : alive == nodes ? StateDot::Tone::Good
                                      : StateDot::Tone::Warning);

  const std::optional<double> done = progress->overall();
  const bool moving = done && progress->view() && !progress->view()->ended;
  statusBar->setVisible(moving);
  if (moving) {
    statusBar->setValue(static_cast<int>(*done * 1000));
    double rate = 0;
    for (const engine::FlowStatus& flow : snapshot.transaction->flows) {
      rate += flow.bytes_per_second;
    }
    QString text = tr("moving %1").arg(format::percent(*done));
    if (rate > 0) text += QStringLiteral(" · ") + format::rate(rate);
    statusRight->setText(text);
  } else if (source == LayoutSource::Lesson) {
    statusRight->setText(tr("step %1 of %2 · %3 of %4 lessons finished")
                             .arg(lessons.step() + 1)
                             .arg(lessons.numSteps())
                             .arg(lessonRecords.numFinished())
                             .arg(static_cast<int>(lessonEntries().size())));
  } else if (!draft.edits().order.empty() && draft.edits().in.empty()) {
    statusRight->setText(tr("draft: places swapped · Ctrl+Z undoes"));
  } else if (!draft.isEmpty()) {
    statusRight->setText(tr("draft: %1 added, %2 removed · Ctrl+Z undoes")
                             .arg(draft.edits().in.size())
                             .arg(draft.edits().out.size()));
  } else {
    const engine::JobStatus* job = model.job();
    const bool asks = job != nullptr && job->state == engine::JobState::kWaitingDecision;
    statusRight->setText(asks                  ? tr("a decision is needed")
                         : model.hasSnapshot() ? tr("no change in progress")
                                               : QString());
  }
}

void MainWindow::Impl::refreshTitle() {
  QString title = tr("Tessera");
  if (model.hasSnapshot()) {
    title = header->jobText() + QStringLiteral(" — ") + title;
  }
  const std::optional<double> done = progress->overall();
  if (done && progress->view() && !progress->view()->ended) {
    title = QStringLiteral("[%1] ").arg(format::percent(*done)) + title;
  }
  window.setWindowTitle(title);
}

void MainWindow::Impl::refreshAge() {
  const bool current =
      !model.hasSnapshot() || (model.link() == LinkState::Connected && !model.isSilent());
  const QString asOf =
      current ? QString()
              : tr("as of %1")
                    .arg(QDateTime::currentDateTime()
                             .addSecs(-static_cast<qint64>(model.ageSeconds().value_or(0)))
                             .toString(QStringLiteral("HH:mm:ss")));
  history->setStale(asOf);
  // A moment of the past does not become older.
  const bool aging = !current && source != LayoutSource::Past && source != LayoutSource::Lesson;
  for (View* view : views) {
    view->setStale(aging ? model.ageSeconds().value_or(0) : 0, aging ? asOf : QString());
  }
  if (!current) {
    header->refresh();
    refreshNotices();
  }
}

}  // namespace tessera::ui
