// SPDX-License-Identifier: Apache-2.0
#include "engine/history/journal.h"

#include "engine/history/schema.h"
#include "engine/history/sqlite.h"

namespace tessera::engine {

struct Journal::Impl {
  std::unique_ptr<Database> database;
  Statement put, add, get, erase, list;
};

Result<std::unique_ptr<Journal>> Journal::Open(const std::string& path) {
  TESSERA_TRY(auto database, Database::Open(path, Database::Durability::kFull));
  TESSERA_RETURN_IF_ERROR(Migrate(*database, kJournalSchema));
  Database& db = *database;
  TESSERA_TRY(auto put, db.Prepare("INSERT OR REPLACE INTO entries VALUES (?,?)"));
  TESSERA_TRY(auto add, db.Prepare("INSERT OR IGNORE INTO entries VALUES (?,?)"));
  TESSERA_TRY(auto get, db.Prepare("SELECT value FROM entries WHERE key = ?"));
  TESSERA_TRY(auto erase, db.Prepare("DELETE FROM entries WHERE key = ?"));
  TESSERA_TRY(auto list, db.Prepare("SELECT key, value FROM entries WHERE key >= ? ORDER BY key"));
  return std::unique_ptr<Journal>(new Journal(
      std::unique_ptr<Impl>(new Impl{std::move(database), std::move(put), std::move(add),
                                     std::move(get), std::move(erase), std::move(list)})));
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;

Status Journal::Put(std::string_view key, std::string_view value) {
  TESSERA_RETURN_IF_ERROR(impl_->put.Bind(0, key));
  TESSERA_RETURN_IF_ERROR(impl_->put.BindBlob(1, value));
  return impl_->put.Run();
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
  TESSERA_RETURN_IF_ERROR(impl_->database->InTransaction(body));
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

Status Journal::Erase(std::string_view key) {
  TESSERA_RETURN_IF_ERROR(impl_->erase.Bind(0, key));
  return impl_->erase.Run();
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
