// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data of a cluster's jobs as the file tree reads them: by the trainer's own way to open them.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/vfs/sample_source.h"

namespace tessera::agents {

struct JobSamplesOptions {
  /// How long a request waits for data that are being opened; the opening goes on.
  std::chrono::milliseconds patience{10000};
  /// For how long data that could not be opened or read are not opened again.
  std::chrono::milliseconds pause{5000};
  /// An index or a cache that could not be kept, in a line. Any thread.
  std::function<void(const std::string& line)> warn = {};
};

/// Opens each job's data once, on a thread of its own, with OpenJobData. Paths are those of this
/// machine and are opened as the user of this process. Data of settings that nobody asked for any
/// more are let go of after those of some other jobs.
/// Stop ends reads of the data as well, those of a server within a second.
/// \threadsafety as SampleSource; the destructor waits for openings, which end when they next look
std::shared_ptr<engine::vfs::SampleSource> MakeJobSamples(JobSamplesOptions options = {});

}  // namespace tessera::agents
