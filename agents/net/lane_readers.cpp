// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lane_readers.h"

#include <utility>

namespace tessera::agents {

Result<std::shared_ptr<LaneReader>> LaneReaders::Of(const std::vector<std::string>& endpoints,
                                                    const std::string& server_key, bool is_plain) {
  const std::lock_guard lock(mutex_);
  if (is_cancelled_) return Cancelled("the lane readers are closed");
  const auto found = readers_.find(endpoints);
  if (found != readers_.end() && found->second.server_key == server_key &&
      found->second.is_plain == is_plain) {
    return found->second.reader;
  }
  LaneReaderOptions options;
  if (!is_plain) options.keys = keys_;
  options.counts = counts_;
  TESSERA_TRY(std::shared_ptr<LaneReader> reader,
              LaneReader::Open(context_, endpoints, server_key, std::move(options)));
  readers_.insert_or_assign(endpoints, Known{server_key, is_plain, reader});
  return reader;
}

void LaneReaders::Cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  for (const auto& [endpoints, known] : readers_) known.reader->Cancel();
}

}  // namespace tessera::agents
