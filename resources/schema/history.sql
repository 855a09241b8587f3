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

-- version 2
-- The requester of a transaction, the planned bytes, and the bytes that each pair of devices
-- transferred. `revision` increments with every write of a row, so that a mirror can request the
-- changed rows.
ALTER TABLE transactions ADD COLUMN from_options TEXT NOT NULL DEFAULT '';
ALTER TABLE transactions ADD COLUMN to_options TEXT NOT NULL DEFAULT '';
ALTER TABLE transactions ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE transactions ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;     -- planned bytes
ALTER TABLE transactions ADD COLUMN device INTEGER NOT NULL DEFAULT 0;   -- planned bytes
ALTER TABLE transactions ADD COLUMN host INTEGER NOT NULL DEFAULT 0;     -- planned bytes
ALTER TABLE transactions ADD COLUMN network INTEGER NOT NULL DEFAULT 0;  -- planned bytes
ALTER TABLE transactions ADD COLUMN pause_estimate REAL;
ALTER TABLE transactions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
UPDATE transactions SET revision = id;
CREATE INDEX transactions_of_revision ON transactions (revision);
CREATE INDEX transactions_of_time ON transactions (started);

CREATE TABLE transaction_flows (
  id               INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
  source           TEXT NOT NULL,  -- 'n0g0'
  destination      TEXT NOT NULL,
  bytes_done       INTEGER NOT NULL,
  bytes_total      INTEGER NOT NULL,
  bytes_per_second REAL,
  PRIMARY KEY (id, source, destination)
) WITHOUT ROWID;

CREATE INDEX events_of_time ON events (time);
CREATE INDEX events_of_note ON events (sequence) WHERE severity IN ('warning', 'error');

-- Samples in the order in which they were made. A job that goes back to an earlier step, or begins
-- anew under its old name, makes steps again: those from that step on are `undone` then. They stay
-- on record; of the others there is one a step.
ALTER TABLE samples RENAME TO samples_1;
CREATE TABLE samples (
  sequence          INTEGER PRIMARY KEY AUTOINCREMENT,  -- a number is never given twice
  job               TEXT NOT NULL,
  step              INTEGER NOT NULL,
  loss              REAL,
  grad_norm         REAL,
  tokens_per_second REAL,
  time              REAL,
  undone            INTEGER NOT NULL DEFAULT 0
);
INSERT INTO samples (job, step, loss, grad_norm, tokens_per_second, time)
  SELECT job, step, loss, grad_norm, tokens_per_second, time FROM samples_1
  ORDER BY time, job, step;
DROP TABLE samples_1;
CREATE UNIQUE INDEX samples_of_step ON samples (job, step) WHERE undone = 0;
CREATE INDEX samples_of_time ON samples (job, time);

-- What the file says of itself: 'id' tells histories apart, 'revision' is the last one given out,
-- 'thinned', 'removed_samples', 'removed_events' are the last sequence numbers that retention has
-- been at; 'mirror_of' and 'cursor_…' stand in a panel's mirror only.
CREATE TABLE about (
  key   TEXT PRIMARY KEY,
  value NOT NULL
) WITHOUT ROWID;
INSERT INTO about VALUES ('id', lower(hex(randomblob(8))));
INSERT INTO about SELECT 'revision', ifnull(max(revision), 0) FROM transactions;

-- Of a mirror: the intervals of time in which nothing is missing.
CREATE TABLE covered (
  began REAL NOT NULL,
  ended REAL NOT NULL
);

-- version 3
-- What the program of a job has reported with a step. A value that is not a number is NULL.
CREATE TABLE sample_metrics (
  sequence INTEGER NOT NULL REFERENCES samples (sequence) ON DELETE CASCADE,
  name     TEXT NOT NULL,
  value    REAL,
  PRIMARY KEY (sequence, name)
) WITHOUT ROWID;

-- version 4
-- The state of a node from an event on: '3 alive 0 2', which is node, state, failed devices. Empty
-- in events that change no state, and in those of earlier versions.
ALTER TABLE events ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE INDEX events_of_nodes ON events (sequence) WHERE note <> '';

-- version 5
-- Of a move in rounds: '67108864 5 n0g0=1048576/1048064', which is the bound on the memory of a
-- device beside its state, the rounds, and what each device was planned to need and has needed.
ALTER TABLE transactions ADD COLUMN in_rounds TEXT NOT NULL DEFAULT '';

-- version 6
-- Bytes of gradients that were planned to move and have moved, because the state was copied while
-- the job trained.
ALTER TABLE transactions ADD COLUMN gradients_planned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transactions ADD COLUMN gradients_moved INTEGER NOT NULL DEFAULT 0;

-- version 7
-- When the job was started, in nanoseconds since 1970: tells jobs that had one name apart. 0 in rows
-- of earlier versions. A sample undoes only steps of its own job.
ALTER TABLE transactions ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
CREATE INDEX transactions_of_origin ON transactions (job, origin);
-- What it did to the job: 'reconfigure', 'recover', 'load', 'hand_in', 'begin'; '' in rows of earlier
-- versions.
ALTER TABLE transactions ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE samples ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
DROP INDEX samples_of_step;
CREATE UNIQUE INDEX samples_of_origin ON samples (job, origin, step) WHERE undone = 0;

-- version 8
-- By how much the step after a change came later than a step takes: more than the pause, because ranks
-- build their program again. NULL: not known, such as for a paused job.
ALTER TABLE transactions ADD COLUMN gap REAL;
