// SPDX-License-Identifier: Apache-2.0
#include "agents/net/loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "agents/net/socket.h"
#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

// A source stays alive during its own callback, even if the callback unwatches it.
struct Source {
  void* socket = nullptr;  // null: `fd`
  int fd = -1;
  short events = 0;
  std::function<void(short)> ready;
  bool active = true;
  std::chrono::milliseconds gather{0};
  Loop::Clock::time_point not_before{};  // `ready` is not called
};

struct Timer {
  Loop::Clock::time_point due;
  std::chrono::milliseconds period{0};  // 0: once
  std::function<void()> task;
};

}  // namespace

struct Loop::Impl {
  // Any thread, under `mutex`.
  std::mutex mutex;
  std::vector<std::function<void()>> tasks;
  bool ended = false;
  // Any thread.
  std::atomic<bool> stop{false};
  std::atomic<std::thread::id> thread{};
  int wake = -1;
  // The loop's thread, or before Run() the thread that prepares the loop.
  std::vector<std::shared_ptr<Source>> sources;
  std::map<TimerId, std::shared_ptr<Timer>> timers;
  TimerId next_timer = 1;
  std::size_t first = 0;  // start of the next round, so that no source is always first

  void Wake() const {
    const std::uint64_t one = 1;
    // A full counter means that a wake-up is pending.
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
  }

  void Add(std::shared_ptr<Source> source) { sources.push_back(std::move(source)); }

  template <typename Match>
  void Remove(Match match) {
    std::erase_if(sources, [&](const std::shared_ptr<Source>& source) {
      if (!match(*source)) return false;
      source->active = false;
      return true;
    });
  }

  long PollTimeout(Clock::time_point due) const {
    for (const auto& [id, timer] : timers) due = std::min(due, timer->due);
    if (due == Clock::time_point::max()) return -1;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
    return std::max<long>(0, static_cast<long>(wait.count()));
  }

  void RunTimers() {
    const auto now = Clock::now();
    std::vector<std::pair<Clock::time_point, TimerId>> due;
    for (const auto& [id, timer] : timers) {
      if (timer->due <= now) due.emplace_back(timer->due, id);
    }
    std::sort(due.begin(), due.end());
    for (const auto& [when, id] : due) {
      if (stop) return;
      const auto found = timers.find(id);
      if (found == timers.end()) continue;  // cancelled by an earlier callback
      const std::shared_ptr<Timer> timer = found->second;
      if (timer->period.count() == 0) {
        timers.erase(found);
      } else {
        // A delayed loop runs the task once, not once per missed period.
        timer->due = std::max(timer->due + timer->period, now);
      }
      timer->task();
    }
  }

  void RunTasks() {
    std::vector<std::function<void()>> batch;
    {
      const std::lock_guard lock(mutex);
      batch.swap(tasks);
    }
    for (auto& task : batch) {
      if (stop) return;
      task();
      task = nullptr;
    }
  }

  void RunSources(const std::vector<std::shared_ptr<Source>>& polled,
                  const std::vector<zmq_pollitem_t>& items) {
    const std::size_t count = polled.size();
    for (std::size_t n = 0; n < count && !stop; ++n) {
      const std::size_t i = (first + n) % count;
      const short revents = items[i + 1].revents;
      const std::shared_ptr<Source>& source = polled[i];
      if (revents == 0 || !source->active) continue;
      if (source->socket != nullptr) {
        source->ready(POLLIN);
        if (source->gather.count() > 0) source->not_before = Clock::now() + source->gather;
        continue;
      }
      // zmq_poll reports hang-up and error as one bit; poll returns the exact ones.
      pollfd exact{source->fd, source->events, 0};
      if (::poll(&exact, 1, 0) > 0) source->ready(exact.revents);
    }
    if (count > 0) first = (first + 1) % count;
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {
  impl_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  TESSERA_CHECK(impl_->wake >= 0);
}

Loop::~Loop() {
  TESSERA_DCHECK(impl_->thread.load() == std::thread::id());
  ::close(impl_->wake);
}

void Loop::Run() {
  Impl& impl = *impl_;
  impl.thread = std::this_thread::get_id();
  std::vector<zmq_pollitem_t> items;
  while (!impl.stop) {
    items.clear();
    items.push_back({nullptr, impl.wake, ZMQ_POLLIN, 0});
    std::vector<std::shared_ptr<Source>> polled;
    auto due = Clock::time_point::max();
    const auto now = Clock::now();
    for (const auto& source : impl.sources) {
      if (source->not_before > now) {
        due = std::min(due, source->not_before);
        continue;
      }
      polled.push_back(source);
      short events = ZMQ_POLLIN;
      if (source->socket == nullptr) {
        events =
            static_cast<short>(((source->events & POLLIN) != 0 ? ZMQ_POLLIN : 0) |
                               ((source->events & POLLOUT) != 0 ? ZMQ_POLLOUT : 0) | ZMQ_POLLERR);
      }
      items.push_back({source->socket, source->fd, events, 0});
    }
    const int ready = zmq_poll(items.data(), static_cast<int>(items.size()), impl.PollTimeout(due));
    if (ready < 0 && zmq_errno() != EINTR) break;  // the context is gone
    if (ready > 0 && items[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto got = ::read(impl.wake, &count, sizeof count);
    }
    impl.RunTimers();
    impl.RunTasks();
    if (ready > 0) impl.RunSources(polled, items);
  }
  std::vector<std::function<void()>> dropped;
  {
    const std::lock_guard lock(impl.mutex);
    impl.ended = true;
    dropped.swap(impl.tasks);
  }
  dropped.clear();  // destructors of objects in the tasks still run on this thread
  impl.thread = std::thread::id();
}

void Loop::Stop() {
  impl_->stop = true;
  impl_->Wake();
}

void Loop::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->ended) return;
    impl_->tasks.push_back(std::move(task));
  }
  impl_->Wake();
}

bool Loop::InLoop() const { return impl_->thread.load() == std::this_thread::get_id(); }

void Loop::Watch(Socket& socket, std::function<void()> ready) {
  Unwatch(socket);
  auto source = std::make_shared<Source>();
  source->socket = socket.handle();
  source->ready = [ready = std::move(ready)](short) { ready(); };
  impl_->Add(std::move(source));
}

void Loop::Gather(Socket& socket, std::chrono::milliseconds time) {
  for (const auto& source : impl_->sources) {
    if (source->socket != nullptr && source->socket == socket.handle()) source->gather = time;
  }
}

void Loop::Unwatch(Socket& socket) {
  impl_->Remove([handle = socket.handle()](const Source& s) {
    return s.socket != nullptr && s.socket == handle;
  });
}

void Loop::WatchFd(int fd, short events, std::function<void(short)> ready) {
  UnwatchFd(fd);
  auto source = std::make_shared<Source>();
  source->fd = fd;
  source->events = events;
  source->ready = std::move(ready);
  impl_->Add(std::move(source));
}

void Loop::UnwatchFd(int fd) {
  impl_->Remove([fd](const Source& s) { return s.socket == nullptr && s.fd == fd; });
}

Loop::TimerId Loop::After(std::chrono::milliseconds delay, std::function<void()> task) {
  const TimerId id = impl_->next_timer++;
  impl_->timers[id] =
      std::make_shared<Timer>(Timer{Clock::now() + std::max(delay, std::chrono::milliseconds(0)),
                                    std::chrono::milliseconds(0), std::move(task)});
  return id;
}

Loop::TimerId Loop::Every(std::chrono::milliseconds period, std::function<void()> task) {
  const TimerId id = impl_->next_timer++;
  period = std::max(period, std::chrono::milliseconds(1));
  impl_->timers[id] =
      std::make_shared<Timer>(Timer{Clock::now() + period, period, std::move(task)});
  return id;
}

void Loop::Cancel(TimerId timer) { impl_->timers.erase(timer); }

}  // namespace tessera::agents
