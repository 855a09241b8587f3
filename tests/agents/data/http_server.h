// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A small web server on the loopback that serves files from memory by range, and can misbehave.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tessera::test {

class HttpServer {
 public:
  HttpServer();
  /// Ends the delay of replies, so it does not wait for them.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path) const;
  void Put(const std::string& path, std::string body, std::string etag = "\"1\"");

  // Switches; each is read when a request arrives.
  std::atomic<bool> ignores_ranges = false;  // 200 with the whole file
  std::atomic<int> unavailable_for = 0;      // this number of requests get 503
  std::atomic<int> cut_off_for = 0;          // this number of bodies end in the middle
  std::atomic<int> cut_after = 10;           // bytes of such a body
  std::atomic<int> delay_ms = 0;             // before each reply
  std::atomic<int> status = 0;               // of every reply, if not 0
  std::atomic<int> most_bytes =
      0;  // limit of a range, if not 0; the reply states the shorter range
  std::atomic<bool> sends_wrong_range = false;  // always from byte 0

  int requests() const { return requests_; }
  int connections() const { return connections_; }
  /// Connections that neither side has closed.
  int open_connections() const { return open_; }

 private:
  struct File {
    std::string body, etag;
  };
  void Accept();
  void Serve(int socket);
  /// \return whether the connection stays open
  bool Answer(int socket, const std::string& request);

  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0, connections_ = 0, open_ = 0;
  std::mutex mutex_;
  std::condition_variable end_;
  bool is_ending_ = false;             // guarded by mutex_
  std::map<std::string, File> files_;  // guarded by mutex_
  std::vector<int> sockets_;           // guarded by mutex_
  std::vector<std::thread> threads_;   // guarded by mutex_
  std::thread acceptor_;
};

}  // namespace tessera::test
