// SPDX-License-Identifier: Apache-2.0
#include "agents/http/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace tessera::agents {

/// One running request, passed to the callbacks of libcurl.
struct HttpClient::Transfer {
  std::string range = {};               // "": the whole
  const std::string* posted = nullptr;  // the body of a POST
  std::span<std::byte> out = {};
  std::string* text = nullptr;
  std::size_t max_text = 0;
  std::stop_token cancel = {};
  HttpReply reply = {};
  std::string last_modified = {};
  bool is_refused = false;  // ended because of its status or size
  bool is_too_long = false;
};

namespace {

constexpr std::size_t kMaxIdle = 16;

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool IsHeader(std::string_view line, std::string_view name, std::string_view& value) {
  if (line.size() <= name.size() || line[name.size()] != ':') return false;
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  if (!std::equal(name.begin(), name.end(), line.begin(), same)) return false;
  value = Trim(line.substr(name.size() + 1));
  return true;
}

std::int64_t Number(std::string_view text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

/// "bytes 0-99/1234" or "bytes */1234".
void ParseContentRange(std::string_view value, HttpReply& reply) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) return;
  value.remove_prefix(kUnit.size());
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) return;
  reply.total_size = Number(value.substr(slash + 1));
  reply.range_begin = Number(value.substr(0, value.find('-')));
}

bool MayRetry(CURLcode code) {
  constexpr std::array kPassing = {CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST,
                                   CURLE_PARTIAL_FILE,    CURLE_OPERATION_TIMEDOUT,
                                   CURLE_GOT_NOTHING,     CURLE_SEND_ERROR,
                                   CURLE_RECV_ERROR,      CURLE_HTTP2,
                                   CURLE_HTTP2_STREAM,    CURLE_SSL_CONNECT_ERROR};
  return std::ranges::find(kPassing, code) != kPassing.end();
}

void InitialiseOnce() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

}  // namespace

HttpClient::~HttpClient() {
  for (void* handle : idle_) curl_easy_cleanup(handle);
}

void* HttpClient::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      void* handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
  }
  InitialiseOnce();
  return curl_easy_init();
}

void HttpClient::Return(void* handle) {
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdle) {
      idle_.push_back(handle);
      return;
    }
  }
  curl_easy_cleanup(handle);
}

HttpClient::Outcome HttpClient::Run(const std::string& url, Transfer& transfer,
                                    std::chrono::milliseconds limit) {
  CURL* const curl = Take();
  if (curl == nullptr) return {.failure = {.what = "libcurl gives no handle"}};
  curl_easy_reset(curl);  // the connection stays
  const auto on_header = +[](char* data, std::size_t size, std::size_t count, void* self) {
    auto& to = *static_cast<Transfer*>(self);
    const std::string_view line(data, size * count);
    std::string_view value;
    if (line.starts_with("HTTP/")) {  // also of a redirection: the last one counts
      const std::size_t space = line.find(' ');
      to.reply = {};
      to.last_modified.clear();
      if (space != std::string_view::npos) {
        to.reply.status = static_cast<int>(Number(line.substr(space + 1, 3)));
      }
    } else if (IsHeader(line, "ETag", value)) {
      to.reply.etag = value;
    } else if (IsHeader(line, "Last-Modified", value)) {
      to.last_modified = value;
    } else if (IsHeader(line, "Content-Range", value)) {
      ParseContentRange(value, to.reply);
    } else if (IsHeader(line, "Retry-After", value)) {
      to.reply.retry_after = std::chrono::seconds(std::clamp<std::int64_t>(Number(value), 0, 3600));
    }
    return size * count;
  };
  const auto on_body = +[](char* data, std::size_t size, std::size_t count, void* self) {
    auto& to = *static_cast<Transfer*>(self);
    const std::size_t bytes = size * count;
    const auto have = static_cast<std::size_t>(to.reply.body_bytes);
    const bool is_text = to.text != nullptr;
    to.is_refused = to.posted == nullptr && to.reply.status != (is_text ? 200 : 206);
    to.is_too_long = !to.is_refused && bytes > (is_text ? to.max_text : to.out.size()) - have;
    if (to.is_refused || to.is_too_long) return std::size_t{0};  // ends the transfer
    if (is_text) {
      to.text->append(data, bytes);
    } else {
      std::memcpy(to.out.data() + have, data, bytes);
    }
    to.reply.body_bytes += static_cast<std::int64_t>(bytes);
    return bytes;
  };
  const auto on_progress = +[](void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(self)->cancel.stop_requested() ? 1 : 0;
  };
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, transfer.posted == nullptr ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  const std::pair<CURLoption, const std::string&> files[] = {{CURLOPT_CAINFO, tls_.authorities},
                                                             {CURLOPT_SSLCERT, tls_.certificate},
                                                             {CURLOPT_SSLKEY, tls_.key}};
  for (const auto& [option, file] : files) {
    if (!file.empty()) curl_easy_setopt(curl, option, file.c_str());
  }
  // Only the authorities that are named count.
  if (!tls_.authorities.empty()) curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"), curl_slist_free_all);
  if (transfer.posted != nullptr) {
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");  // the peer is a server of the cluster
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, transfer.posted->data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(transfer.posted->size()));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  }
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "tessera");
  // A silent connection ends early enough for another attempt.
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 10L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(1, static_cast<long>(limit.count())));
  if (!transfer.range.empty()) curl_easy_setopt(curl, CURLOPT_RANGE, transfer.range.c_str());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);  // called at least once a second
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  std::array<char, CURL_ERROR_SIZE> words{};
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words.data());
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
  Return(curl);
  if (transfer.reply.etag.empty()) transfer.reply.etag = transfer.last_modified;
  Outcome outcome{.reply = transfer.reply};
  if (transfer.is_too_long) {
    outcome.failure = {"the server sends more than was requested", false, 0};
  } else if (code != CURLE_OK && !transfer.is_refused) {
    const char* what = words[0] != '\0' ? words.data() : curl_easy_strerror(code);
    outcome.failure = {what, MayRetry(code),
                       transfer.reply.status == 206 ? transfer.reply.body_bytes : 0};
  }
  return outcome;
}

HttpClient::Outcome HttpClient::GetRange(const std::string& url, std::int64_t offset,
                                         std::span<std::byte> out, std::chrono::milliseconds limit,
                                         const std::stop_token& cancel) {
  Transfer transfer;
  transfer.cancel = cancel;
  transfer.range = fmt::format("{}-{}", offset, offset + static_cast<std::int64_t>(out.size()) - 1);
  transfer.out = out;
  return Run(url, transfer, limit);
}

HttpClient::Outcome HttpClient::GetText(const std::string& url, std::string& out,
                                        std::size_t max_bytes, std::chrono::milliseconds limit,
                                        const std::stop_token& cancel) {
  out.clear();
  Transfer transfer;
  transfer.cancel = cancel;
  transfer.text = &out;
  transfer.max_text = max_bytes;
  return Run(url, transfer, limit);
}

HttpClient::Outcome HttpClient::Post(const std::string& url, const std::string& json,
                                     std::string& out, std::size_t max_bytes,
                                     std::chrono::milliseconds limit,
                                     const std::stop_token& cancel) {
  out.clear();
  Transfer transfer;
  transfer.posted = &json;
  transfer.cancel = cancel;
  transfer.text = &out;
  transfer.max_text = max_bytes;
  return Run(url, transfer, limit);
}

}  // namespace tessera::agents
