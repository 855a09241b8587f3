// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/opening_progress.h"

namespace tessera::engine {

Status OpeningProgress::Found(std::int64_t bytes) {
  if (options_.cancel.stop_requested()) return Cancelled("opening the data was cancelled");
  found_bytes_ += bytes;
  Tell(opened_bytes_);
  return OkStatus();
}

IndexOptions OpeningProgress::ForPart() const {
  IndexOptions part = options_;
  part.progress = [this](std::int64_t done, std::int64_t) { Tell(opened_bytes_ + done); };
  return part;
}

void OpeningProgress::Opened(std::int64_t bytes) {
  opened_bytes_ += bytes;
  Tell(opened_bytes_);
}

void OpeningProgress::Tell(std::int64_t done) const {
  if (options_.progress) options_.progress(done, found_bytes_);
}

}  // namespace tessera::engine
