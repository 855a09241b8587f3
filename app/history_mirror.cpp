// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/history_mirror.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "agents/client/cluster.h"
#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/when.h"

namespace tessera::app {
struct HistoryMirror::Store {
  std::string cluster;
  std::string path;
  engine::Retention retention;
  std::unique_ptr<engine::History> history;
  std::string note;            // about a damaged file that was set aside
  std::string simulated = {};  // the hardware; empty: real, or not known yet

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

  /// \return whether there are more rows to request
  Result<bool> Apply(const engine::HistoryCursor& since, const wire::Reply& reply) {
    TESSERA_TRY(const auto changes, agents::Decode(reply.changes()));
    if (!since.history.empty() && since.history != changes.next.history) {
      // The first file belongs to another cluster that had this name before.
      TESSERA_RETURN_IF_ERROR(Open(pathOf(fmt::format("{}.{}", cluster, changes.next.history))));
      return true;
    }
    TESSERA_RETURN_IF_ERROR(history->ApplyChanges(cluster, since, changes, wallClock()));
    if (!simulated.empty()) TESSERA_RETURN_IF_ERROR(history->NoteSimulated(simulated));
    TESSERA_RETURN_IF_ERROR(history->Retain(retention, wallClock()));
    return changes.more;
  }
};

HistoryMirror::HistoryMirror(std::string cluster, Ask ask, const MirrorOptions& options,
                             QObject* parent)
    : QObject(parent),
      m_cluster(std::move(cluster)),
      m_ask(std::move(ask)),
      m_options(options),
      m_store(std::make_shared<Store>(Store{m_cluster, pathOf(m_cluster), {}, nullptr, {}, {}})),
      m_thread(std::make_shared<TaskThread>()) {
  m_next.setSingleShot(true);
  m_idle.setInterval(m_options.idle);
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

void HistoryMirror::setSimulated(const std::string& hardware) {
  if (std::exchange(m_simulated, hardware) == hardware) return;
  m_thread->post([store = m_store, hardware] { store->simulated = hardware; });
}

void HistoryMirror::setConnected(bool connected) {
  if (std::exchange(m_connected, connected) == connected) return;
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
    m_next.start(m_options.together);
}

void HistoryMirror::onGui(std::function<void()> task) {
  // The destructor ends the writing thread first, so `this` is valid.
  QMetaObject::invokeMethod(this, std::move(task), Qt::QueuedConnection);
}

void HistoryMirror::askNext() {
  if (m_busy || !m_connected) return;
  m_busy = true;
  m_again = false;
  m_thread->post([this, store = m_store] {
    const auto since = store->Cursor();
    onGui([this, since] {
      if (since)
        send(*since);
      else
        finish({since.error(), {}});
    });
  });
}

void HistoryMirror::send(const engine::HistoryCursor& since) {
  wire::Request request;
  agents::Encode(since, request.mutable_changes());
  request.mutable_changes()->set_limit(agents::kMaxChanges);
  // The answer may arrive after the destructor. The stopped thread then ignores the task.
  m_ask(std::move(request), [this, since, thread = m_thread](Result<wire::Reply> reply) {
    thread->post([this, since, reply = std::move(reply)] { take(since, reply); });
  });
}

void HistoryMirror::take(const engine::HistoryCursor& since, const Result<wire::Reply>& reply) {
  if (!reply) {
    return onGui([this, failure = reply.error()] {
      m_busy = false;
      if (!m_connected) return;
      // The panel shows a broken link anyway. Several failures over a good link mean that the
      // registrar cannot read its history.
      if (++m_failures > 1) setProblem(failure);
      m_next.start(m_options.retry);
    });
  }
  Outcome outcome{m_store->Apply(since, *reply), {}};
  outcome.path = m_store->path;
  const std::string note = std::exchange(m_store->note, {});
  onGui([this, outcome, note] {
    if (!note.empty()) emit noted(QString::fromStdString(note));
    finish(outcome);
  });
}

void HistoryMirror::finish(const Outcome& outcome) {
  m_busy = false;
  m_failures = 0;
  setProblem(outcome.more ? OkStatus() : Status(outcome.more.error()));
  if (!m_connected) return;
  const bool caught = outcome.more && !*outcome.more;
  if (outcome.more && !caught)
    m_next.start(0);
  else if (m_again)
    m_next.start(m_options.together);
  if (caught) emit caughtUp(QString::fromStdString(outcome.path));
}

void HistoryMirror::setProblem(const Status& status) {
  const QString now = status ? QString() : QString::fromStdString(status.error().message);
  if (now != m_problem) emit problemChanged(m_problem = now);
}

}  // namespace tessera::app
