// SPDX-License-Identifier: Apache-2.0
#include "engine/history/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "engine/files/file_system.h"

namespace tessera::engine {
namespace {

constexpr int kBusyTimeoutMs = 300;
// Size of the write-ahead log on disk after a checkpoint, bytes.
constexpr char kLogLimit[] = "PRAGMA journal_size_limit = 4194304";

ErrorCode CodeOf(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_IOERR:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return ErrorCode::kDataLoss;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CONSTRAINT:
      return ErrorCode::kAlreadyExists;
    default:
      return ErrorCode::kInternal;
  }
}

Error MakeError(const std::string& path, int code, const char* message) {
  return {CodeOf(code), fmt::format("{}: {} (sqlite {})", path, message, code), {}};
}

Error LastError(const std::string& path, sqlite3* handle) {
  return MakeError(path, sqlite3_extended_errcode(handle), sqlite3_errmsg(handle));
}

/// Whether the header of the file states WAL mode.
bool HasLogAhead(const std::string& path) {
  constexpr std::streamoff kReadVersion = 19;
  std::ifstream file(path, std::ios::binary);
  file.seekg(kReadVersion);
  return file.get() == 2;
}

}  // namespace

Statement::Statement(sqlite3_stmt* statement, Database& database)
    : handle_(statement, GiveBack{&database}), path_(&database.path_) {}

void Statement::GiveBack::operator()(sqlite3_stmt* statement) const {
  database->GiveBack(statement);
}

Status Statement::Bind(int parameter, std::int64_t value) {
  if (sqlite3_bind_int64(handle_.get(), parameter + 1, value) == SQLITE_OK) return OkStatus();
  return LastError(*path_, sqlite3_db_handle(handle_.get()));
}

Status Statement::Bind(int parameter, double value) {
  if (sqlite3_bind_double(handle_.get(), parameter + 1, value) == SQLITE_OK) return OkStatus();
  return LastError(*path_, sqlite3_db_handle(handle_.get()));
}

Status Statement::Bind(int parameter, std::string_view text) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* data = text.empty() ? "" : text.data();
  if (sqlite3_bind_text64(handle_.get(), parameter + 1, data, text.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8) == SQLITE_OK) {
    return OkStatus();
  }
  return LastError(*path_, sqlite3_db_handle(handle_.get()));
}

Status Statement::BindBlob(int parameter, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  if (sqlite3_bind_blob64(handle_.get(), parameter + 1, data, bytes.size(), SQLITE_TRANSIENT) ==
      SQLITE_OK) {
    return OkStatus();
  }
  return LastError(*path_, sqlite3_db_handle(handle_.get()));
}

Result<bool> Statement::Step() {
  switch (sqlite3_step(handle_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default: {
      Error error = LastError(*path_, sqlite3_db_handle(handle_.get()));
      Reset();
      return error;
    }
  }
}

Status Statement::Run() {
  TESSERA_RETURN_IF_ERROR(Step());
  Reset();
  return OkStatus();
}

void Statement::Reset() {
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::Double(int column) const {
  if (IsNull(column)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::Text(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return data == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

Result<std::unique_ptr<Database>> Database::OpenWith(const std::string& file, int flags,
                                                     const std::string& path) {
  // Counting its memory takes a lock of the whole process at each allocation.
  [[maybe_unused]] static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &handle,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  // Even a failed open leaves a handle that must be closed.
  std::unique_ptr<Database> database(new Database(handle, path));
  if (opened != SQLITE_OK) {
    return MakeError(path, opened, handle ? sqlite3_errmsg(handle) : sqlite3_errstr(opened));
  }
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Database::Log Database::LogFor(const std::string& path) {
  return IsOnSharedFileSystem(path) ? Log::kRollback : Log::kAhead;
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, Durability durability) {
  return Open(path, durability, LogFor(path));
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, Durability durability,
                                                 Log log) {
  TESSERA_TRY(auto database, OpenWith(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path));
  // Has an effect only before the first write.
  TESSERA_RETURN_IF_ERROR(database->Execute("PRAGMA auto_vacuum = INCREMENTAL"));
  TESSERA_RETURN_IF_ERROR(database->Execute(
      log == Log::kAhead ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE"));
  TESSERA_RETURN_IF_ERROR(database->Execute(kLogLimit));
  TESSERA_RETURN_IF_ERROR(database->Execute(durability == Durability::kFull
                                                ? "PRAGMA synchronous = FULL"
                                                : "PRAGMA synchronous = NORMAL"));
  TESSERA_RETURN_IF_ERROR(database->Execute("PRAGMA foreign_keys = ON"));
  return database;
}

Result<std::unique_ptr<Database>> Database::OpenReadOnly(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return NotFound(path + ": no such file");
  const bool log_beside = std::filesystem::exists(path + "-wal", ignored);
  // A process still writes, or was killed: SQLite reads both files. With a rollback journal it locks
  // the one file.
  if (log_beside || !HasLogAhead(path)) {
    return OpenWith(path, SQLITE_OPEN_READONLY, path);
  }
  // No process has it open: read it without the lock files that SQLite would create.
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path, ignored).string()) {
    uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
  }
  return OpenWith(uri + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path);
}

Status Database::CopyTo(Database& target) {
  sqlite3_backup* const copy = sqlite3_backup_init(target.handle_, "main", handle_, "main");
  if (copy == nullptr) return LastError(target.path_, target.handle_);
  sqlite3_backup_step(copy, -1);
  // The target has the error of either side.
  if (sqlite3_backup_finish(copy) != SQLITE_OK) return LastError(target.path_, target.handle_);
  return OkStatus();
}

Result<std::unique_ptr<Database>> Database::CopyToMemory() {
  TESSERA_TRY(auto memory, OpenWith(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path_));
  TESSERA_RETURN_IF_ERROR(CopyTo(*memory));
  return memory;
}

Status Database::BackupTo(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::exists(path, failure)) return AlreadyExists(path + ": exists");
  const std::string fresh = path + ".new";
  std::filesystem::remove(fresh, failure);
  const auto copy = [&]() -> Status {
    TESSERA_TRY(auto target, OpenWith(fresh, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, fresh));
    return CopyTo(*target);
  };
  Status done = copy();
  if (done) {
    std::filesystem::rename(fresh, path, failure);
    if (failure) done = Unavailable(fmt::format("{}: {}", path, failure.message()));
  }
  if (!done) std::filesystem::remove(fresh, failure);
  return done;
}

Database::~Database() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return OkStatus();
  return LastError(path_, handle_);
}

Result<Statement> Database::Prepare(std::string_view sql) {
  if (const auto idle = idle_.find(sql); idle != idle_.end()) {
    sqlite3_stmt* const known = idle->second;
    idle_.erase(idle);
    return Statement(known, *this);
  }
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return LastError(path_, handle_);
  }
  return Statement(statement, *this);
}

void Database::GiveBack(sqlite3_stmt* statement) {
  constexpr std::size_t kMostIdle = 64;
  const char* const sql = sqlite3_sql(statement);
  if (sql == nullptr || idle_.size() >= kMostIdle || idle_.contains(std::string_view(sql))) {
    sqlite3_finalize(statement);
    return;
  }
  sqlite3_reset(statement);  // its error was reported by the step that failed
  sqlite3_clear_bindings(statement);
  idle_.emplace(sql, statement);
}

Result<std::int64_t> Database::ReadInt(std::string_view sql) {
  TESSERA_TRY(auto query, Prepare(sql));
  TESSERA_TRY(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

std::int64_t Database::last_insert_rowid() const { return sqlite3_last_insert_rowid(handle_); }

Status Database::InTransaction(const std::function<Status()>& body) {
  TESSERA_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  Status done = body();
  if (done) done = Execute("COMMIT");
  if (!done) {
    // Some errors end the transaction by themselves; then this one fails, and the first one counts.
    (void)Execute("ROLLBACK");
  }
  return done;
}

}  // namespace tessera::engine
