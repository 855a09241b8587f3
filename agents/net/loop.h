// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The event loop of one thread: ZeroMQ sockets, file descriptors, timers and posted tasks. Only
/// the thread of a loop touches the objects that belong to it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "agents/net/timers.h"

namespace tessera::agents {

class Socket;

class Loop : public Timers {
 public:
  Loop();
  ~Loop() override;

  /// Runs on the calling thread until Stop(). Ready sources are served round-robin.
  void Run();
  /// Ends Run() after the current callback. Any thread.
  void Stop();
  /// Tasks posted after Run() has returned are dropped.
  void Post(std::function<void()> task) override;
  /// Whether the calling thread is inside Run().
  bool InLoop() const;

  // The members below are for the loop's thread, or for the thread that prepares the loop before
  // Run(). A callback may watch, unwatch and cancel anything, also itself.

  /// Calls `ready` whenever the socket has a message to read. A socket has one watcher. If `ready`
  /// leaves messages unread, it is called again in the next round, after all other sources.
  /// \pre Unwatch() comes before the destruction of the socket
  void Watch(Socket& socket, std::function<void()> ready);
  /// Calls `ready` of a watched socket at most once in this time, so that messages of many peers
  /// are read together: waking up for each costs more than reading it. 0: at once, as before.
  void Gather(Socket& socket, std::chrono::milliseconds time);
  void Unwatch(Socket& socket);
  /// Calls `ready(revents)` when poll(2) reports any of `events` (POLLIN, POLLOUT) or an error.
  void WatchFd(int fd, short events, std::function<void(short)> ready);
  void UnwatchFd(int fd);

  TimerId After(std::chrono::milliseconds delay, std::function<void()> task) override;
  TimerId Every(std::chrono::milliseconds period, std::function<void()> task) override;
  void Cancel(TimerId timer) override;
  Clock::time_point now() const override { return Now(); }
  static Clock::time_point Now() { return Clock::now(); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
