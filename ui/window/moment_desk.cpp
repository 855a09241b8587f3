// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/moment_desk.h"

#include <QPointer>
#include <QScopedValueRollback>
#include <utility>

#include "ui/models/cluster_model.h"
#include "ui/models/history_table_model.h"
#include "ui/plots/job_plots.h"
#include "ui/window/presenter.h"

namespace tessera::ui {

MomentDesk::MomentDesk(Parts parts, Window window) : m_parts(parts), m_window(std::move(window)) {
  connect(&m_parts.plots, &JobPlots::playheadChanged, this, &MomentDesk::followPlayhead);
  connect(&m_parts.plots, &JobPlots::compareRequested, this, [this] {
    const Presenter& presenter = m_parts.presenter;
    if (presenter.compareBlockedReason().isEmpty()) setComparing(!presenter.pinned());
  });
  connect(&m_parts.changes, &QAbstractItemModel::modelReset, this, &MomentDesk::indexChanges);
  connect(&m_parts.model, &ClusterModel::eventsAdded, this, &MomentDesk::noteStates);
  connect(&m_parts.model, &ClusterModel::cleared, this, [this] {
    m_parts.presenter.forgetCluster();
    m_parts.plots.setPinned({});
    if (m_parts.presenter.isPast()) m_window.setPast(false);
  });
}

bool MomentDesk::show(double time) {
  if (!m_parts.presenter.chooseMoment(time)) return false;
  placePlayhead(time);
  if (m_parts.presenter.isPast()) {
    m_window.refresh();
  } else {
    m_window.setPast(true);
  }
  return true;
}

void MomentDesk::placePlayhead(std::optional<double> time) {
  // The playhead stays within the samples; the moment may be outside of them.
  const QScopedValueRollback<bool> quiet(m_isPlacing, true);
  m_parts.plots.setPlayhead(time);
}

void MomentDesk::followPlayhead() {
  if (m_isPlacing) return;
  if (const auto time = m_parts.plots.playhead()) {
    show(*time);
  } else if (m_parts.presenter.isPast()) {
    m_window.setPast(false);
  }
}

void MomentDesk::showBegin(const engine::HistoryEntry& entry) {
  ClusterModel& model = m_parts.model;
  const engine::JobStatus* job = model.job();
  if (job == nullptr || job->name != entry.job) {
    if (model.findJob(entry.job) == nullptr) {
      m_window.showError(tr("The moment of change %1 cannot be shown: the cluster no longer has "
                            "job %2.")
                             .arg(entry.id)
                             .arg(QString::fromStdString(entry.job)));
      return;
    }
    model.chooseJob(entry.job);
    model.flush();
  }
  show(entry.started);
}

void MomentDesk::setComparing(bool compares) {
  m_parts.presenter.setPinned(compares);
  const auto& pinned = m_parts.presenter.pinned();
  m_parts.plots.setPinned(pinned ? std::optional(pinned->time) : std::nullopt);
  m_window.followPinned();
}

void MomentDesk::indexChanges() {
  m_parts.presenter.indexChanges();
  m_window.followChanges();
  if (m_parts.model.isFile() || !m_parts.model.hasSnapshot()) return;  // a file has sent its events
  m_parts.commands.ask(NodeEventsRequest{}, [self = QPointer<MomentDesk>(this)](auto answer) {
    if (self && answer) self->noteStates(*answer);
  });
}

void MomentDesk::noteStates(const std::vector<engine::Event>& told) {
  const Presenter& presenter = m_parts.presenter;
  if (m_parts.presenter.noteStates(told) && presenter.isPast()) show(presenter.moment()->time);
}

}  // namespace tessera::ui
