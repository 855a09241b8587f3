// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The samples of the shown job without gaps, and without those of earlier jobs of its name.
/// Samples from before this connection are requested in pages; new samples are held until the pages
/// have caught up.

#include <QObject>
#include <QString>
#include <QTimer>
#include <vector>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

class SampleHistory : public QObject {
  Q_OBJECT

 public:
  /// None: there is no job. Loading: older samples were requested. Waiting: the connection is lost.
  /// Failed: see `problem`; retried after kRetryMs.
  enum class State { None, Loading, Following, Waiting, Failed };
  static constexpr int kRetryMs = 3000;

  /// Both must outlive it.
  SampleHistory(ClusterModel& model, ClusterCommands& commands, QObject* parent = nullptr);

  State state() const { return m_state; }
  const QString& problem() const { return m_problem; }
  const QString& job() const { return m_job; }
  /// engine::JobStatus::origin of that job.
  std::int64_t origin() const { return m_origin; }
  const SampleSeries& series() const { return m_series; }

 signals:
  void changed();

 private:
  void follow();
  void onSamples(const std::vector<engine::Sample>& samples);
  bool isOfJob(const engine::Sample& sample) const;
  void ask();
  void answer(std::uint64_t generation, const Result<std::vector<engine::Sample>>& result);
  void set(State state, const QString& problem = {});

  ClusterModel& m_model;
  ClusterCommands& m_commands;
  State m_state = State::None;
  QString m_problem;
  QString m_job;
  std::int64_t m_origin = 0;
  SampleSeries m_series;
  std::vector<engine::Sample> m_held;  // received while pages are loading
  std::uint64_t m_generation = 0;      // of the newest request; older answers are dropped
  QTimer m_retry;
};

}  // namespace tessera::ui
