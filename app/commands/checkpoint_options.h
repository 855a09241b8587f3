// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Shared by commands that read checkpoints from disk: `--memory`, `--threads`, progress.

#include <cstdio>
#include <memory>
#include <string>

#include "app/commands/command.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"

namespace tessera::app {

OptionSpec memoryOption();
OptionSpec threadsOption();
/// \error kInvalidArgument naming option and text
Result<reshard::ReadOptions> readMemoryAndThreads(const Arguments& arguments);

/// `--strict`: Checkpoint::UnreadFiles are an error.
OptionSpec strictOption();
/// `--strip-prefix`
OptionSpec stripPrefixOption(std::string help);
/// Opens a checkpoint. Prints the lines of Checkpoint::UnreadFiles on stderr, also with --quiet.
/// \error as Checkpoint::Open; kFailedPrecondition with these lines if --strict is given
Result<std::shared_ptr<const checkpoint::Checkpoint>> openCheckpoint(const Invocation& call,
                                                                     const std::string& path);
/// Prints a line on stderr, also with --quiet.
void warn(const std::string& line);

/// Progress of reading or writing: a bar on a terminal, elsewhere a line for each tenth.
class ByteProgress {
 public:
  enum class Elsewhere { kLines, kNothing };
  /// \param verb "resharding", in front of the figures
  /// \param stream to write to; nullptr shows nothing
  ByteProgress(std::string verb, std::FILE* stream, Elsewhere elsewhere);
  ~ByteProgress();
  ByteProgress(const ByteProgress&) = delete;
  ByteProgress& operator=(const ByteProgress&) = delete;

  void show(const reshard::Progress& progress);
  /// Prints `text` on a line of its own.
  void note(const std::string& text);
  /// Ends the line of the bar. Call it before printing anything else.
  void end();
  /// A callback that shows progress and returns false after an interrupt. This object must outlive
  /// it.
  reshard::Watch watch();

 private:
  std::string m_verb;
  std::FILE* m_stream;
  bool m_terminal;
  bool m_lines;
  bool m_barStands = false;
  std::int64_t m_tenth = 0;
};

/// "f32 [2,3]".
std::string describeForm(const checkpoint::StoredTensor& tensor);
/// Bytes of all elements.
std::int64_t bytesOf(const checkpoint::StoredTensor& tensor);

}  // namespace tessera::app
