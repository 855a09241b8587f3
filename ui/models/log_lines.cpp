// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/log_lines.h"

#include <algorithm>
#include <cctype>

namespace tessera::ui {

void LogLines::append(const std::vector<std::string>& lines) {
  m_lines.insert(m_lines.end(), lines.begin(), lines.end());
  while (m_lines.size() > kMost) m_lines.pop_front();
}

// The longest end of the known lines with which the newest begin. A log may repeat a line, so a
// shorter overlap would drop lines that are new.
bool LogLines::merge(const std::vector<std::string>& newest) {
  std::size_t overlap = std::min(m_lines.size(), newest.size());
  while (overlap > 0 && !std::equal(m_lines.end() - static_cast<std::ptrdiff_t>(overlap),
                                    m_lines.end(), newest.begin())) {
    --overlap;
  }
  append({newest.begin() + static_cast<std::ptrdiff_t>(overlap), newest.end()});
  return overlap < newest.size();
}

engine::Severity LogLines::severityOf(const std::string& line) {
  const auto isLetter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto begin = std::find_if(line.begin(), line.end(), isLetter);
  std::string first(begin, std::find_if_not(begin, line.end(), isLetter));
  std::ranges::transform(first, first.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (first == "debug") return engine::Severity::kDebug;
  if (first == "warning" || first == "warn") return engine::Severity::kWarning;
  if (first == "error" || first == "fatal" || first == "critical" || first == "traceback")
    return engine::Severity::kError;
  return engine::Severity::kInfo;
}

QStringList LogLines::shown(engine::Severity least, const QString& filter) const {
  QStringList lines;
  for (const std::string& line : m_lines) {
    if (severityOf(line) < least) continue;
    const QString text = QString::fromStdString(line);
    if (filter.isEmpty() || text.contains(filter, Qt::CaseInsensitive)) lines << text;
  }
  return lines;
}

}  // namespace tessera::ui
