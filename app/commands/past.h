// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Reads the history of a cluster page by page, from the registrar or, if the cluster is stopped,
/// from the file that the registrar has left.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/commands/session.h"
#include "engine/history/history.h"
#include "engine/history/query.h"

namespace tessera::app {

/// Where the history of a cluster is read.
class Past {
 public:
  /// Prints a note on stderr if the cluster is stopped.
  /// \error also kUnavailable for a stopped cluster without a history on this machine
  static Result<Past> open(const Invocation& call);
  /// \param session outlives the past
  Past(Session& session) : m_session(&session) {}

  /// Whether the file of a stopped cluster is read, which gets no more rows.
  bool isOver() const { return m_file != nullptr; }
  Result<std::vector<engine::HistoryEntry>> ask(const engine::TransactionQuery& query) const;
  Result<std::vector<engine::Event>> ask(const engine::EventQuery& query) const;
  Result<std::vector<engine::Sample>> ask(const engine::SampleQuery& query) const;
  /// Whether the cluster has or had a job of this name.
  /// \error kNotFound naming the jobs that are known
  Status checkJob(const std::string& job) const;

 private:
  Result<bool> knows(const std::string& job) const;
  /// The jobs of now, and those of the newest rows.
  Result<std::set<std::string>> knownJobs() const;

  Past() = default;
  std::unique_ptr<Session> m_own;           // that of `open`
  Session* m_session = nullptr;             // null: m_file is there
  std::unique_ptr<engine::History> m_file;
};

/// Calls `each` for every row of the query, in its order, with one page in memory at a time.
/// Ignores `limit` and `newest`.
/// \error also the first error of `each`
Status forEach(const Past& past, engine::TransactionQuery query,
               const std::function<Status(const engine::HistoryEntry&)>& each);
Status forEach(const Past& past, engine::EventQuery query,
               const std::function<Status(const engine::Event&)>& each);
Status forEach(const Past& past, engine::SampleQuery query,
               const std::function<Status(const engine::Sample&)>& each);

/// For commands that follow the cluster. If the registrar may return, prints that once on stderr,
/// waits a second and returns true.
bool waitsForRegistrar(const Error& error, bool& said);

}  // namespace tessera::app
