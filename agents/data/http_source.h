// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Data on HTTP(S) servers, read by range.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"

namespace tessera::agents {

class HttpClient;

struct HttpOptions {
  /// How long one read may take in all, with all its attempts.
  std::chrono::milliseconds deadline = std::chrono::seconds(60);
  /// Before the second attempt; doubled for each further one, up to `max_pause`. Every pause is
  /// drawn from its upper half, so that many ranks do not come back at once.
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds max_pause = std::chrono::seconds(5);
  /// A request to stop ends what runs within a second, and what comes at once, with kCancelled.
  std::stop_token cancel = {};
};

/// URLs of http and https. A file is opened by asking for its first byte: the reply tells its size
/// and ETag (or time of change) and that the server can do ranges, in one request. A read that is
/// cut off goes on where it ended.
///
/// A URL that ends in "/" is a folder: its files are the lines of URL/manifest.txt, names relative
/// to the folder and escaped as in a URL. Servers have no common way to list a folder. Others are
/// files.
/// \threadsafety Any thread.
class HttpFiles final : public engine::SourceOpener {
 public:
  explicit HttpFiles(HttpOptions options = {});

  bool Knows(const std::string& name) const override;
  /// \error kNotFound for 404 and 410; kFailedPrecondition where the server cannot do ranges;
  ///     kUnavailable naming URL, offset and what the last attempt met, once the deadline is over;
  ///     kCancelled
  Result<engine::ByteSourcePtr> Open(const std::string& name) const override;
  /// \error kInvalidArgument naming the line of a manifest that leads out of its folder
  Result<std::vector<std::string>> List(const std::string& name) const override;

 private:
  const HttpOptions options_;
  const std::shared_ptr<HttpClient> client_;
};

}  // namespace tessera::agents
