// SPDX-License-Identifier: Apache-2.0
#include "engine/history/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/files/descriptor.h"
#include "engine/history/schema.h"
#include "engine/history/sqlite.h"

namespace tessera::engine {

struct Journal::Impl {
  std::unique_ptr<Database> database;
  Statement put, add, get, erase, list;
  struct stat opened {};  // the file

  std::string ReservePath() const { return database->path() + ".reserve"; }

  /// Runs `write`, on a full disk once more without the reserve.
  template <typename Write>
  auto WithReserve(Write write) {
    auto written = write();
    if (written || written.error().code != ErrorCode::kResourceExhausted) return written;
    if (::unlink(ReservePath().c_str()) != 0) return written;
    return write();
  }
};

// Rows have the settings of jobs, whose URLs may have passwords in them.
Result<std::unique_ptr<Journal>> Journal::Open(const std::string& path) {
  {
    // Closed before SQLite locks the file: closing any descriptor of it drops the locks of the
    // process. A failure shows below, with a better text.
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (file.ok()) static_cast<void>(::fchmod(file.get(), 0600));
  }
  TESSERA_TRY(auto database, Database::Open(path, Database::Durability::kFull));
  TESSERA_RETURN_IF_ERROR(Migrate(*database, kJournalSchema));
  Database& db = *database;
  TESSERA_TRY(auto put, db.Prepare("INSERT OR REPLACE INTO entries VALUES (?,?)"));
  TESSERA_TRY(auto add, db.Prepare("INSERT OR IGNORE INTO entries VALUES (?,?)"));
  TESSERA_TRY(auto get, db.Prepare("SELECT value FROM entries WHERE key = ?"));
  TESSERA_TRY(auto erase, db.Prepare("DELETE FROM entries WHERE key = ?"));
  TESSERA_TRY(auto list, db.Prepare("SELECT key, value FROM entries WHERE key >= ? ORDER BY key"));
  struct stat opened {};
  if (::stat(path.c_str(), &opened) != 0) {
    return Unavailable(fmt::format("cannot look at '{}': {}", path, std::strerror(errno)));
  }
  return std::unique_ptr<Journal>(new Journal(
      std::unique_ptr<Impl>(new Impl{std::move(database), std::move(put), std::move(add),
                                     std::move(get), std::move(erase), std::move(list), opened})));
}

Status Journal::CheckFile(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return OkStatus();
  TESSERA_TRY(const auto database, Database::Open(path, Database::Durability::kFull));
  return CheckWhole(*database);
}

Result<std::unique_ptr<Journal>> Journal::OpenOrQuarantine(const std::string& path,
                                                           std::string* note) {
  note->clear();
  if (const Status whole = CheckFile(path); !whole && whole.error().code == ErrorCode::kDataLoss) {
    TESSERA_TRY(const std::string bad, MoveAside(path));
    *note = fmt::format("{} was damaged ({}); it is kept as {}", path, whole.error().message, bad);
  }
  return Open(path);
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;

Status Journal::Reserve() {
  const std::string path = impl_->ReservePath();
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && found.st_size == kReserve) return OkStatus();
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) {
    return Unavailable(fmt::format("cannot make '{}': {}", path, std::strerror(errno)));
  }
  const int failure = ::posix_fallocate(file.get(), 0, kReserve);
  if (failure == 0) return OkStatus();
  ::unlink(path.c_str());
  const std::string why = fmt::format("cannot reserve {} KiB as '{}': {}", kReserve >> 10, path,
                                      std::strerror(failure));
  return failure == ENOSPC ? Status(ResourceExhausted(why)) : Status(Unavailable(why));
}

// SQLite writes the first page of a new file at once, so a file without bytes was cut.
Status Journal::CheckPlace() const {
  const std::string& path = impl_->database->path();
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) {
    return DataLoss(fmt::format("{} was deleted, and is lost when this agent ends", path));
  }
  const bool is_same = now.st_dev == impl_->opened.st_dev && now.st_ino == impl_->opened.st_ino;
  if (is_same && now.st_size > 0) return OkStatus();
  return DataLoss(fmt::format("{} was {}: what this agent writes is lost when it ends", path,
                              is_same ? "emptied" : "replaced"));
}

Status Journal::Write(std::span<const RowChange> changes) {
  const auto body = [&]() -> Status {
    for (const RowChange& change : changes) {
      Statement& statement = change.value ? impl_->put : impl_->erase;
      TESSERA_RETURN_IF_ERROR(statement.Bind(0, change.key));
      if (change.value) TESSERA_RETURN_IF_ERROR(statement.BindBlob(1, *change.value));
      TESSERA_RETURN_IF_ERROR(statement.Run());
    }
    return OkStatus();
  };
  return impl_->WithReserve([&] { return impl_->database->InTransaction(body); });
}

Result<std::string> Journal::PutIfAbsent(std::string_view key, std::string_view value) {
  std::string stored;
  const auto body = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(impl_->add.Bind(0, key));
    TESSERA_RETURN_IF_ERROR(impl_->add.BindBlob(1, value));
    TESSERA_RETURN_IF_ERROR(impl_->add.Run());
    TESSERA_TRY(auto now, Get(key));
    if (!now) return Internal(impl_->database->path() + ": a value just stored is not there");
    stored = std::move(*now);
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(impl_->WithReserve([&] { return impl_->database->InTransaction(body); }));
  return stored;
}

Result<std::optional<std::string>> Journal::Get(std::string_view key) {
  TESSERA_RETURN_IF_ERROR(impl_->get.Bind(0, key));
  TESSERA_TRY(const bool row, impl_->get.Step());
  std::optional<std::string> value;
  if (row) value = impl_->get.Text(0);
  impl_->get.Reset();
  return value;
}

Result<std::vector<std::pair<std::string, std::string>>> Journal::List(std::string_view prefix) {
  TESSERA_RETURN_IF_ERROR(impl_->list.Bind(0, prefix));
  std::vector<std::pair<std::string, std::string>> entries;
  for (;;) {
    TESSERA_TRY(const bool row, impl_->list.Step());
    if (!row) break;
    std::string key = impl_->list.Text(0);
    if (!key.starts_with(prefix)) break;
    entries.emplace_back(std::move(key), impl_->list.Text(1));
  }
  impl_->list.Reset();
  return entries;
}

}  // namespace tessera::engine
