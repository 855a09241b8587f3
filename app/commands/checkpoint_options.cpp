// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/checkpoint_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "app/commands/interrupt.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "engine/reshard/reshard_plan.h"

namespace tessera::app {

OptionSpec memoryOption() {
  return {.name = "memory",
          .value = "SIZE",
          .help = "memory for buffers, at least 16M",
          .fallback = "1G"};
}

OptionSpec threadsOption() {
  return {.name = "threads",
          .value = "N",
          .help = "threads that read and write, at most 64",
          .fallback = "2"};
}

OptionSpec strictOption() {
  return {
      .name = "strict",
      .value = "",
      .help = "fail if a file of the folder, or a storage of a file of torch.save, is not read"};
}

OptionSpec stripPrefixOption(std::string help) {
  return {.name = "strip-prefix", .value = "PREFIX", .help = std::move(help)};
}

void warn(const std::string& line) {
  flushOutput();
  fmt::print(stderr, "{}\n", line);
}

Result<std::shared_ptr<const checkpoint::Checkpoint>> openCheckpoint(const Invocation& call,
                                                                     const std::string& path) {
  TESSERA_TRY(auto opened, checkpoint::Checkpoint::Open(path));
  const std::vector<std::string> unread = opened->UnreadFiles();
  if (!unread.empty() && call.arguments.has("strict"))
    return FailedPrecondition(
        fmt::format("{}; without --strict this is passed over", fmt::join(unread, "; ")));
  for (const std::string& line : unread) warn(line);
  return opened;
}

Result<reshard::ReadOptions> readMemoryAndThreads(const Arguments& arguments) {
  reshard::ReadOptions options;
  if (const auto memory = arguments.value("memory")) {
    auto bytes = parseMemory(*memory);
    if (!bytes) return std::move(bytes).Context("--memory").error();
    options.memory_bytes = *bytes;
  }
  TESSERA_TRY(const std::int64_t threads,
              arguments.integer("threads", options.threads, 1, reshard::kMostThreads));
  options.threads = static_cast<int>(threads);
  auto fits = reshard::TileBytes(options.memory_bytes, options.threads);
  if (!fits) return std::move(fits).Context("--memory").error();
  return options;
}

ByteProgress::ByteProgress(std::string verb, std::FILE* stream, Elsewhere elsewhere)
    : m_verb(std::move(verb)),
      m_stream(stream),
      m_terminal(stream != nullptr && isatty(fileno(stream)) != 0),
      m_lines(stream != nullptr && !m_terminal && elsewhere == Elsewhere::kLines) {}

ByteProgress::~ByteProgress() { end(); }

void ByteProgress::show(const reshard::Progress& progress) {
  const std::int64_t total = std::max<std::int64_t>(progress.bytes_total, 1);
  const double part = static_cast<double>(progress.bytes_done) / static_cast<double>(total);
  const std::string figures =
      fmt::format("{:3.0f} %  {} of {}", 100 * part, formatBytes(progress.bytes_done),
                  formatBytes(progress.bytes_total));
  if (m_terminal) {
    fmt::print(m_stream, "\r\033[K{} {} {}", m_verb, formatBar(part), figures);
    m_barStands = true;
    std::fflush(m_stream);
  } else if (const auto tenth = static_cast<std::int64_t>(part * 10); m_lines && tenth > m_tenth) {
    m_tenth = tenth;
    fmt::print(m_stream, "{} {}\n", m_verb, figures);
    std::fflush(m_stream);
  }
}

void ByteProgress::note(const std::string& text) {
  end();
  if (!m_terminal && !m_lines) return;
  fmt::print(m_stream, "{}\n", text);
  std::fflush(m_stream);
  m_tenth = 0;
}

void ByteProgress::end() {
  if (!m_barStands) return;
  fmt::print(m_stream, "\n");
  std::fflush(m_stream);
  m_barStands = false;
}

reshard::Watch ByteProgress::watch() {
  return [this](const reshard::Progress& progress) {
    show(progress);
    return numInterrupts() == 0;
  };
}

std::string describeForm(const checkpoint::StoredTensor& tensor) {
  return fmt::format("{} {}", ToString(tensor.dtype), ptc::ToString(tensor.shape));
}

std::int64_t bytesOf(const checkpoint::StoredTensor& tensor) {
  return reshard::BytesOf({tensor.name, tensor.dtype, tensor.shape});
}

}  // namespace tessera::app
