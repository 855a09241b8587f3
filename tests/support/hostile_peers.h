// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Peers of a registrar that do what none should: they flood it, do not read, or say nothing.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agents/net/socket.h"

namespace tessera::test {

/// Where a peer connects, and as whom.
struct Target {
  std::string endpoint;    // tcp://127.0.0.1:7400
  std::string server_key;  // public key of the registrar
  agents::CurveKeys keys;  // of the peer
};

/// Sends requests as fast as it can while it exists, and reads the answers. It gets the processor
/// only when nobody else wants it, so what it costs others is what its messages cost.
class Flooder {
 public:
  explicit Flooder(Target target);
  ~Flooder();
  /// The last error that it got.
  std::string refusal() const;
  std::int64_t num_sent() const { return num_sent_; }

 private:
  void Run(const Target& target);

  mutable std::mutex mutex_;
  std::string refusal_;
  std::atomic<std::int64_t> num_sent_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;  // last
};

/// Asks for many long answers and reads none.
class StalledReader {
 public:
  StalledReader(const Target& target, int requests);
  /// Whether it could connect.
  bool is_open() const { return socket_ != nullptr; }

 private:
  agents::NetContext net_;
  std::unique_ptr<agents::Socket> socket_;
};

/// A connection on which nothing is sent; -1 if there is none.
int ConnectTo(const std::string& endpoint);

class SilentConnections {
 public:
  SilentConnections(const std::string& endpoint, int count);
  ~SilentConnections();
  SilentConnections(const SilentConnections&) = delete;
  SilentConnections& operator=(const SilentConnections&) = delete;
  int num_open() const { return static_cast<int>(fds_.size()); }

 private:
  std::vector<int> fds_;
};

}  // namespace tessera::test
