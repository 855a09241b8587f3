// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Hands changes of the models on to the parts.
#include <QDateTime>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/connections.h"
#include "ui/format.h"
#include "ui/lessons/lesson_list.h"
#include "ui/main_window_impl.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/timeline_page.h"
#include "ui/views/colour_bar.h"
#include "ui/window/centre_pane.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/desktop_notices.h"
#include "ui/window/records_pane.h"
#include "ui/window/side_pane.h"
#include "ui/window/status_line.h"

namespace tessera::ui {

void MainWindow::Impl::refresh() {
  // The present has changed, and with it the nodes of the past.
  if (presenter->isPast() && !presenter->chooseMoment(presenter->moment()->time))
    return setSource(LayoutSource::Live);
  // A transaction is watched in Live, also if another user started it.
  if (presenter->isDraft() && !control.editBlockedReason().isEmpty())
    return setSource(LayoutSource::Live);
  if (wantedSource && control.editBlockedReason().isEmpty())
    return setSource(*std::exchange(wantedSource, std::nullopt));
  records->followLink();
  refreshParts();
}

void MainWindow::Impl::refreshParts() {
  refreshViews();
  if (presenter->pinned() || side->comparison()->moments()) refreshSide();
  refreshNotices();
  const ClusterModel& shown = presenter->shownModel();
  navigator->refresh(shown, presenter->isDraft() ? &draft : nullptr);
  navigator->setSelection(selection.devices());
  side->inspector()->refresh(shown, &shown != &model);
  records->flows()->refresh(model);
  desktop->followJob(model.job());
  records->setInLesson(presenter->isLesson());
  if (presenter->isLesson()) {
    header->showLesson(lessons.model());
  } else if (presenter->isPast()) {
    header->showPast(&presenter->pastModel(), presenter->moment()->time);
  } else {
    header->showPast(nullptr);
  }
  refreshPastSwitch();
  refreshStatus();
  refreshTitle();
  showAge();
  actions->refresh();
}

void MainWindow::Impl::refreshViews() {
  const ShownLayout layout = presenter->layout(centre->looks());
  centre->showLayout(layout);
  refreshEditable();
  colours->setScene(*layout.scene);
}

void MainWindow::Impl::refreshEditable() {
  const bool can = presenter->isLesson() ? lessons.canEdit()
                                         : control.editBlockedReason().isEmpty() &&
                                               presenter->comparedChanges() == nullptr &&
                                               !presenter->comparedMoments();
  mesh->setReadOnly(!can);
}

void MainWindow::Impl::refreshSide() { side->refresh(*presenter, *history, timeline->samples()); }

void MainWindow::Impl::showLink() {
  side->inspector()->setLink(centre->isShown(QStringLiteral("links")) ? selection.link()
                                                                      : std::nullopt);
}

void MainWindow::Impl::refreshNotices() {
  const ComparedChanges* compared = presenter->comparedChanges();
  NoticeFacts facts{.source = presenter->source(),
                    .starting = clusters->starting(),
                    .compared = compared == nullptr ? nullptr : &compared->diff};
  if (presenter->isPast()) {
    const ShownMoment& moment = *presenter->moment();
    facts.moment = {moment.time, moment.cluster->jobs.front().step};
  }
  if (presenter->isLesson()) facts.lesson = QString::fromStdString(lessons.lesson().title);
  if (model.link() != LinkState::Stopped || connections == nullptr) {
    stoppedCluster.reset();
  } else if (!stoppedCluster) {  // once, because it reads files
    stoppedCluster = connections->stoppedCluster(connections->current());
  }
  centre->refresh(std::move(facts), connections != nullptr,
                  stoppedCluster ? &*stoppedCluster : nullptr);
}

void MainWindow::Impl::refreshStatus() {
  StatusFacts facts{.model = model,
                    .draft = draft,
                    .other = seat.other(),
                    .moved = centre->moved(),
                    .lesson = {}};
  if (presenter->isLesson()) {
    facts.lesson = {.nodes = static_cast<int>(lessons.model().snapshot().nodes.size()),
                    .step = lessons.step(),
                    .steps = lessons.numSteps(),
                    .finished = lessonRecords.numFinished(),
                    .lessons = static_cast<int>(lessonEntries().size())};
  }
  status->refresh(facts);
}

void MainWindow::Impl::refreshTitle() {
  QString title = tr("Tessera");
  if (model.hasSnapshot()) title = header->jobText() + QStringLiteral(" — ") + title;
  if (const auto done = centre->moved())
    title = QStringLiteral("[%1] ").arg(format::percent(*done)) + title;
  window.setWindowTitle(title);
}

void MainWindow::Impl::refreshPastSwitch() {
  const QString reason = presenter->pastBlockedReason();
  if (pastReason == reason) return;
  pastReason = reason;
  header->setPastBlocked(reason);
  actions->refresh();
}

bool MainWindow::Impl::isCurrent() const {
  return !model.hasSnapshot() || (model.link() == LinkState::Connected && !model.isSilent());
}

void MainWindow::Impl::refreshAge() {
  showAge();
  if (isCurrent()) return;
  header->refresh();
  refreshNotices();
}

void MainWindow::Impl::showAge() {
  const bool current = isCurrent();
  const QString asOf =
      current ? QString()
              : tr("as of %1")
                    .arg(QDateTime::currentDateTime()
                             .addSecs(-static_cast<qint64>(model.ageSeconds().value_or(0)))
                             .toString(QStringLiteral("HH:mm:ss")));
  history->setStale(asOf);
  // A moment of the past does not become older.
  const bool aging = !current && (presenter->isLive() || presenter->isDraft());
  centre->setStale(aging ? model.ageSeconds().value_or(0) : 0, aging ? asOf : QString());
}

}  // namespace tessera::ui
