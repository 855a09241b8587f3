// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// HTTP(S) requests: ranges, small texts, and JSON. Connections are kept alive and reused.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/is_url.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A reply of any status.
struct HttpReply {
  int status = 0;
  std::string etag;              // if there is none, the time of the last change
  std::int64_t total_size = -1;  // of Content-Range; -1: unknown
  std::int64_t range_begin = -1;
  std::int64_t body_bytes = 0;  // that were received
  std::chrono::seconds retry_after{0};
};

/// An error below HTTP, and whether another attempt may succeed.
struct HttpFailure {
  std::string what;
  bool may_retry = false;
  std::int64_t body_bytes = 0;  // received before
};

using engine::ShownUrl;

/// PEM files. Empty: the authorities of this system, and no certificate of its own.
struct HttpTls {
  std::string authorities, certificate, key;
};

/// \threadsafety Any thread; requests run side by side.
class HttpClient {
 public:
  explicit HttpClient(HttpTls tls = {}) : tls_(std::move(tls)) {}
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  struct Outcome {
    HttpReply reply = {};
    HttpFailure failure = {};  // an empty `what`: the reply is valid
  };
  /// Sends a GET of bytes [offset, offset + out.size()). The body is written to `out` only if the
  /// status is 206; any other status ends the transfer after its headers. A request to stop is a
  /// failure.
  Outcome GetRange(const std::string& url, std::int64_t offset, std::span<std::byte> out,
                   std::chrono::milliseconds limit, const std::stop_token& cancel = {});
  /// Sends a GET of the whole, for small texts.
  /// \param max_bytes a longer body is a failure
  Outcome GetText(const std::string& url, std::string& out, std::size_t max_bytes,
                  std::chrono::milliseconds limit, const std::stop_token& cancel = {});
  /// Sends a POST of JSON, which is not redirected. The body of the reply is JSON too, also that of
  /// an error.
  /// \param max_bytes a longer body is a failure
  Outcome Post(const std::string& url, const std::string& json, std::string& out,
               std::size_t max_bytes, std::chrono::milliseconds limit,
               const std::stop_token& cancel = {});

 private:
  struct Transfer;
  void* Take();  // a handle of libcurl, which holds its connection
  void Return(void* handle);
  Outcome Run(const std::string& url, Transfer& transfer, std::chrono::milliseconds limit);

  const HttpTls tls_;
  std::mutex mutex_;
  std::vector<void*> idle_;  // guarded by mutex_
};

}  // namespace tessera::agents
