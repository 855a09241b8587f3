// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/sample_history.h"

#include <QPointer>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {

SampleHistory::SampleHistory(ClusterModel& model, ClusterCommands& commands, QObject* parent)
    : QObject(parent), m_model(model), m_commands(commands) {
  m_retry.setSingleShot(true);
  m_retry.setInterval(kRetryMs);
  connect(&m_retry, &QTimer::timeout, this, &SampleHistory::ask);
  connect(&m_model, &ClusterModel::changed, this, &SampleHistory::follow);
  connect(&m_model, &ClusterModel::samplesAdded, this, &SampleHistory::onSamples);
  follow();
}

void SampleHistory::set(State state, const QString& problem) {
  m_state = state;
  m_problem = problem;
  emit changed();
}

void SampleHistory::follow() {
  const engine::JobStatus* job = m_model.job();
  const QString name = job == nullptr ? QString() : QString::fromStdString(job->name);
  const std::int64_t origin = job == nullptr ? 0 : job->origin;
  if (name != m_job || origin != m_origin) {
    m_job = name;
    m_origin = origin;
    m_series.clear();
    m_held.clear();
    ++m_generation;
    m_retry.stop();
    m_state = State::None;
    emit changed();
  }
  if (m_job.isEmpty()) return;
  if (m_model.link() != LinkState::Connected) {
    if (m_state == State::Waiting) return;
    ++m_generation;  // an answer of the old connection may never arrive
    m_held.clear();
    m_retry.stop();
    set(State::Waiting);
  } else if (m_state == State::None || m_state == State::Waiting) {
    ask();
  }
}

void SampleHistory::onSamples(const std::vector<engine::Sample>& samples) {
  bool added = false;
  for (const engine::Sample& sample : samples) {
    if (!isOfJob(sample)) continue;
    if (m_state == State::Following) {
      added |= m_series.add(sample);
    } else if (m_held.size() < SampleSeries::kCapacity) {
      m_held.push_back(sample);
    }
  }
  if (added) emit changed();
}

bool SampleHistory::isOfJob(const engine::Sample& sample) const {
  return sample.origin == m_origin && QString::fromStdString(sample.job) == m_job;
}

void SampleHistory::ask() {
  const std::uint64_t generation = ++m_generation;
  // A job that returned to an earlier step meanwhile has other samples than those stored here.
  const engine::JobStatus* job = m_model.job();
  if (job != nullptr && !m_series.points().empty() && job->step < m_series.points().back().step &&
      m_state != State::Loading) {
    m_series.clear();
  }
  const std::int64_t after = m_series.points().empty() ? -1 : m_series.points().back().step;
  if (m_state != State::Loading) set(State::Loading);
  m_commands.samples(m_job, after,
                     [self = QPointer<SampleHistory>(this),
                      generation](Result<std::vector<engine::Sample>> result) {
                       if (self) self->answer(generation, result);
                     });
}

void SampleHistory::answer(std::uint64_t generation,
                           const Result<std::vector<engine::Sample>>& result) {
  if (generation != m_generation) return;
  if (!result) {
    m_retry.start();
    return set(State::Failed, format::error(result.error()));
  }
  bool added = false;
  // A job that was started again meanwhile is the latest of its name, whose samples were requested.
  for (const engine::Sample& sample : *result) added |= isOfJob(sample) && m_series.add(sample);
  if (added) {
    emit changed();
    return ask();  // there may be another page
  }
  for (const engine::Sample& sample : std::exchange(m_held, {})) m_series.add(sample);
  set(State::Following);
}

}  // namespace tessera::ui
