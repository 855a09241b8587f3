// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Schemas as numbered sections of SQL (resources/schema/), and the migration of a database.

#include <string>
#include <string_view>

#include "engine/history/sqlite.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// The texts of resources/schema/history.sql and journal.sql.
extern const char* const kHistorySchema;
extern const char* const kJournalSchema;

/// Runs the sections of `schema` that are newer than the database, in one transaction, and checks
/// the whole result before the commit. A section begins with a line `-- version N`; versions count
/// from 1 without gaps. PRAGMA user_version of the database holds its version. A database of an
/// older version N is first copied to `PATH.vN.bak` (`PATH.vN.bak.2` and so on if that exists), so
/// that the user can return to the older program.
/// \param keep_backup false for a database that is itself a copy
/// \error kFailedPrecondition for a newer database: `PATH: schema version 3, this program knows up
///     to 1`, and for a database of another program, which has tables and no version; otherwise as
///     Database::Execute.
/// \post on error the database is as before
Status Migrate(Database& database, std::string_view schema, bool keep_backup = true);

/// Reads and checks the whole database.
/// \error kDataLoss naming the path and the first damage
Status CheckWhole(Database& database);

/// Renames a database file, with the files that SQLite keeps next to it, to PATH.bad, PATH.bad.2,
/// ….
/// \return the new name
/// \error kUnavailable
Result<std::string> MoveAside(const std::string& path);

}  // namespace tessera::engine
