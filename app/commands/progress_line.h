// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A line on stderr that is updated in place. It appears on a terminal only, unless
/// `Elsewhere::kLines` writes plain lines elsewhere.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace tessera::app {

class ProgressLine {
 public:
  enum class Elsewhere { kNothing, kLines };
  explicit ProgressLine(bool quiet, Elsewhere elsewhere = Elsewhere::kNothing)
      : m_isTerminal(isatty(STDERR_FILENO) != 0),
        m_shown(!quiet && (m_isTerminal || elsewhere == Elsewhere::kLines)) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (!m_shown || text == m_text) return;
    if (!m_isTerminal) return showLine(text);
    m_text = text;
    fmt::print(stderr, "\r\033[K{}", m_text);
    std::fflush(stderr);
  }
  void clear() {
    if (m_isTerminal && !m_text.empty()) fmt::print(stderr, "\r\033[K");
    m_text.clear();
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// The time between two lines in a log.
  static constexpr std::chrono::seconds kLinePause{10};

  void showLine(const std::string& text) {
    if (m_shownAt && Clock::now() - *m_shownAt < kLinePause) return;
    m_shownAt = Clock::now();
    m_text = text;
    fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
  }

  bool m_isTerminal;
  bool m_shown;
  std::string m_text;
  std::optional<Clock::time_point> m_shownAt;  // the last plain line
};

}  // namespace tessera::app
