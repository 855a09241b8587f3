// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The lane readers of a process: one for each node that it reads from.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agents/net/lane_reader.h"

namespace tessera::agents {

/// \threadsafety Any thread.
class LaneReaders {
 public:
  /// `counts`: shared with other lanes; null: each reader has its own.
  explicit LaneReaders(CurveKeys keys, std::shared_ptr<LaneCounts> counts = {})
      : keys_(std::move(keys)), counts_(std::move(counts)) {}
  /// A node whose key has changed gets a new reader.
  /// \param is_plain the lanes are not encrypted, reads need tickets
  /// \error as LaneReader::Open
  Result<std::shared_ptr<LaneReader>> Of(const std::vector<std::string>& endpoints,
                                         const std::string& server_key, bool is_plain = false);
  /// Ends all current and later reads with kCancelled.
  void Cancel();

 private:
  // Two I/O threads, because they decrypt and each connection stays on one of them.
  NetContext context_{2};
  const CurveKeys keys_;
  const std::shared_ptr<LaneCounts> counts_;
  std::mutex mutex_;
  bool is_cancelled_ = false;  // guarded by mutex_
  struct Known {
    std::string server_key;
    bool is_plain = false;
    std::shared_ptr<LaneReader> reader;
  };
  std::map<std::vector<std::string>, Known> readers_;  // by endpoints; guarded by mutex_
};

}  // namespace tessera::agents
