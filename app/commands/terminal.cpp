// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/commands/json.h"

namespace tessera::app {
namespace {

struct OutputStyle {
  bool colorsOutput = false;
  bool colorsErrors = false;
  bool jsonErrors = false;
};
OutputStyle g_style;
int g_outputError = 0;

bool isColored(std::string_view color, int descriptor) {
  if (color != "auto") return color == "always";
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool isDumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(descriptor) != 0 && (none == nullptr || *none == '\0') && !isDumb;
}

const char* codeOf(Paint paint) {
  switch (paint) {
    case Paint::kBold:
      return "1";
    case Paint::kGood:
      return "32";
    case Paint::kWarning:
      return "33";
    case Paint::kBad:
      return "31";
    case Paint::kDim:
      return "2";
  }
  return "0";
}

std::string painted(bool isOn, Paint paint, std::string_view text) {
  return isOn ? fmt::format("\033[{}m{}\033[0m", codeOf(paint), text) : std::string(text);
}

}  // namespace

void setColor(std::string_view color) {
  g_style.colorsOutput = isColored(color, STDOUT_FILENO);
  g_style.colorsErrors = isColored(color, STDERR_FILENO);
}

void setJsonErrors(bool isOn) { g_style.jsonErrors = isOn; }

std::string paint(Paint paint, std::string_view text) {
  return painted(g_style.colorsOutput, paint, text);
}

std::string paintState(std::string_view state) {
  static constexpr std::array kGood = {"alive", "running", "committed", "ok", "done"};
  static constexpr std::array kBad = {"dead",           "failed",           "lost",     "in_doubt",
                                      "needs_decision", "waiting_decision", "suspended"};
  static constexpr std::array kWarning = {"paused",  "pausing", "suspect", "rolled_back", "warning",
                                          "joining", "error",   "slow",    "unknown"};
  if (std::ranges::count(kGood, state) > 0) return paint(Paint::kGood, state);
  if (std::ranges::count(kBad, state) > 0) return paint(Paint::kBad, state);
  if (std::ranges::count(kWarning, state) > 0) return paint(Paint::kWarning, state);
  return std::string(state);
}

std::size_t displayWidth(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++width;  // not a continuation byte
    }
  }
  return width;
}

std::size_t terminalWidth() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kUsual;
}

std::size_t terminalHeight() {
  constexpr std::size_t kUsual = 24;
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return is_known ? size.ws_row : kUsual;
}

void flushOutput() {
  errno = 0;
  const bool isWritten = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!isWritten && g_outputError == 0) g_outputError = errno != 0 ? errno : EIO;
}

int outputError() { return g_outputError; }

void printError(const Error& error, int exitCode) {
  flushOutput();
  if (g_style.jsonErrors) {
    std::string code(ToString(error.code));
    std::ranges::replace(code, ' ', '_');
    const Json document = {
        {"error",
         {{"code", std::move(code)}, {"message", error.ToString()}, {"exit_code", exitCode}}}};
    fmt::print(stderr, "{}\n", lineOf(document));
  } else {
    fmt::print(stderr, "{} {}\n", painted(g_style.colorsErrors, Paint::kBad, "tesseractl:"),
               error.ToString());
  }
}

void muteOutput() {
  if (std::freopen("/dev/null", "w", stdout) == nullptr) std::fclose(stdout);
}

}  // namespace tessera::app
