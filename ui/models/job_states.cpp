// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/job_states.h"

#include "ui/format.h"

namespace tessera::ui {

using engine::vfs::JobFacts;
using engine::vfs::Jobs;

JobStates::JobStates(ClusterModel& model, ClusterCommands& commands, QObject* parent)
    : QObject(parent), m_model(model), m_commands(commands) {
  m_retry.setSingleShot(true);
  m_retry.setInterval(kRetryMs);
  connect(&m_retry, &QTimer::timeout, this, &JobStates::refresh);
  connect(&m_model, &ClusterModel::changed, this, &JobStates::refresh);
  connect(&m_model, &ClusterModel::cleared, this, &JobStates::forget);
}

void JobStates::setActive(const QObject* user, bool active) {
  if (!active) {
    m_users.erase(user);
  } else if (m_users.insert(user).second) {
    refresh();
  }
}

JobStates::Wanted JobStates::wanted() const {
  Wanted wanted;
  for (const engine::JobStatus& job : m_model.snapshot().jobs) {
    wanted[job.name] = {job.origin, job.epoch, job.layout_hash};
  }
  return wanted;
}

void JobStates::refresh() {
  if (m_users.empty() || m_model.isFile() || !m_model.hasSnapshot()) return;
  follow();  // whoever shows the new snapshot reads jobs() after it
  const bool answered = m_known && m_problem.isEmpty();
  const bool wait = m_asking || m_retry.isActive() || m_model.link() != LinkState::Connected;
  if (!wait && !(answered && m_asked == wanted())) ask();
}

void JobStates::ask() {
  m_asking = true;
  m_asked = wanted();
  m_commands.states([self = QPointer(this), cluster = m_cluster](Result<Jobs> jobs) {
    if (!self || self->m_cluster != cluster) return;
    self->m_asking = false;
    self->m_problem = jobs ? QString() : format::error(jobs.error());
    if (jobs) {
      self->m_jobs = std::move(*jobs);
      self->m_known = true;
      self->follow();
    } else {
      self->m_retry.start();
    }
    emit self->changed();
    self->refresh();
  });
}

bool JobStates::follow() {
  bool differs = false;
  for (auto& [name, facts] : m_jobs) {
    const engine::JobStatus* job = m_model.findJob(name);
    if (job == nullptr || job->epoch != facts->info.epoch || job->step == facts->info.step) {
      continue;
    }
    JobFacts now = *facts;
    now.info.step = job->step;
    now.info.timeline = job->timeline;
    facts = std::make_shared<const JobFacts>(std::move(now));
    differs = true;
  }
  return differs;
}

void JobStates::forget() {
  ++m_cluster;
  m_jobs.clear();
  m_known = m_asking = false;
  m_asked.clear();
  m_problem.clear();
  m_retry.stop();
  emit changed();
}

}  // namespace tessera::ui
