-- SPDX-License-Identifier: Apache-2.0
-- Journal of an agent: keys and values that survive any crash. See history.sql for the rules of
-- sections.

-- version 1
CREATE TABLE entries (
  key   TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;
