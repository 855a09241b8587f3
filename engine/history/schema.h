// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Schemas as numbered sections of SQL (resources/schema/), and how a database gets to the newest.

#include <string_view>

#include "engine/history/sqlite.h"
#include "ptc/base/result.h"

namespace tessera::engine {

/// The texts of resources/schema/history.sql and journal.sql.
extern const char* const kHistorySchema;
extern const char* const kJournalSchema;

/// Runs those sections of `schema` that are newer than the database, all in one transaction. A
/// section begins with a line `-- version N`; they count from 1 without gaps. The database keeps
/// its number in PRAGMA user_version. Before a database of an older version is touched, it is
/// copied to `PATH.vN.bak`, N its version (`PATH.vN.bak.2` and so on where there is one): that is
/// kept for whoever wants to go back
/// (`keep_backup` is off for a copy). What came out is checked as a whole before it counts.
/// \error kFailedPrecondition for a newer database: `PATH: schema version 3, this program knows up
///     to 1`, and for a database of another program, which has tables and no version; otherwise as
///     Database::Execute.
/// \post on error the database is as before
Status Migrate(Database& database, std::string_view schema, bool keep_backup = true);

/// Reads the whole database. \error kDataLoss naming the path and the first damage
Status CheckWhole(Database& database);

}  // namespace tessera::engine
