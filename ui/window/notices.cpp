// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/notices.h"

#include <utility>

#include "ui/format.h"
#include "ui/models/change_diff.h"
#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"
#include "ui/models/operator_seat.h"
#include "ui/pages/notice_bar.h"
#include "ui/sentences.h"

namespace tessera::ui {

Notices::Notices(Parts parts, QWidget* parent) : m_parts(std::move(parts)) {
  for (NoticeBar*& bar : m_bars) bar = new NoticeBar(parent);
  NoticeBar* error = bar(Notice::Error);
  QObject::connect(error, &NoticeBar::actionTriggered, error, &QWidget::hide);
  m_errorTimer.setSingleShot(true);
  QObject::connect(&m_errorTimer, &QTimer::timeout, error, &QWidget::hide);
}

void Notices::showError(const QString& text) {
  bar(Notice::Error)->say(Surface::Tone::Problem, text, tr("Dismiss"));
  m_errorTimer.start(kErrorSeconds * 1000);
}

bool Notices::hasCluster() const { return m_parts.model.hasSnapshot() && !m_parts.model.isFile(); }

void Notices::refresh(const NoticeFacts& facts) {
  bar(Notice::Link)->sayOrHide(linkWords(facts));
  refreshOperator();
  const bool isPresent = !facts.moment && facts.source != LayoutSource::Lesson;
  bar(Notice::Job)->sayOrHide(isPresent ? jobWords() : std::nullopt);
  refreshRecord();
  refreshSource(facts);
}

std::optional<NoticeWords> Notices::linkWords(const NoticeFacts& facts) const {
  const ClusterModel& model = m_parts.model;
  if (facts.starting) {
    if (!hasCluster()) return std::nullopt;  // the page in the centre says it
    return NoticeWords{Surface::Tone::Accent,
                       tr("Starting a local cluster: %1").arg(*facts.starting)};
  }
  if (model.isFile()) {
    return NoticeWords{Surface::Tone::Accent,
                       tr("This is a history file, not a live cluster: %1").arg(model.file()),
                       tr("Close the file")};
  }
  if (!hasCluster()) return std::nullopt;
  const QString detail = localized(model.linkDetail());
  const auto age = [&model] { return format::age(model.ageSeconds().value_or(0)); };
  if (model.link() == LinkState::Connected && model.isSilent()) {
    return NoticeWords{
        Surface::Tone::Problem,
        tr("The cluster is connected but silent. The data shown is from %1.").arg(age()),
        tr("Reconnect")};
  }
  if (model.link() == LinkState::Lost) {
    return NoticeWords{
        Surface::Tone::Problem,
        tr("Connection lost. The data shown is from %1. %2").arg(age(), detail).trimmed(),
        tr("Retry now")};
  }
  if (model.link() == LinkState::Refused) {
    return NoticeWords{Surface::Tone::Problem,
                       tr("The cluster refused the connection: %1").arg(detail), tr("Retry now")};
  }
  return std::nullopt;
}

void Notices::refreshOperator() {
  if (const QString notice = m_parts.seat.notice(); hasCluster() && !notice.isEmpty()) {
    bar(Notice::Operator)->say(Surface::Tone::Warning, notice, tr("Take over"));
  } else {
    bar(Notice::Operator)->hide();
  }
  const auto& tuning = m_parts.control.tuning();
  if (!hasCluster() || !tuning) return bar(Notice::Tuning)->hide();
  const QString doing = tuning->doing.isEmpty() ? tr("planning") : tuning->doing;
  bar(Notice::Tuning)
      ->say(Surface::Tone::Accent,
            tuning->isStopping
                ? tr("%1 returns to the configuration before the tuning.").arg(tuning->job)
                : tr("%1 is being tuned: %2.").arg(tuning->job, doing),
            tuning->isStopping ? QString() : tr("Stop and go back"));
}

std::optional<NoticeWords> Notices::jobWords() const {
  const ClusterModel& model = m_parts.model;
  if (!hasCluster() || model.link() != LinkState::Connected) return std::nullopt;
  const engine::JobStatus* job = model.job();
  if (job != nullptr && job->decision) return std::nullopt;  // its card says more
  if (job == nullptr || job->state == engine::JobState::kStopped) {
    return NoticeWords{Surface::Tone::Accent, tr("No job is running. Start one:"),
                       tr("Start a job…"),
                       m_parts.commandLine({QStringLiteral("job"), QStringLiteral("start"),
                                            QStringLiteral("gpt-mini")})};
  }
  const QString name = QString::fromStdString(job->name);
  if (job->state == engine::JobState::kFailed) {
    const QString reason =
        job->reason.empty() ? tr("the cluster gave no reason") : localized(job->reason);
    return NoticeWords{Surface::Tone::Problem, tr("%1 failed: %2").arg(name, reason)};
  }
  if (job->state == engine::JobState::kSuspended) {
    return NoticeWords{Surface::Tone::Problem,
                       tr("%1 is suspended: %2").arg(name, localized(job->reason))};
  }
  if (job->state == engine::JobState::kUnknown)
    return NoticeWords{Surface::Tone::Problem, localized(job->reason)};
  if (job->state == engine::JobState::kStarting && !job->reason.empty()) {
    return NoticeWords{Surface::Tone::Accent,
                       tr("%1 is starting: %2").arg(name, localized(job->reason))};
  }
  const engine::DeviceStatus* slow = model.slowestDevice();
  if (slow == nullptr) return std::nullopt;
  const QString device = format::device(slow->id);
  return NoticeWords{
      Surface::Tone::Warning,
      tr("%1 is slow: it computes %2 per step, its peers %3. All GPUs of the job wait "
         "for it.")
          .arg(device, format::seconds(slow->busy_seconds), format::seconds(slow->peers_seconds)),
      tr("Draft without %1").arg(device)};
}

void Notices::refreshRecord() {
  const QString unrecorded = localized(m_parts.model.recordProblem());
  if (unrecorded.isEmpty()) return bar(Notice::Record)->hide();
  bar(Notice::Record)
      ->say(Surface::Tone::Warning,
            tr("The history cannot be written: %1. Monitoring continues.").arg(unrecorded),
            tr("Data settings…"));
}

void Notices::refreshSource(const NoticeFacts& facts) {
  const ClusterModel& model = m_parts.model;
  if (facts.source == LayoutSource::Draft && !facts.countsDown) {
    bar(Notice::Draft)
        ->say(Surface::Tone::Accent, tr("Draft: nothing moves until you apply it."),
              tr("Back to live  Esc"));
  } else {
    bar(Notice::Draft)->hide();
  }
  if (facts.moment) {
    bar(Notice::Past)
        ->say(Surface::Tone::Past,
              tr("Past: %1, step %2. Nothing here changes the cluster.")
                  .arg(format::clock(facts.moment->time), format::count(facts.moment->step)),
              model.isFile() ? tr("Back  Esc") : tr("Return to live  Esc"));
  } else if (facts.compared != nullptr) {
    const ChangeDiff& diff = *facts.compared;
    bar(Notice::Past)
        ->say(Surface::Tone::Past,
              tr("After change #%1, against #%2: %3 joined, %4 left, %5 hold another shard.")
                  .arg(QString::number(diff.b.entry.id), QString::number(diff.a.entry.id),
                       format::gpus(std::ssize(diff.joined)), format::count(std::ssize(diff.left)),
                       format::count(std::ssize(diff.resharded))),
              tr("Return to live  Esc"));
  } else {
    bar(Notice::Past)->hide();
  }
  if (facts.source == LayoutSource::Lesson) {
    bar(Notice::Lesson)
        ->say(Surface::Tone::Accent,
              tr("Simulated: lesson “%1”. Nothing is sent to a cluster.").arg(facts.lesson),
              model.hasSnapshot() ? tr("Return to live  Esc") : tr("Leave  Esc"));
  } else {
    bar(Notice::Lesson)->hide();
  }
}

}  // namespace tessera::ui
