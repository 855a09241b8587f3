// SPDX-License-Identifier: Apache-2.0
#include "tests/agents/data/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tessera::test {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

bool SendAll(int socket, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t sent = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

HttpServer::HttpServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  Require(listener_ >= 0 && ::bind(listener_, generic, size) == 0);
  Require(::listen(listener_, 64) == 0 && ::getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

HttpServer::~HttpServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    threads.swap(threads_);
    is_ending_ = true;
  }
  end_.notify_all();
  for (std::thread& thread : threads) thread.join();
  for (const int socket : sockets_) ::close(socket);
}

std::string HttpServer::url(const std::string& path) const {
  return fmt::format("http://127.0.0.1:{}/{}", port_, path);
}

void HttpServer::Put(const std::string& path, std::string body, std::string etag) {
  const std::lock_guard lock(mutex_);
  files_["/" + path] = {std::move(body), std::move(etag)};
}

void HttpServer::Accept() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++connections_;
    ++open_;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { Serve(socket); });
  }
}

void HttpServer::Serve(int socket) {
  std::string received;
  char buffer[4096];
  for (;;) {
    const std::size_t end = received.find("\r\n\r\n");
    if (end == std::string::npos) {
      const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      received.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    const std::string request = received.substr(0, end + 4);
    received.erase(0, end + 4);
    if (!Answer(socket, request)) break;
  }
  ::shutdown(socket, SHUT_RDWR);
  --open_;
}

bool HttpServer::Answer(int socket, const std::string& request) {
  ++requests_;
  if (delay_ms > 0) {
    std::unique_lock lock(mutex_);
    end_.wait_for(lock, std::chrono::milliseconds(delay_ms), [this] { return is_ending_; });
  }
  const std::string path = request.substr(4, request.find(' ', 4) - 4);
  const auto plain = [&](int code) {
    return SendAll(socket, fmt::format("HTTP/1.1 {} X\r\nContent-Length: 2\r\n\r\nno", code));
  };
  if (unavailable_for > 0) {
    --unavailable_for;
    return plain(503);
  }
  if (status != 0) return plain(status);
  File file;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(path.substr(0, path.find('?')));
    if (found == files_.end()) return plain(404);
    file = found->second;
  }
  long long first = 0, last = 0;
  const std::size_t range = request.find("Range: bytes=");
  const bool has_range =
      range != std::string::npos && !ignores_ranges &&
      std::sscanf(request.c_str() + range, "Range: bytes=%lld-%lld", &first, &last) == 2;
  const auto size = static_cast<long long>(file.body.size());
  if (has_range && first >= size) {
    return SendAll(socket, fmt::format("HTTP/1.1 416 X\r\nContent-Range: bytes */{}\r\n"
                                       "Content-Length: 0\r\nETag: {}\r\n\r\n",
                                       size, file.etag));
  }
  if (!has_range) {
    return SendAll(socket,
                   fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nETag: {}\r\n\r\n{}", size,
                               file.etag, file.body));
  }
  if (sends_wrong_range) last -= std::exchange(first, 0);
  last = std::min(last, size - 1);
  if (most_bytes > 0) last = std::min(last, first + most_bytes - 1);
  std::string body =
      file.body.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1));
  const std::string head = fmt::format(
      "HTTP/1.1 206 Partial\r\nContent-Length: {}\r\nContent-Range: bytes {}-{}/{}\r\n"
      "ETag: {}\r\n\r\n",
      body.size(), first, last, size, file.etag);
  const bool is_cut = cut_off_for > 0 && std::ssize(body) > cut_after;
  if (is_cut) {
    --cut_off_for;
    body.resize(static_cast<std::size_t>(cut_after));
  }
  return SendAll(socket, head + body) && !is_cut;
}

}  // namespace tessera::test
