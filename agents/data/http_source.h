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
  /// The time limit of one read with all its attempts.
  std::chrono::milliseconds deadline = std::chrono::seconds(60);
  /// The pause before the second attempt; doubled for each further one, up to `max_pause`. Every
  /// pause is drawn from its upper half, so that many ranks do not retry at the same time.
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds max_pause = std::chrono::seconds(5);
  /// A request to stop ends running requests with kCancelled within a second, and later ones at
  /// once.
  std::stop_token cancel = {};
};

/// URLs of http and https. Opening a file requests its first byte: the reply has its size and ETag
/// (or time of change) and shows that the server supports ranges, in one request. A read that is
/// cut off continues where it ended.
///
/// A URL that ends in "/" is a folder. Its files are the lines of URL/manifest.txt: names relative
/// to the folder, escaped as in a URL. Servers have no common way to list a folder. Other URLs are
/// files.
/// \threadsafety Any thread.
class HttpFiles final : public engine::SourceOpener {
 public:
  explicit HttpFiles(HttpOptions options = {});

  bool Knows(const std::string& name) const override;
  /// \error kNotFound for 404 and 410; kFailedPrecondition if the server does not support ranges;
  ///     kUnavailable naming URL, offset and the failure of the last attempt, once the deadline has
  ///     passed; kCancelled
  Result<engine::ByteSourcePtr> Open(const std::string& name) const override;
  /// \error kInvalidArgument naming the line of a manifest that points outside its folder
  Result<std::vector<std::string>> List(const std::string& name) const override;

 private:
  const HttpOptions options_;
  const std::shared_ptr<HttpClient> client_;
};

}  // namespace tessera::agents
