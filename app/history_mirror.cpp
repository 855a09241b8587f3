// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/history_mirror.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "agents/client/cluster.h"
#include "agents/wire/history_wire.h"
#include "app/commands/when.h"

namespace tessera::app {
namespace {

constexpr std::chrono::milliseconds kTogether{1000};  // what happens within it is asked for at once
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

void HistoryMirror::onGui(std::function<void()> task) {
  // The destructor ends the writing thread first, so that `this` is there.
  QMetaObject::invokeMethod(this, std::move(task), Qt::QueuedConnection);
}

void HistoryMirror::askNext() {
  if (m_busy || !m_connected) return;
  m_busy = true;
  m_again = false;
  m_thread->post([this, store = m_store] {
    const auto cursor = store->Cursor();
    onGui([this, cursor, path = store->path] {
      if (cursor)
        send(*cursor);
      else
        finish(cursor.error(), path);
    });
  });
}

void HistoryMirror::send(const engine::HistoryCursor& cursor) {
  wire::Request request;
  agents::Encode(cursor, request.mutable_changes());
  request.mutable_changes()->set_limit(agents::kMaxChanges);
  // The answer may come when this object is gone: then the thread takes no more tasks.
  m_ask(std::move(request), [this, cursor, thread = m_thread](Result<wire::Reply> reply) {
    thread->post([this, cursor, reply = std::move(reply)] { take(cursor, reply); });
  });
}

void HistoryMirror::take(const engine::HistoryCursor& since, const Result<wire::Reply>& reply) {
  if (!reply) {
    // A cluster that does not answer is no fault of the mirror's, and the panel shows it anyway.
    return onGui([this] {
      m_busy = false;
      if (m_connected) m_next.start(kIdle);
    });
  }
  const auto more = m_store->Apply(since, *reply);
  const std::string note = std::exchange(m_store->note, {});
  onGui([this, more, note, path = m_store->path] {
    if (!note.empty()) emit problem(QString::fromStdString(note));
    finish(more, path);
  });
}

void HistoryMirror::finish(const Result<bool>& more, const std::string& path) {
  m_busy = false;
  const QString now = more ? QString() : QString::fromStdString(more.error().ToString());
  if (now != m_problem) emit problem(m_problem = now);
  if (!m_connected) return;
  if (more && *more)
    m_next.start(0);
  else if (m_again)
    m_next.start(kTogether);
  if (more && !*more) emit caughtUp(QString::fromStdString(path));
}

}  // namespace tessera::app
