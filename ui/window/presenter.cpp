// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/presenter.h"

#include <QDateTime>
#include <set>
#include <string>

#include "ui/format.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/change_report.h"
#include "ui/models/change_view.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/history_table_model.h"
#include "ui/models/job_states.h"
#include "ui/models/sample_history.h"

namespace tessera::ui {
namespace {

double localClock() { return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000; }

std::shared_ptr<const MeshScene> drawnScene(MeshScene scene, const SceneLooks& looks) {
  if (scene.groupBy != looks.grouping) groupScene(&scene, looks.grouping);
  scene.isolated = looks.isolated;
  colourScene(&scene, looks.colouring);
  return std::make_shared<const MeshScene>(std::move(scene));
}

/// The history does not tell how much memory was in use.
std::shared_ptr<const MeshScene> withoutMemory(MeshScene scene) {
  for (auto& node : scene.nodes) {
    for (auto& cell : node.cells) cell.used = cell.total = 0;
  }
  return std::make_shared<const MeshScene>(std::move(scene));
}

}  // namespace

void Presenter::setSource(LayoutSource source) {
  if (source != LayoutSource::Past) m_moment.reset();
  m_source = source;
}

QString Presenter::pastBlockedReason() const {
  if (m_parts.model.job() == nullptr) return tr("There is no job.");
  return usualMoment() ? QString() : tr("The history of the job has no changes and no samples.");
}

std::optional<double> Presenter::usualMoment() const {
  const engine::JobStatus* job = m_parts.model.job();
  if (job == nullptr) return {};
  if (const auto time = m_parts.playhead()) return time;
  if (const engine::HistoryEntry* last = m_changes.last(job->name, job->origin))
    return last->started;
  const auto& points = m_parts.samples.series().points();
  return points.empty() ? std::nullopt : std::optional(points.back().time);
}

bool Presenter::chooseMoment(double time) {
  const engine::JobStatus* job = m_parts.model.job();
  if (job == nullptr) return false;
  auto cluster = clusterAt(m_parts.model.snapshot(), m_changes, m_parts.samples.series(), job->name,
                           time, m_nodeStates);
  if (!cluster) return false;
  const engine::HistoryEntry* change =
      m_changes.lastBefore(job->name, cluster->jobs.front().origin, time);
  m_moment = ShownMoment{
      time, std::make_shared<const engine::ClusterSnapshot>(std::move(*cluster)),
      change == nullptr ? nullptr : std::make_shared<const engine::HistoryEntry>(*change)};
  m_pastModel.setSnapshot(*m_moment->cluster);
  m_pastModel.chooseJob(job->name);
  return true;
}

const ClusterModel& Presenter::shownModel() const {
  if (isLesson()) return m_parts.lessons.model();
  return m_source == LayoutSource::Past ? m_pastModel : m_parts.model;
}

void Presenter::indexChanges() { m_changes = ChangeIndex(m_parts.changes.entries()); }

void Presenter::forgetCluster() {
  m_nodeStates.clear();
  m_pinned.reset();
  m_pinnedCluster.reset();
}

QString Presenter::compareBlockedReason() const {
  return m_pinned || isPast() ? QString() : tr("Show a moment of the past first.");
}

void Presenter::setPinned(bool pins) {
  m_pinned = pins && isPast() ? shownSide() : std::nullopt;
  m_pinnedCluster = m_pinned ? m_moment->cluster : nullptr;
}

std::optional<MomentSide> Presenter::shownSide() const {
  const engine::JobStatus* job = m_parts.model.job();
  if (job == nullptr) return {};
  if (isPast()) {
    return momentSideOf(*m_moment->cluster, job->name, m_moment->time,
                        m_moment->change ? m_moment->change->id : 0);
  }
  const auto& points = m_parts.samples.series().points();
  const engine::HistoryEntry* last = m_changes.last(job->name, job->origin);
  return momentSideOf(m_parts.model.snapshot(), job->name,
                      points.empty() ? localClock() : points.back().time,
                      last == nullptr ? 0 : last->id);
}

std::optional<MomentDiff> Presenter::comparedMoments() const {
  const bool fits = m_source == LayoutSource::Past || m_source == LayoutSource::Live;
  if (!m_pinned || !fits || m_parts.compared()) return {};
  const auto shown = shownSide();
  if (!shown || shown->job.name != m_pinned->job.name ||
      shown->job.origin != m_pinned->job.origin) {
    return {};
  }
  return makeMomentDiff(*m_pinned, *shown, m_parts.changes.entries());
}

const ComparedChanges* Presenter::comparedChanges() const {
  const ClusterModel& model = m_parts.model;
  const auto two = m_parts.compared();
  const engine::JobStatus* job = model.job();
  if (!isLive() || !two || job == nullptr || model.runningTxn() != nullptr ||
      !engine::IsOf(*two->first, *job) || !engine::IsOf(*two->second, *job)) {
    return nullptr;
  }
  const auto isMade = [&] {
    const ChangeDiff& diff = m_compared->diff;
    return (*two->first == diff.a.entry && *two->second == diff.b.entry) ||
           (*two->first == diff.b.entry && *two->second == diff.a.entry);
  };
  if (!m_compared || m_comparedIn != model.shared() || !isMade()) {
    ChangeDiff diff = makeChangeDiff(*two->first, *two->second, SampleSeries());
    auto cluster = clusterOfChange(diff.b.entry, model.snapshot(), true);
    auto earlier = clusterOfChange(diff.a.entry, model.snapshot(), true);
    m_compared.reset();
    if (!cluster || !earlier) return nullptr;
    m_compared = {std::move(diff),
                  std::make_shared<const engine::ClusterSnapshot>(std::move(*cluster)),
                  std::make_shared<const engine::ClusterSnapshot>(std::move(*earlier))};
    m_comparedIn = model.shared();
  }
  return &*m_compared;
}

Presenter::Scene Presenter::sceneOf(const engine::ClusterSnapshot& cluster, LayoutSource of,
                                    const SceneLooks& looks) const {
  const engine::JobStatus* job = m_parts.model.job();
  const bool drafting = of == LayoutSource::Draft;
  const std::set<ptc::DeviceId> devices =
      drafting ? m_parts.draft.deviceSet() : std::set<ptc::DeviceId>();
  MeshScene scene =
      makeScene(cluster, job == nullptr ? std::string() : job->name, drafting ? &devices : nullptr,
                drafting ? m_parts.plan.summary().get() : nullptr);
  if (of == LayoutSource::Past) hideProgress(&scene);
  return drawnScene(std::move(scene), looks);
}

void Presenter::placeBeside(ShownLayout* layout, const engine::ClusterSnapshot& other,
                            const PlaceDiff& diff, bool isEarlier, const SceneLooks& looks) const {
  MeshScene shown = *layout->scene;
  MeshScene beside = *sceneOf(other, LayoutSource::Past, looks);
  alignScenes(&shown, &beside);
  MeshScene& later = isEarlier ? shown : beside;
  markScene(&later, diff.joined, diff.left, diff.resharded);
  if (const auto& earlier = isEarlier ? beside.shape : shown.shape)
    inheritColours(&later, *earlier);
  layout->scene = std::make_shared<const MeshScene>(std::move(shown));
  layout->other =
      OtherMoment{std::make_shared<const MeshScene>(std::move(beside)), isEarlier, {}, {}};
}

void Presenter::compareMoments(ShownLayout* layout, const SceneLooks& looks) const {
  const auto moments = comparedMoments();
  if (!moments) return;
  const bool isEarlier = moments->a.time == m_pinned->time;
  placeBeside(layout, *m_pinnedCluster, *moments, isEarlier, looks);
  const auto title = [](QLatin1Char letter, const MomentSide& side) {
    return tr("%1  %2, step %3, epoch %4", "A 14:01:30, step 402, epoch 2")
        .arg(QString(letter), format::clock(side.time), format::count(side.job.step),
             format::count(side.job.epoch));
  };
  const QString a = title(QLatin1Char('A'), moments->a), b = title(QLatin1Char('B'), moments->b);
  layout->other->title = isEarlier ? a : b;
  layout->other->shownTitle = isEarlier ? b : a;
}

void Presenter::compareChanges(ShownLayout* layout, const ComparedChanges& compared,
                               const SceneLooks& looks) const {
  placeBeside(layout, *compared.earlier, compared.diff, true, looks);
  const auto title = [](QLatin1Char letter, const engine::HistoryEntry& entry) {
    return tr("%1  after change #%2", "A after change #2")
        .arg(QString(letter), QString::number(entry.id));
  };
  layout->scene = withoutMemory(*layout->scene);
  layout->other->scene = withoutMemory(*layout->other->scene);
  layout->other->title = title(QLatin1Char('A'), compared.diff.a.entry);
  layout->other->shownTitle = title(QLatin1Char('B'), compared.diff.b.entry);
}

ShownLayout Presenter::layout(const SceneLooks& looks) const {
  if (isLesson()) return lessonLayout(looks);
  const ClusterModel& model = m_parts.model;
  const engine::JobStatus* job = model.job();
  const ComparedChanges* compared = comparedChanges();
  ShownLayout layout;
  layout.source = compared != nullptr ? LayoutSource::Past : m_source;
  layout.cluster = isPast()              ? m_moment->cluster
                   : compared != nullptr ? compared->cluster
                                         : model.shared();
  if (job != nullptr) layout.job = job->name;
  layout.scene = sceneOf(*layout.cluster, layout.source, looks);
  if (compared != nullptr) {
    compareChanges(&layout, *compared, looks);
    layout.time = timesOf(compared->diff.b.entry).end;
  }
  if (isPast()) layout.time = m_moment->time;
  if (isPast() || isLive()) compareMoments(&layout, looks);
  layout.live = isLive() && compared == nullptr
                    ? layout.scene
                    : sceneOf(model.snapshot(), LayoutSource::Live, looks);
  if (isDraft()) layout.plan = m_parts.plan.summary();
  const auto& states = m_parts.states.jobs();
  if (const auto facts = states.find(layout.job); facts != states.end())
    layout.state = facts->second;
  if (isPast()) {
    layout.change = m_moment->change;
  } else if (const engine::HistoryEntry* entry = m_parts.chosen()) {
    layout.change = std::make_shared<const engine::HistoryEntry>(*entry);
  }
  layout.placeJob();
  return layout;
}

ShownLayout Presenter::lessonLayout(const SceneLooks& looks) const {
  const LessonSession& lessons = m_parts.lessons;
  ShownLayout layout;
  layout.source = LayoutSource::Lesson;
  layout.cluster = lessons.model().shared();
  layout.job = lessons.model().job()->name;
  layout.plan = lessons.planSummary();
  layout.state = lessons.facts();
  const auto scene = [&](const std::set<ptc::DeviceId>* devices) {
    return drawnScene(makeScene(*layout.cluster, layout.job, devices,
                                devices == nullptr ? nullptr : layout.plan.get()),
                      looks);
  };
  const auto drafted = lessons.draftDevices();
  layout.live = scene(nullptr);
  layout.scene = drafted ? scene(&*drafted) : layout.live;
  layout.placeJob();
  return layout;
}

}  // namespace tessera::ui
