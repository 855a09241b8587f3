// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/line_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/wire/utf8.h"

namespace tessera::agents {
namespace {

std::string Printable(std::string_view text) {
  std::string out = Utf8(text);
  for (char& c : out) {
    if (c == '\t') c = ' ';
    if ((c >= 0 && c < 0x20) || c == 0x7F) c = '?';
  }
  return out;
}

}  // namespace

void LineSplitter::Add(std::string_view bytes, Clock::time_point now, const Emit& emit) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    const std::size_t room = kMaxLineBytes - line_.size();
    line_.append(part.substr(0, room));
    cut_ = cut_ || part.size() > room;
    if (newline == std::string_view::npos) return;
    EndLine(now, emit);
    bytes.remove_prefix(newline + 1);
  }
}

void LineSplitter::EndLine(Clock::time_point now, const Emit& emit) {
  const std::chrono::duration<double> passed = now - std::exchange(last_, now);
  allowance_ = std::min<double>(kBurst, allowance_ + passed.count() * kLinesPerSecond);
  if (allowance_ < 1) {
    ++dropped_;
  } else {
    allowance_ -= 1;
    EmitDropped(emit);
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    emit(Printable(line_) + (cut_ ? "…" : ""));
  }
  line_.clear();
  cut_ = false;
}

void LineSplitter::EmitDropped(const Emit& emit) {
  if (const long dropped = std::exchange(dropped_, 0); dropped > 0) {
    emit(fmt::format("({} lines dropped)", dropped));
  }
}

void LineSplitter::Flush(const Emit& emit) {
  EmitDropped(emit);
  if (!line_.empty()) emit(Printable(line_) + (cut_ ? "…" : ""));
  line_.clear();
  cut_ = false;
}

}  // namespace tessera::agents
