// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A SQLite connection and its prepared statements with errors as values. One thread at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "ptc/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tessera::engine {

/// A prepared statement. It must not outlive its database. Parameters and columns count from 0.
class Statement {
 public:
  Status Bind(int parameter, std::int64_t value);
  /// NaN is bound as NULL: SQLite has no NaN.
  Status Bind(int parameter, double value);
  Status Bind(int parameter, std::string_view text);
  /// Bytes of any kind.
  Status BindBlob(int parameter, std::string_view bytes);

  /// Whether there is a row; false: the statement is done.
  Result<bool> Step();
  /// Runs a statement that returns no rows, and makes it ready for the next use.
  Status Run();
  /// Ready for the next use; ends what the statement reads. Bindings go.
  void Reset();

  /// Columns of the current row. \pre the last Step() was true
  bool IsNull(int column) const;
  std::int64_t Int(int column) const;
  double Double(int column) const;     // NULL is NaN
  std::string Text(int column) const;  // of text and of blobs, bytes of value 0 included

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, const std::string& path) : handle_(statement), path_(&path) {}
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const std::string* path_;
};

/// Calls `each` for every row that `query` has still, then makes it ready for the next use. An
/// error that `each` returns (a Status, or nothing) ends that.
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
  /// Whether a commit may be lost when power fails. Neither loses one when a process is killed.
  enum class Durability : std::uint8_t {
    kNormal,  // perhaps the last ones; the file stays whole
    kFull,    // none: synchronous = FULL
  };

  /// Opens or makes the file, in WAL mode. Another connection that holds a lock is waited for, 0.3
  /// s. \error kUnavailable: locked, read-only, or cannot be opened, read or written;
  ///     kResourceExhausted: disk full; kDataLoss: not a database, or damaged. Each names the path.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, Durability durability);
  /// Opens a file that is there, without ever writing to it. \error also kNotFound
  static Result<std::unique_ptr<Database>> OpenReadOnly(const std::string& path);
  /// A copy in memory under the same name. \error as Open
  Result<std::unique_ptr<Database>> CopyToMemory();
  /// Copies what is committed to a file that must not be there yet. It appears as a whole or not at
  /// all. \error as Open; kAlreadyExists
  Status BackupTo(const std::string& path);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  /// Statements without results, separated by semicolons. \error as Open
  Status Execute(const std::string& sql);
  Result<Statement> Prepare(std::string_view sql);
  /// First column of the only row that `sql` gives; 0 where there is none.
  Result<std::int64_t> ReadInt(std::string_view sql);
  std::int64_t last_insert_rowid() const;
  /// Rows that the last statement changed.
  std::int64_t num_changed() const;

  /// Runs `body` in a write transaction, which its error rolls back. No nesting.
  Status InTransaction(const std::function<Status()>& body);

 private:
  static Result<std::unique_ptr<Database>> OpenWith(const std::string& file, int flags,
                                                    const std::string& path);
  Status CopyTo(Database& target);

  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_;
  std::string path_;
};

}  // namespace tessera::engine
