// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A SQLite connection and its prepared statements, with errors as values.
/// \threadsafety One thread at a time.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "ptc/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tessera::engine {

class Database;

/// A prepared statement. The database must outlive it. Parameters and columns count from 0.
class Statement {
 public:
  Status Bind(int parameter, std::int64_t value);
  /// Binds NaN as NULL, because SQLite has no NaN.
  Status Bind(int parameter, double value);
  Status Bind(int parameter, std::string_view text);
  /// Binds arbitrary bytes.
  Status BindBlob(int parameter, std::string_view bytes);

  /// Whether there is a row. false: the statement is finished.
  Result<bool> Step();
  /// Runs a statement that returns no rows, and resets it.
  Status Run();
  /// Ends the statement's read, clears its bindings, and makes it ready for the next use.
  void Reset();

  /// Columns of the current row.
  /// \pre the last Step() returned true
  bool IsNull(int column) const;
  std::int64_t Int(int column) const;
  double Double(int column) const;     // NULL is NaN
  std::string Text(int column) const;  // also of blobs, with bytes of value 0

 private:
  friend class Database;
  struct GiveBack {
    Database* database;
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, Database& database);
  std::unique_ptr<sqlite3_stmt, GiveBack> handle_;
  const std::string* path_;
};

/// Calls `each` for every remaining row of `query`, then resets it. `each` returns nothing or a
/// Status; an error ends the loop.
template <typename Each>
Status ForEachRow(Statement& query, Each each) {
  for (;;) {
    TESSERA_TRY(const bool row, query.Step());
    if (!row) break;
    if constexpr (std::is_void_v<decltype(each())>) {
      each();
    } else if (Status status = each(); !status) {
      query.Reset();
      return status;
    }
  }
  query.Reset();
  return OkStatus();
}

class Database {
 public:
  /// Whether a loss of power may undo a commit. The kill of a process never does.
  enum class Durability : std::uint8_t {
    kNormal,  // may undo the last commits; the file stays whole
    kFull,    // undoes none: synchronous = FULL
  };

  /// How a change of the file is made atomic.
  enum class Log : std::uint8_t {
    kAhead,     // WAL: readers and a writer do not wait for each other. All are on one host,
                // because they share memory
    kRollback,  // a rollback journal: file locks alone, also between hosts
  };
  /// kRollback if other hosts may write to the file as well.
  static Log LogFor(const std::string& path);

  /// Opens or creates the file, with LogFor(path) unless `log` is given. Calls wait up to 0.3 s for
  /// the lock of another connection.
  /// \error kUnavailable: locked, read-only, or cannot be opened, read or written;
  ///     kResourceExhausted: disk full; kDataLoss: not a database, or damaged. Each names the path.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, Durability durability);
  static Result<std::unique_ptr<Database>> Open(const std::string& path, Durability durability,
                                                Log log);
  /// Opens an existing file without ever writing to it.
  /// \error also kNotFound
  static Result<std::unique_ptr<Database>> OpenReadOnly(const std::string& path);
  /// A copy in memory with the same path.
  /// \error as Open
  Result<std::unique_ptr<Database>> CopyToMemory();
  /// Copies the committed rows to a new file, which appears complete or not at all.
  /// \error as Open; kAlreadyExists
  Status BackupTo(const std::string& path);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  /// Runs statements without results, separated by semicolons.
  /// \error as Open
  Status Execute(const std::string& sql);
  /// Parses the text only if no statement of the same text is idle.
  Result<Statement> Prepare(std::string_view sql);
  /// The first column of the only row of the result; 0 if there is no row.
  Result<std::int64_t> ReadInt(std::string_view sql);
  std::int64_t last_insert_rowid() const;

  /// Runs `body` in a write transaction. An error of `body` rolls it back. Does not nest.
  Status InTransaction(const std::function<Status()>& body);

 private:
  static Result<std::unique_ptr<Database>> OpenWith(const std::string& file, int flags,
                                                    const std::string& path);
  Status CopyTo(Database& target);

  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  friend class Statement;
  void GiveBack(sqlite3_stmt* statement);

  sqlite3* handle_;
  std::string path_;
  std::map<std::string, sqlite3_stmt*, std::less<>> idle_;  // prepared statements, by text
};

}  // namespace tessera::engine
