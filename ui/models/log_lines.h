// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lines of a log: what is new in the next answer, how severe a line is, and which are shown.

#include <QString>
#include <QStringList>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

class LogLines {
 public:
  /// More lines are dropped, the oldest first.
  static constexpr std::size_t kMost = 5000;

  /// Adds lines that follow the last ones.
  void append(const std::vector<std::string>& lines);
  /// Adds the new ones of the newest lines of a log, which overlap with those that are known.
  /// \return whether any is new
  bool merge(const std::vector<std::string>& newest);
  void clear() { m_lines.clear(); }
  std::size_t size() const { return m_lines.size(); }

  /// The severity that a line names in its first words: "W", "warn", "ERROR:"; info if none.
  static engine::Severity severityOf(const std::string& line);
  /// The lines of at least this severity with `filter` in them, whatever its case.
  QStringList shown(engine::Severity least, const QString& filter) const;

 private:
  std::deque<std::string> m_lines;
};

}  // namespace tessera::ui
