// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/history_mirror.h"

#include <fmt/format.h>

#include <QDateTime>
#include <filesystem>
#include <utility>

#include "agents/client/cluster.h"
#include "agents/wire/history_wire.h"
#include "app/commands/when.h"

namespace tessera::app {
namespace {

constexpr std::chrono::milliseconds kTogether{1000};  // what happens within it is asked for at once
constexpr double kReasonSeconds = 60;                 // an error is told when the first write fails
constexpr std::chrono::seconds kRetry{3};             // after a question that was not answered
constexpr std::chrono::seconds kIdle{30};             // "nothing happened" is news as well

}  // namespace

struct HistoryMirror::Store {
  std::string cluster;
  std::string path;
  engine::Retention retention;
  std::unique_ptr<engine::History> history;
  std::string note;  // of a damaged file that was set aside

  Result<engine::HistoryCursor> Cursor() {
    if (!history) TESSERA_RETURN_IF_ERROR(Open(path));
    return history->Cursor();
  }

  Status Open(const std::string& file) {
    std::error_code failure;
    const auto folder = std::filesystem::path(file).parent_path();
    std::filesystem::create_directories(folder, failure);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
    history.reset();
    path = file;
    TESSERA_TRY(history, engine::History::OpenOrQuarantine(file, &note));
    return OkStatus();
  }

  /// \return whether to ask again
  Result<bool> Apply(const engine::HistoryCursor& since, const wire::Reply& reply) {
    TESSERA_TRY(const auto changes, agents::Decode(reply.changes()));
    if (!since.history.empty() && since.history != changes.next.history) {
      // The first file is of the cluster that had this name before.
      TESSERA_RETURN_IF_ERROR(Open(pathOf(fmt::format("{}.{}", cluster, changes.next.history))));
      return true;
    }
    TESSERA_RETURN_IF_ERROR(history->ApplyChanges(cluster, since, changes, wallClock()));
    TESSERA_RETURN_IF_ERROR(history->Retain(retention, wallClock()));
    return changes.more;
  }

  /// Whether a sample of that time, or a later one, is there.
  bool Has(const Heard& heard) {
    engine::SampleQuery query;
    query.job = heard.job;
    query.time.from = heard.time - 1e-3;
    query.limit = 1;
    const auto rows = history->Samples(query);
    return !rows || !rows->empty();  // a file that cannot be read proves nothing
  }
};

HistoryMirror::HistoryMirror(std::string cluster, Ask ask, QObject* parent)
    : QObject(parent),
      m_cluster(std::move(cluster)),
      m_ask(std::move(ask)),
      m_store(std::make_shared<Store>(Store{m_cluster, pathOf(m_cluster), {}, nullptr, {}})),
      m_thread(std::make_shared<TaskThread>()) {
  m_next.setSingleShot(true);
  m_idle.setInterval(kIdle);
  connect(&m_next, &QTimer::timeout, this, &HistoryMirror::askNext);
  connect(&m_idle, &QTimer::timeout, this, &HistoryMirror::touch);
}

HistoryMirror::~HistoryMirror() { m_thread->stop(); }

std::string HistoryMirror::pathOf(const std::string& cluster) {
  return (std::filesystem::path(agents::TesseraHome()) / "mirror" / (cluster + ".sqlite")).string();
}

void HistoryMirror::setRetention(const engine::Retention& retention) {
  m_thread->post([store = m_store, retention] { store->retention = retention; });
}

void HistoryMirror::setConnected(bool connected) {
  if (std::exchange(m_connected, connected) == connected) return;
  m_heard.reset();  // what was heard of a cluster that fell silent may be lost with it
  m_unrecorded = false;
  m_failures = 0;
  if (connected) {
    m_idle.start();
    m_next.start(0);
  } else {
    m_idle.stop();
    m_next.stop();
  }
}

void HistoryMirror::touch() {
  if (!m_connected) return;
  if (m_busy)
    m_again = true;
  else if (!m_next.isActive())
    m_next.start(kTogether);
}

void HistoryMirror::hear(const engine::Sample& sample) {
  if (!m_heard) {
    m_heard = Heard{sample.job, sample.time};
    m_sinceHeard.start();
  }
  touch();
}

void HistoryMirror::hear(const engine::Event& event) {
  if (event.source == "history" && event.severity == engine::Severity::kError)
    m_historyError = event;
  touch();
}

void HistoryMirror::onGui(std::function<void()> task) {
  // The destructor ends the writing thread first, so that `this` is there.
  QMetaObject::invokeMethod(this, std::move(task), Qt::QueuedConnection);
}

void HistoryMirror::askNext() {
  if (m_busy || !m_connected) return;
  m_busy = true;
  m_again = false;
  Round round;
  if (m_heard && m_sinceHeard.hasExpired(kPatience.count())) round.due = m_heard;
  m_thread->post([this, round, store = m_store]() mutable {
    const auto cursor = store->Cursor();
    if (cursor) round.since = *cursor;
    onGui([this, round, failure = cursor ? OkStatus() : Status(cursor.error())] {
      if (failure)
        send(round);
      else
        finish({failure.error()});
    });
  });
}

void HistoryMirror::send(const Round& round) {
  wire::Request request;
  agents::Encode(round.since, request.mutable_changes());
  request.mutable_changes()->set_limit(agents::kMaxChanges);
  // The answer may come when this object is gone: then the thread takes no more tasks.
  m_ask(std::move(request), [this, round, thread = m_thread](Result<wire::Reply> reply) {
    thread->post([this, round, reply = std::move(reply)] { take(round, reply); });
  });
}

void HistoryMirror::take(const Round& round, const Result<wire::Reply>& reply) {
  if (!reply) {
    return onGui([this, failure = reply.error()] {
      m_busy = false;
      if (!m_connected) return;
      // A link that breaks is shown anyway. One that holds has a history that cannot be read.
      if (++m_failures > 1) judge({failure});
      m_next.start(kRetry);
    });
  }
  Outcome outcome{m_store->Apply(round.since, *reply)};
  outcome.path = m_store->path;
  if (round.due && outcome.more && !*outcome.more) outcome.recorded = m_store->Has(*round.due);
  const std::string note = std::exchange(m_store->note, {});
  onGui([this, outcome, note] {
    if (!note.empty()) emit noted(QString::fromStdString(note));
    finish(outcome);
  });
}

void HistoryMirror::finish(const Outcome& outcome) {
  m_busy = false;
  m_failures = 0;
  judge(outcome);
  if (!m_connected) return;
  const bool caught = outcome.more && !*outcome.more;
  if (outcome.more && !caught)
    m_next.start(0);
  else if (m_again)
    m_next.start(kTogether);
  if (caught) emit caughtUp(QString::fromStdString(outcome.path));
}

void HistoryMirror::judge(const Outcome& outcome) {
  if (outcome.recorded) m_unrecorded = !*outcome.recorded;
  QString now;
  if (!outcome.more) {
    now = QString::fromStdString(outcome.more.error().message);
  } else if (m_unrecorded && m_heard) {
    now = tr("the cluster has recorded nothing since %1")
              .arg(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(m_heard->time * 1000))
                       .toString(QStringLiteral("HH:mm:ss")));
    if (m_historyError.time > m_heard->time - kReasonSeconds)
      now += QStringLiteral(" (%1)").arg(QString::fromStdString(m_historyError.text));
  }
  if (outcome.recorded == true) m_heard.reset();
  if (now != m_problem) emit problemChanged(m_problem = now);
}

}  // namespace tessera::app
