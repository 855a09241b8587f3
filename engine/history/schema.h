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
/// its number in PRAGMA user_version. \error kFailedPrecondition for a newer database: `PATH:
/// schema version 3, this program knows up
///     to 1`; otherwise as Database::Execute.
/// \post on error the database is as before
Status Migrate(Database& database, std::string_view schema);

}  // namespace tessera::engine
