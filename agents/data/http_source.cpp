// SPDX-License-Identifier: Apache-2.0
#include "agents/data/http_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "agents/data/http_retry.h"
#include "agents/http/http_client.h"
#include "engine/copy/checksum.h"

namespace tessera::agents {
namespace {

using engine::ByteSourcePtr;

constexpr std::size_t kMaxManifest = 16 << 20;

bool MayRetry(int status) {
  return status == 408 || status == 429 || status == 500 || (502 <= status && status <= 504);
}

Error At(const std::string& url, std::int64_t offset, ErrorCode code, std::string_view what) {
  return {code, fmt::format("data file '{}' at byte {}: {}", ShownUrl(url), offset, what), {}};
}

/// A status that is neither success nor worth another attempt.
Error Refusal(const std::string& url, std::int64_t offset, int status) {
  if (status == 404 || status == 410) {
    return NotFound(fmt::format("data path '{}' does not exist", ShownUrl(url)));
  }
  if (status == 200) {
    return At(url, offset, ErrorCode::kFailedPrecondition,
              "the server answers 200 instead of 206: it cannot send parts of a file");
  }
  return At(url, offset, ErrorCode::kUnavailable, fmt::format("the server answers {}", status));
}

/// Retries until a reply is valid or the deadline has passed.
/// \param ask gets the time limit of the attempt
template <typename Ask>
Result<HttpReply> Persist(const std::string& url, std::int64_t offset, HttpRetry& retry,
                          const Ask& ask) {
  std::string answer;  // the last one of the server that is no reply
  for (;;) {
    const HttpClient::Outcome outcome = ask(retry.left());
    if (retry.is_cancelled()) {
      return At(url, offset, ErrorCode::kCancelled, "reading was cancelled");
    }
    const bool failed = !outcome.failure.what.empty();
    if (!failed && !MayRetry(outcome.reply.status)) return outcome.reply;
    const std::string what =
        failed ? outcome.failure.what : fmt::format("the server answers {}", outcome.reply.status);
    if (failed && !outcome.failure.may_retry) {
      return At(url, offset, ErrorCode::kUnavailable, what);
    }
    if (!failed) answer = what;
    if (!retry.Pause(outcome.reply.retry_after) && !retry.is_cancelled()) {
      // The last attempt may have had no time left, and then says nothing about the server.
      return At(url, offset, ErrorCode::kUnavailable,
                fmt::format("{} ({} attempts)", answer.empty() ? what : answer, retry.attempts()));
    }
  }
}

class HttpSource final : public engine::ByteSource {
 public:
  HttpSource(std::string url, std::int64_t size, std::string etag, const HttpOptions& options,
             std::shared_ptr<HttpClient> client)
      : url_(std::move(url)),
        name_(ShownUrl(url_)),
        size_(size),
        etag_(std::move(etag)),
        options_(options),
        client_(std::move(client)) {}

  const std::string& name() const override { return name_; }
  std::int64_t size_bytes() const override { return size_; }
  /// Takes the whole URL, of which the name shows only a part.
  std::string version() const override {
    return fmt::format("{}:{}:{:016x}", size_, etag_,
                       engine::Checksum(std::as_bytes(std::span(url_))));
  }

  Status ReadAt(std::int64_t offset, std::span<std::byte> out) const override {
    if (out.empty()) return OkStatus();
    HttpRetry retry(options_);
    std::int64_t got = 0;  // valid bytes of attempts that were cut off
    for (;;) {
      TESSERA_TRY(const HttpReply reply,
                  Persist(url_, offset, retry, [&](std::chrono::milliseconds limit) {
                    return AskForRest(offset, out, got, limit);
                  }));
      if (reply.status != 206 && reply.status != 416) return Refusal(url_, offset, reply.status);
      if (reply.total_size != size_ || reply.etag != etag_) {
        return At(url_, offset, ErrorCode::kDataLoss,
                  fmt::format("the file changed since it was opened: size {} is {}, version {} is "
                              "{}",
                              size_, reply.total_size, etag_, reply.etag));
      }
      const std::int64_t missing = static_cast<std::int64_t>(out.size()) - got;
      const bool is_good = reply.status == 206 && reply.range_begin == offset + got &&
                           0 < reply.body_bytes && reply.body_bytes <= missing;
      if (!is_good) {
        return At(url_, offset, ErrorCode::kUnavailable,
                  fmt::format("the server sends {} bytes from {}, {} from {} were requested",
                              reply.body_bytes, reply.range_begin, missing, offset + got));
      }
      got += reply.body_bytes;  // a server may send less than the range: the rest is requested
      if (reply.body_bytes == missing) return OkStatus();
    }
  }

 private:
  /// Requests the missing bytes. `got` grows by the bytes received of the same content.
  HttpClient::Outcome AskForRest(std::int64_t offset, std::span<std::byte> out, std::int64_t& got,
                                 std::chrono::milliseconds limit) const {
    auto outcome = client_->GetRange(url_, offset + got, out.subspan(static_cast<std::size_t>(got)),
                                     limit, options_.cancel);
    const bool is_same = outcome.reply.etag == etag_ && outcome.reply.total_size == size_ &&
                         outcome.reply.range_begin == offset + got;
    const auto missing = static_cast<std::int64_t>(out.size()) - got;
    if (!outcome.failure.what.empty() && is_same && outcome.failure.body_bytes < missing) {
      got += outcome.failure.body_bytes;
    }
    return outcome;
  }

  const std::string url_;
  const std::string name_;  // without secrets
  const std::int64_t size_;
  const std::string etag_;
  const HttpOptions options_;
  const std::shared_ptr<HttpClient> client_;
};

/// Returns the names of a manifest as URLs.
Result<std::vector<std::string>> ParseManifest(const std::string& folder, std::string_view text) {
  std::vector<std::string> names;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const bool leads_out = line.front() == '/' || line.find("..") != std::string_view::npos ||
                           line.find("://") != std::string_view::npos ||
                           line.find_first_of(" \t?#") != std::string_view::npos;
    if (leads_out) {
      return InvalidArgument(
          fmt::format("'{}manifest.txt' line {}: '{}' is not an escaped name below the folder",
                      ShownUrl(folder), number, line.substr(0, 200)));
    }
    names.push_back(folder + std::string(line));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

HttpFiles::HttpFiles(HttpOptions options)
    : options_(options), client_(std::make_shared<HttpClient>()) {}

bool HttpFiles::Knows(const std::string& name) const {
  return name.starts_with("http://") || name.starts_with("https://");
}

Result<ByteSourcePtr> HttpFiles::Open(const std::string& name) const {
  HttpRetry retry(options_);
  std::array<std::byte, 1> first{};
  TESSERA_TRY(const HttpReply reply, Persist(name, 0, retry, [&](std::chrono::milliseconds limit) {
                return client_->GetRange(name, 0, first, limit, options_.cancel);
              }));
  const bool is_empty = reply.status == 416 && reply.total_size == 0;
  if (reply.status != 206 && !is_empty) return Refusal(name, 0, reply.status);
  if (reply.total_size < 0) {
    return At(name, 0, ErrorCode::kFailedPrecondition,
              "the server does not report the file's size");
  }
  return std::make_shared<const HttpSource>(name, reply.total_size, reply.etag, options_, client_);
}

Result<std::vector<std::string>> HttpFiles::List(const std::string& name) const {
  if (!name.ends_with('/')) return std::vector{name};
  const std::string url = name + "manifest.txt";
  std::string text;
  HttpRetry retry(options_);
  TESSERA_TRY(const HttpReply reply, Persist(url, 0, retry, [&](std::chrono::milliseconds limit) {
                return client_->GetText(url, text, kMaxManifest, limit, options_.cancel);
              }));
  if (reply.status != 200) {
    return reply.status == 404
               ? NotFound(fmt::format(
                     "data folder '{}' has no manifest.txt, which lists its files, one per line",
                     ShownUrl(name)))
               : Refusal(url, 0, reply.status);
  }
  return ParseManifest(name, text);
}

}  // namespace tessera::agents
