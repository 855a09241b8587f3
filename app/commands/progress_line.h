// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A line on stderr that is updated in place. It appears on a terminal only.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tessera::app {

class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : m_shown(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (!m_shown || text == m_text) return;
    m_text = text;
    fmt::print(stderr, "\r\033[K{}", m_text);
    std::fflush(stderr);
  }
  void clear() {
    if (!m_text.empty()) fmt::print(stderr, "\r\033[K");
    m_text.clear();
  }

 private:
  bool m_shown;
  std::string m_text;
};

}  // namespace tessera::app
