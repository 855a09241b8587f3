-- SPDX-License-Identifier: Apache-2.0
-- History of a cluster: transactions, events and samples. Each numbered section below brings a
-- database to its version from the one before. Sections that were released are never changed, only
-- followed. Times are wall-clock seconds since 1970, durations seconds, sizes bytes.

-- version 1
CREATE TABLE transactions (
  id            INTEGER PRIMARY KEY,
  job           TEXT NOT NULL,
  from_mesh     TEXT NOT NULL,
  to_mesh       TEXT NOT NULL,
  started       REAL,
  result        TEXT NOT NULL,  -- 'committed', 'rolled_back', 'failed'; '' while it runs
  reason        TEXT NOT NULL,
  pause         REAL,
  bytes_moved   INTEGER NOT NULL,
  volume_bound  INTEGER NOT NULL,
  digest_before TEXT NOT NULL,
  digest_after  TEXT NOT NULL,
  step          INTEGER NOT NULL,
  epoch         INTEGER NOT NULL
);
CREATE INDEX transactions_of_job ON transactions (job, id);

CREATE TABLE transaction_phases (
  id      INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
  phase   TEXT NOT NULL,
  seconds REAL,
  PRIMARY KEY (id, phase)
) WITHOUT ROWID;

CREATE TABLE events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never given twice
  time     REAL,
  severity TEXT NOT NULL,
  source   TEXT NOT NULL,
  text     TEXT NOT NULL
);

-- A loss that is not a number is stored as NULL.
CREATE TABLE samples (
  job               TEXT NOT NULL,
  step              INTEGER NOT NULL,
  loss              REAL,
  grad_norm         REAL,
  tokens_per_second REAL,
  time              REAL,
  PRIMARY KEY (job, step)
) WITHOUT ROWID;
