// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Runs the experiment of the panel's lesson on a thread, and keeps what was found last in
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
  /// `options` of the runs; those of the command line's defaults where none are given.
  explicit LessonRunner(ConsistencyOptions options = {}, QObject* parent = nullptr);
  /// Ends what runs, and waits for that.
  ~LessonRunner() override;

  std::optional<engine::ConsistencyResult> last() const override;
  void start(std::function<void(ui::LessonProgress)> progress,
             std::function<void(Result<engine::ConsistencyResult>)> done) override;
  void cancel() override;

 private:
  struct Calls;
  const ConsistencyOptions m_options;
  std::stop_source m_stop;
  std::shared_ptr<Calls> m_calls;  // of the runs at hand; null: nothing runs
  TaskThread m_thread;             // last: it uses the others
};

}  // namespace tessera::app
