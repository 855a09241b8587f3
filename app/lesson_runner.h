// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Runs the experiment of the panel's lesson on a thread and keeps the last result in
/// TESSERA_HOME/lessons/consistency.json.

#include <QObject>
#include <memory>
#include <stop_token>
#include <string>

#include "app/experiment/consistency.h"
#include "app/task_thread.h"
#include "ui/lessons/consistency_runner.h"

namespace tessera::app {

/// Lives on the GUI thread.
class LessonRunner final : public QObject, public ui::ConsistencyRunner {
  Q_OBJECT

 public:
  /// \param options of the runs; the defaults are those of the command line
  explicit LessonRunner(ConsistencyOptions options = {}, QObject* parent = nullptr);
  /// Stops a run and waits until it has ended.
  ~LessonRunner() override;

  std::optional<engine::ConsistencyResult> last() const override;
  void start(std::function<void(ui::LessonProgress)> progress,
             std::function<void(Result<engine::ConsistencyResult>)> done) override;
  void cancel() override;

 private:
  struct Calls;
  const ConsistencyOptions m_options;
  std::stop_source m_stop;
  std::shared_ptr<Calls> m_calls;  // of the current run; null: nothing runs
  TaskThread m_thread;             // last: it uses the others
};

}  // namespace tessera::app
