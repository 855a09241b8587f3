// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/shell_words.h"

#include <algorithm>
#include <cctype>

namespace tessera::app {

std::string shellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shellLine(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain = "-_./=:,+@%";
  std::string line;
  for (const std::string& word : words) {
    const bool isPlain = !word.empty() && std::ranges::all_of(word, [&](unsigned char letter) {
      return std::isalnum(letter) != 0 || kPlain.find(static_cast<char>(letter)) != kPlain.npos;
    });
    line += (line.empty() ? "" : " ") + (isPlain ? word : shellQuoted(word));
  }
  return line;
}

}  // namespace tessera::app
