// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The past as a source: which moment is shown, and how it is chosen.

#include <QDateTime>
#include <QPointer>
#include <QScopedValueRollback>
#include <utility>

#include "ui/format.h"
#include "ui/main_window_impl.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"

namespace tessera::ui {
namespace {

double localClock() { return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000; }

}  // namespace

QString MainWindow::Impl::pastBlockedReason() const {
  if (model.job() == nullptr) return tr("There is no job.");
  return usualMoment() ? QString() : tr("The history of the job has no changes and no samples.");
}

std::optional<double> MainWindow::Impl::usualMoment() const {
  const engine::JobStatus* job = model.job();
  if (job == nullptr) return {};
  if (const auto time = timeline->plots()->playhead()) return time;
  if (const engine::HistoryEntry* last = changeIndex.last(job->name)) return last->started;
  const auto& points = timeline->samples().series().points();
  return points.empty() ? std::nullopt : std::optional(points.back().time);
}

const ClusterModel& MainWindow::Impl::shownModel() const {
  if (source == LayoutSource::Lesson) return lessons.model();
  return source == LayoutSource::Past ? pastModel : model;
}

bool MainWindow::Impl::chooseMoment(double time) {
  const engine::JobStatus* job = model.job();
  if (job == nullptr) return false;
  auto cluster = clusterAt(model.snapshot(), changeIndex, timeline->samples().series(), job->name,
                           time, nodeStates);
  if (!cluster) return false;
  const engine::HistoryEntry* change = changeIndex.lastBefore(job->name, time);
  moment =
      Moment{time, std::make_shared<const engine::ClusterSnapshot>(std::move(*cluster)),
             change == nullptr ? nullptr : std::make_shared<const engine::HistoryEntry>(*change)};
  pastModel.setSnapshot(*moment->cluster);
  pastModel.chooseJob(job->name);
  return true;
}

bool MainWindow::Impl::showMoment(double time) {
  if (!chooseMoment(time)) return false;
  {
    // The playhead stays within the samples; the moment may be outside of them.
    const QScopedValueRollback<bool> quiet(placingPlayhead, true);
    timeline->plots()->setPlayhead(time);
  }
  if (source == LayoutSource::Past) {
    refreshParts();
  } else {
    setSource(LayoutSource::Past);
  }
  return true;
}

void MainWindow::Impl::leavePast() {
  moment.reset();
  const QScopedValueRollback<bool> quiet(placingPlayhead, true);
  timeline->plots()->setPlayhead(std::nullopt);
}

void MainWindow::Impl::leaveDraft() {
  if (source == LayoutSource::Draft) setSource(LayoutSource::Live);
}

void MainWindow::Impl::followPlayhead() {
  if (placingPlayhead) return;
  if (const auto time = timeline->plots()->playhead()) {
    showMoment(*time);
  } else if (source == LayoutSource::Past) {
    setSource(LayoutSource::Live);
  }
}

void MainWindow::Impl::showMomentOf(const engine::HistoryEntry& entry) {
  const engine::JobStatus* job = model.job();
  if (job == nullptr || job->name != entry.job) {
    if (model.findJob(entry.job) == nullptr) {
      return showError(tr("The moment of change %1 cannot be shown: the cluster no longer has "
                          "job %2.")
                           .arg(entry.id)
                           .arg(QString::fromStdString(entry.job)));
    }
    model.chooseJob(entry.job);
    model.flush();
  }
  showMoment(entry.started);
}

QString MainWindow::Impl::compareBlockedReason() const {
  return pinned || (source == LayoutSource::Past && moment)
             ? QString()
             : tr("Show a moment of the past first.");
}

void MainWindow::Impl::setComparing(bool compares) {
  pinned = compares && source == LayoutSource::Past ? shownSide() : std::nullopt;
  timeline->plots()->setPinned(pinned ? std::optional(pinned->time) : std::nullopt);
  refreshSide();
  refreshParts();
}

std::optional<MomentSide> MainWindow::Impl::shownSide() const {
  const engine::JobStatus* job = model.job();
  if (job == nullptr) return {};
  if (source == LayoutSource::Past && moment)
    return momentSideOf(*moment->cluster, job->name, moment->time,
                        moment->change ? moment->change->id : 0);
  const auto& points = timeline->samples().series().points();
  const engine::HistoryEntry* last = changeIndex.last(job->name);
  return momentSideOf(model.snapshot(), job->name,
                      points.empty() ? localClock() : points.back().time,
                      last == nullptr ? 0 : last->id);
}

std::optional<MomentDiff> MainWindow::Impl::comparedMoments() const {
  const bool fits = source == LayoutSource::Past || source == LayoutSource::Live;
  if (!pinned || !fits || history->compared()) return {};
  const auto shown = shownSide();
  if (!shown || shown->job.name != pinned->job.name) return {};
  return makeMomentDiff(*pinned, *shown, history->model()->entries());
}

void MainWindow::Impl::indexChanges() {
  changeIndex = ChangeIndex(history->model()->entries());
  refreshPastSwitch();
  if (source == LayoutSource::Past) refresh();
  if (model.isFile() || !model.hasSnapshot()) return;  // a file has sent all its events
  commands.ask(NodeEventsRequest{}, [this, self = QPointer(&window)](auto answer) {
    if (self && answer) noteStates(*answer);
  });
}

void MainWindow::Impl::noteStates(const std::vector<engine::Event>& told) {
  if (nodeStates.add(told) && source == LayoutSource::Past && moment) showMoment(moment->time);
}

void MainWindow::Impl::refreshPastSwitch() {
  const QString reason = pastBlockedReason();
  if (pastReason == reason) return;
  pastReason = reason;
  header->setPastBlocked(reason);
  actions->refresh();
}

}  // namespace tessera::ui
