// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens the data of a cluster's jobs for the file tree, in the same way as the trainer does.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/vfs/sample_source.h"

namespace tessera::agents {

struct JobSamplesOptions {
  /// How long a request waits for data that are being opened. The opening continues.
  std::chrono::milliseconds patience{10000};
  /// How long to wait before data that could not be opened or read are opened again.
  std::chrono::milliseconds pause{5000};
  /// Reports in one line that an index or a cache could not be kept. Called from any thread.
  std::function<void(const std::string& line)> warn = {};
};

/// Opens the data of each job once, on its own thread, with OpenJobData. Paths are those of this
/// machine and are opened as the user of this process. The data of the 16 most recently requested
/// jobs stay open. Stop also ends reads of the data, those of a server within a second.
/// \threadsafety as SampleSource; the destructor waits for openings, which end when they next check
std::shared_ptr<engine::vfs::SampleSource> MakeJobSamples(JobSamplesOptions options = {});

}  // namespace tessera::agents
