// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Updates the parts from the state.
#include <QComboBox>
#include <QDateTime>
#include <QLabel>
#include <QProgressBar>
#include <QStackedWidget>
#include <utility>

#include "ui/canvas/device_looks.h"
#include "ui/canvas/mesh_view.h"
#include "ui/format.h"
#include "ui/main_window_impl.h"
#include "ui/pages/change_details.h"
#include "ui/pages/countdown_bar.h"
#include "ui/pages/files_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/state_page.h"
#include "ui/widgets/legend.h"
#include "ui/widgets/meter.h"

namespace tessera::ui {
namespace {

constexpr int kDraftMark = 3;

}  // namespace

void MainWindow::Impl::refreshSide() {
  if (source == HeaderBar::DraftSource) {
    right->setCurrentWidget(planPanel);
    return;
  }
  const bool looking = history->chosen() != nullptr;
  if (looking) details->setReverseBlocked(control.editBlockedReason());
  right->setCurrentWidget(looking ? static_cast<QWidget*>(details) : inspector);
}

void MainWindow::Impl::refresh() {
  // A transaction is watched in Live, also if another user started it.
  if (source == HeaderBar::DraftSource && !control.editBlockedReason().isEmpty()) {
    setSource(HeaderBar::LiveSource);
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
  refreshScene();
  refreshNotices();
  navigator->refresh(source == HeaderBar::DraftSource ? &draft : nullptr);
  navigator->setSelection(mesh->selection());
  inspector->refresh();
  refreshStatus();
  refreshTitle();
  refreshAge();
  actions->find(QStringLiteral("cluster.operate"))->setChecked(control.isOperating());
  actions->find(QStringLiteral("cluster.live"))->setChecked(control.isLive());
  refreshSnapshotActions();
  actions->refresh();
}

void MainWindow::Impl::refreshScene() {
  const engine::JobStatus* job = model.job();
  const bool drafting = source == HeaderBar::DraftSource;
  const std::set<ptc::DeviceId> devices = draft.deviceSet();
  MeshScene scene = makeScene(model.snapshot(), job == nullptr ? std::string() : job->name,
                              drafting ? &devices : nullptr,
                              drafting && plan.summary() ? &*plan.summary() : nullptr);
  scene.isolated = isolated;
  colourScene(&scene, static_cast<ColourBy>(colourBox->currentIndex()));
  isolated = scene.isolated;
  mesh->setScene(std::move(scene));
  mesh->setReadOnly(!control.editBlockedReason().isEmpty());
  legend->setEntries(mesh->scene().legend, mesh->scene().colourBy == ColourBy::Memory);
  legend->setIsolated(isolated);
  files->setDrafting(drafting);
  if (files->isVisible()) files->setLooks(looksOf(liveScene()));
}

MeshScene MainWindow::Impl::liveScene() const {
  if (source != HeaderBar::DraftSource) return mesh->scene();
  const engine::JobStatus* job = model.job();
  MeshScene scene = makeScene(model.snapshot(), job == nullptr ? std::string() : job->name);
  colourScene(&scene, mesh->scene().colourBy);
  return scene;
}

void MainWindow::Impl::refreshNotices() {
  const bool shown = model.hasSnapshot() && !model.isFile();
  const QString detail = model.linkDetail();
  canvas->setCurrentWidget(shown ? static_cast<QWidget*>(mesh) : state);
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
  refreshJobNotice(shown);
  const QString unrecorded = model.recordProblem();
  if (unrecorded.isEmpty()) {
    recordNotice->hide();
  } else {
    recordNotice->say(
        Surface::Tone::Warning,
        tr("The history cannot be written: %1. Monitoring continues.").arg(unrecorded),
        tr("Data settings…"));
  }

  const bool drafting = source == HeaderBar::DraftSource;
  if (drafting && countdown->isHidden()) {
    draftNotice->say(Surface::Tone::Accent, tr("Draft: nothing moves until you apply it."),
                     tr("Back to live  Esc"));
  } else {
    draftNotice->hide();
  }
  centre->setMark(drafting ? kDraftMark : 0);
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
    const QString command = QStringLiteral("tesseractl job start gpt-mini");
    if (job == nullptr || job->state == engine::JobState::kStopped) {
      jobNotice->say(Surface::Tone::Accent, tr("No job is running. Start one:"), {}, command);
    } else if (job->state == engine::JobState::kFailed) {
      const QString reason = job->reason.empty() ? tr("the cluster gave no reason")
                                                 : QString::fromStdString(job->reason);
      jobNotice->say(Surface::Tone::Problem,
                     tr("%1 failed: %2").arg(QString::fromStdString(job->name), reason));
    } else if (job->state == engine::JobState::kSuspended) {
      jobNotice->say(Surface::Tone::Problem, tr("%1 is suspended, its state is kept: %2")
                                                 .arg(QString::fromStdString(job->name),
                                                      QString::fromStdString(job->reason)));
    } else if (job->state == engine::JobState::kStarting && !job->reason.empty()) {
      jobNotice->say(Surface::Tone::Accent, tr("%1 is starting: %2")
                                                .arg(QString::fromStdString(job->name),
                                                     QString::fromStdString(job->reason)));
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
  statusLeft->setText(left);
  const bool good = model.link() == LinkState::Connected;
  const bool waiting =
      model.link() == LinkState::None || model.link() == LinkState::Connecting || model.isFile();
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
  const bool current = model.link() == LinkState::Connected || !model.hasSnapshot();
  mesh->setStale(current ? 0.0 : model.ageSeconds().value_or(0));
  const QString asOf =
      current ? QString()
              : tr("as of %1")
                    .arg(QDateTime::currentDateTime()
                             .addSecs(-static_cast<qint64>(model.ageSeconds().value_or(0)))
                             .toString(QStringLiteral("HH:mm:ss")));
  history->setStale(asOf);
  files->setStale(asOf);
  if (!current) {
    header->refresh();
    refreshNotices();
  }
}

}  // namespace tessera::ui
