// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson_runner.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "engine/files/tessera_home.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

fs::path resultFile() { return fs::path(engine::TesseraHome()) / "lessons" / "consistency.json"; }

/// Failures are ignored: the result is shown even if it cannot be kept.
void keep(const engine::ConsistencyResult& result) {
  std::error_code ignored;
  fs::create_directories(resultFile().parent_path(), ignored);
  static_cast<void>(
      engine::WriteWholeFile(resultFile().string(), engine::ToJson(result) + '\n', 0600));
}

ui::LessonProgress lessonProgressOf(const ConsistencyProgress& progress) {
  using From = ConsistencyProgress::Doing;
  using To = ui::LessonProgress::Doing;
  ui::LessonProgress out{.run = progress.run,
                         .runs = progress.runs,
                         .present = progress.present,
                         .step = progress.step,
                         .steps = progress.steps,
                         .secondsLeft = progress.secondsLeft,
                         .fresh = progress.fresh};
  switch (progress.doing) {
    case From::Preparing:
      out.doing = To::Preparing;
      break;
    case From::Training:
      out.doing = To::Training;
      break;
    case From::Evaluating:
      out.doing = To::Evaluating;
      break;
    case From::Ending:
      out.doing = To::Ending;
      break;
  }
  return out;
}

}  // namespace

/// Called on the GUI thread only.
struct LessonRunner::Calls {
  std::function<void(ui::LessonProgress)> progress;
  std::function<void(Result<engine::ConsistencyResult>)> done;
};

LessonRunner::LessonRunner(ConsistencyOptions options, QObject* parent)
    : QObject(parent), m_options(std::move(options)) {}

LessonRunner::~LessonRunner() {
  m_stop.request_stop();
  m_thread.stop();
}

std::optional<engine::ConsistencyResult> LessonRunner::last() const {
  const auto text = engine::ReadWholeFile(resultFile().string());
  if (!text) return std::nullopt;
  auto result = engine::ParseConsistencyResult(*text);
  return result ? std::optional(std::move(*result)) : std::nullopt;
}

void LessonRunner::start(std::function<void(ui::LessonProgress)> progress,
                         std::function<void(Result<engine::ConsistencyResult>)> done) {
  m_stop = std::stop_source();
  m_calls = std::make_shared<Calls>(Calls{std::move(progress), std::move(done)});
  m_thread.post([this, calls = m_calls, stop = m_stop.get_token()] {
    const auto tell = [this, &calls](const ConsistencyProgress& now) {
      QMetaObject::invokeMethod(
          this,
          [calls, told = lessonProgressOf(now)] {
            if (calls->progress) calls->progress(told);
          },
          Qt::QueuedConnection);
    };
    auto result = runConsistency(m_options, {.progress = tell, .stop = stop});
    if (result) keep(*result);
    QMetaObject::invokeMethod(
        this,
        [this, calls, result = std::move(result)]() mutable {
          if (m_calls == calls) m_calls.reset();
          calls->progress = nullptr;
          if (calls->done) std::exchange(calls->done, nullptr)(std::move(result));
        },
        Qt::QueuedConnection);
  });
}

void LessonRunner::cancel() {
  if (m_calls) m_stop.request_stop();
}

}  // namespace tessera::app
