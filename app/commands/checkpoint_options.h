// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the commands share that read checkpoints from disk: `--memory`, `--threads`, progress.

#include <cstdio>
#include <string>

#include "app/commands/command.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/digests.h"

namespace tessera::app {

OptionSpec memoryOption();
OptionSpec threadsOption();
/// \error kInvalidArgument naming option and text
Result<reshard::ReadOptions> readMemoryAndThreads(const Arguments& arguments);

/// How far reading or writing is: a bar on a terminal, a line each tenth elsewhere.
class ByteProgress {
 public:
  enum class Elsewhere { kLines, kNothing };
  /// \param verb "resharding", in front of the figures
  /// \param stream whose terminal counts; nullptr shows nothing at all
  ByteProgress(std::string verb, std::FILE* stream, Elsewhere elsewhere);
  ~ByteProgress();
  ByteProgress(const ByteProgress&) = delete;
  ByteProgress& operator=(const ByteProgress&) = delete;

  void show(const reshard::Progress& progress);
  /// A line of its own.
  void note(const std::string& text);
  /// Goes to the next line where a bar stands. Called before anything else is printed.
  void end();
  /// show, until an interrupt is counted: what reshard and its like take. The object must outlive
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
