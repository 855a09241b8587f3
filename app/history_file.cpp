// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/history_file.h"

#include <algorithm>
#include <filesystem>

#include "engine/history/history.h"
#include "ptc/mesh.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMaxEntries = 10'000;
constexpr std::int64_t kMaxEvents = 10'000;
constexpr std::int64_t kMaxSamples = 100'000;  // per job

}  // namespace

Result<HistoryFile> HistoryFile::read(const std::string& path) {
  TESSERA_TRY(const auto history, engine::History::OpenReadOnly(path));
  HistoryFile file;
  TESSERA_TRY(file.entries, history->Transactions("", kMaxEntries));
  TESSERA_TRY(const auto last, history->LastEvent());
  TESSERA_TRY(file.events,
              history->Events(std::max<std::int64_t>(0, last - kMaxEvents), kMaxEvents));
  // The older ones, too, that tell the states of nodes.
  engine::EventQuery query;
  query.notes = true;
  TESSERA_TRY(auto notes, history->Events(query));
  std::erase_if(notes, [&](const engine::Event& event) {
    return !file.events.empty() && event.sequence >= file.events.front().sequence;
  });
  file.events.insert(file.events.begin(), notes.begin(), notes.end());
  TESSERA_TRY(const auto jobs, history->Jobs());
  for (const std::string& job : jobs) {
    TESSERA_TRY(file.samples[job], history->Samples(job, -1, kMaxSamples));
  }
  TESSERA_TRY(const auto mirror, history->MirrorOf());
  TESSERA_TRY(file.simulated, history->Simulated());
  file.cluster = mirror.value_or(std::filesystem::path(path).stem().string());
  return file;
}

engine::ClusterSnapshot HistoryFile::snapshot() const {
  engine::ClusterSnapshot snapshot;
  snapshot.cluster = cluster;
  if (simulated) snapshot.simulation = engine::SimulationStatus{.hardware = *simulated};
  for (const auto& [name, course] : samples) {
    engine::JobStatus job;
    job.name = name;
    job.state = engine::JobState::kStopped;
    if (!course.empty()) {
      job.step = course.back().step;
      job.loss = course.back().loss;
      job.origin = course.back().origin;
    }
    const auto last = std::ranges::find(entries, name, &engine::HistoryEntry::job);
    if (last != entries.end()) job.origin = std::max(job.origin, last->origin);
    const auto newest = std::ranges::find_if(entries, [&job](const auto& entry) {
      return engine::IsOf(entry, job) && entry.result == "committed";
    });
    if (newest != entries.end()) {
      job.epoch = newest->epoch;
      if (const auto mesh = ptc::ParseDeviceMesh(newest->to)) job.mesh = mesh->shape();
    }
    snapshot.jobs.push_back(std::move(job));
  }
  return snapshot;
}

}  // namespace tessera::app
