// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One thread's event loop: ZeroMQ sockets, plain file descriptors, timers and posted tasks.
/// Every object that lives on a loop is touched by that loop's thread only.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace tessera::agents {

class Socket;

class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  using TimerId = std::uint64_t;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs on the calling thread until Stop(). Ready sources are served round-robin.
  void Run();
  /// Ends Run() after the current callback. Any thread.
  void Stop();
  /// Runs `task` on the loop's thread, in order of posting. Any thread. After Run() has returned
  /// tasks are dropped, not run.
  void Post(std::function<void()> task);
  /// Whether the calling thread is inside Run().
  bool InLoop() const;

  // What follows is for the loop's own thread, or for whoever prepares the loop before Run(). A
  // callback may watch, unwatch and cancel anything, itself too.

  /// Calls `ready` whenever the socket has a message to read. One watcher a socket. Messages that
  /// `ready` leaves unread bring another call in the next round, after all others had their turn.
  /// \pre Unwatch() before the socket is destroyed.
  void Watch(Socket& socket, std::function<void()> ready);
  void Unwatch(Socket& socket);
  /// Calls `ready(revents)` when poll(2) reports any of `events` (POLLIN, POLLOUT) or an error.
  void WatchFd(int fd, short events, std::function<void(short)> ready);
  void UnwatchFd(int fd);

  /// Runs `task` once after `delay`; `Every` again and again. A loop that was held up for several
  /// periods runs it once.
  TimerId After(std::chrono::milliseconds delay, std::function<void()> task);
  TimerId Every(std::chrono::milliseconds period, std::function<void()> task);
  void Cancel(TimerId timer);
  static Clock::time_point Now() { return Clock::now(); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
