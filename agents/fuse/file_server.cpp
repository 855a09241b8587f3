// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/file_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/fuse/mount_point.h"
#include "agents/fuse/operations.h"
#include "agents/fuse/side_threads.h"

namespace tessera::agents {
namespace {

/// Interval between calls of Tree::Tick.
constexpr int kTickMs = 1000;
/// For requests that wait for data: four ranks of a job make that many at a time.
constexpr int kSideThreads = 4;

std::chrono::system_clock::duration WallOffset() {
  return std::chrono::system_clock::now().time_since_epoch() -
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             std::chrono::steady_clock::now().time_since_epoch());
}

int NumThreads(int wanted) {
  if (wanted > 0) return wanted;
  return std::clamp(2 * static_cast<int>(std::thread::hardware_concurrency()), 4, 16);
}

/// The last message of libfuse, which has one sink for the whole process.
std::mutex said_mutex;
std::string said;  // guarded by said_mutex

void KeepWords(fuse_log_level /*level*/, const char* format, va_list words) {
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, words);
  const std::lock_guard lock(said_mutex);
  said = text.data();
  while (said.ends_with('\n')) said.pop_back();
}

std::string LastWords() {
  const std::lock_guard lock(said_mutex);
  return said.empty() ? std::string(std::strerror(errno)) : said;
}

/// Blocks all signals in threads of the server, so that other threads of the process receive them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

constexpr fuse_custom_io kSocketIo = {
    .writev = [](int fd, iovec* parts, int count, void*) { return ::writev(fd, parts, count); },
    .read = [](int fd, void* to, std::size_t size, void*) { return ::read(fd, to, size); },
    .splice_receive = nullptr,
    .splice_send = nullptr,
};

}  // namespace

struct FileServer::Impl {
  Impl(std::shared_ptr<engine::vfs::StateSource> state, const FileServerOptions& options)
      : source(state),
        tree(std::move(state), std::chrono::steady_clock::now(), options.tree, options.sink),
        samples(options.tree.samples),
        sink(options.sink),
        service{tree,        ::geteuid(),
                ::getegid(), WallOffset(),
                options.log, [this](std::function<void()> work) { side->Post(std::move(work)); }},
        wake(::eventfd(0, EFD_CLOEXEC)) {}
  ~Impl();

  Status MakeSession(const FileServerOptions& options);
  Status Start(int count);
  Status AddThread();
  void End();
  bool WaitForRequest(int poll);
  void Serve(int poll);

  const std::shared_ptr<engine::vfs::StateSource> source;
  engine::vfs::Tree tree;
  const std::shared_ptr<engine::vfs::SampleSource> samples;
  const std::shared_ptr<engine::vfs::StateSink> sink;
  std::unique_ptr<SideThreads> side;  // from Start on
  FileService service;
  const int wake;
  fuse_session* session = nullptr;
  bool mounted = false;
  std::atomic<bool> stopping = false;
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  // guarded by mutex
};

FileServer::Impl::~Impl() {
  stopping = true;
  source->Cancel();  // so that no thread waits for a cluster that does not answer
  if (sink) sink->Cancel();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
  threads.clear();
  if (samples) samples->Stop();
  side.reset();  // answers pending requests before the session ends
  if (mounted) fuse_session_unmount(session);
  if (session != nullptr) fuse_session_destroy(session);
  ::close(wake);
}

Status FileServer::Impl::MakeSession(const FileServerOptions& options) {
  fuse_set_log_func(KeepWords);
  std::string program = "tessera", flag = "-o";
  std::string settings = fmt::format(
      "{},default_permissions,fsname={},subtype=tessera,max_read={}{}", options.sink ? "rw" : "ro",
      options.source, kMaxReadBytes, options.allow_other ? ",allow_other" : "");
  std::array<char*, 3> words = {program.data(), flag.data(), settings.data()};
  fuse_args arguments{static_cast<int>(words.size()), words.data(), 0};
  session = fuse_session_new(&arguments, &FileOperations(), sizeof(fuse_lowlevel_ops), &service);
  fuse_opt_free_args(&arguments);
  if (session == nullptr) return Unavailable(fmt::format("no FUSE session: {}", LastWords()));
  return OkStatus();
}

Status FileServer::Impl::Start(int count) {
  const int descriptor = fuse_session_fd(session);
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  const SignalsBlocked blocked;  // threads inherit it
  side = std::make_unique<SideThreads>(kSideThreads);
  for (int i = 0; i < NumThreads(count); ++i) TESSERA_RETURN_IF_ERROR(AddThread());
  return OkStatus();
}

Status FileServer::Impl::AddThread() {
  // A request wakes one thread, the end wakes all.
  epoll_event request{.events = EPOLLIN | EPOLLEXCLUSIVE, .data = {}};
  epoll_event end{.events = EPOLLIN, .data = {}};
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0 || ::epoll_ctl(poll, EPOLL_CTL_ADD, fuse_session_fd(session), &request) != 0 ||
      ::epoll_ctl(poll, EPOLL_CTL_ADD, wake, &end) != 0) {
    const int error = errno;
    if (poll >= 0) ::close(poll);
    return ResourceExhausted(
        fmt::format("cannot wait for requests to files: {}", std::strerror(error)));
  }
  threads.emplace_back([this, poll] {
    Serve(poll);
    ::close(poll);
  });
  return OkStatus();
}

/// Waits until there may be a request.
/// \return false at the end
bool FileServer::Impl::WaitForRequest(int poll) {
  epoll_event event{};
  const int count = ::epoll_wait(poll, &event, 1, kTickMs);
  if (count == 0) tree.Tick(std::chrono::steady_clock::now());
  if (count < 0 && errno != EINTR) {
    End();
    return false;
  }
  return !stopping;
}

void FileServer::Impl::End() {
  const std::lock_guard lock(mutex);
  ended = true;
  changed.notify_all();
}

void FileServer::Impl::Serve(int poll) {
  fuse_buf request{};
  while (!stopping) {
    const int size = fuse_session_receive_buf(session, &request);
    if (size > 0) {
      fuse_session_process_buf(session, &request);
    } else if (size == -EAGAIN) {
      if (!WaitForRequest(poll)) break;
    } else if (size != -EINTR) {
      End();
      break;
    }
  }
  std::free(request.mem);  // libfuse allocated it with malloc
}

FileServer::FileServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileServer::~FileServer() = default;

Result<std::unique_ptr<FileServer>> FileServer::Mount(
    std::shared_ptr<engine::vfs::StateSource> source, const std::string& path,
    const FileServerOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(source), options);
  TESSERA_RETURN_IF_ERROR(impl->MakeSession(options));
  if (fuse_session_mount(impl->session, path.c_str()) != 0) {
    return Unavailable(fmt::format("cannot mount on '{}': {}", path, LastWords()));
  }
  impl->mounted = true;
  TESSERA_RETURN_IF_ERROR(impl->Start(options.threads));
  // The reply shows that the kernel has finished INIT. Before that, INIT would reset the
  // read-ahead.
  struct statvfs answer {};
  if (::statvfs(path.c_str(), &answer) != 0) {
    return Unavailable(
        fmt::format("the mount on '{}' does not answer: {}", path, std::strerror(errno)));
  }
  if (const auto mount = FindMount(path); mount && *mount) WidenReadAhead(**mount);
  return std::unique_ptr<FileServer>(new FileServer(std::move(impl)));
}

Result<std::unique_ptr<FileServer>> FileServer::OverSocket(
    std::shared_ptr<engine::vfs::StateSource> source, int descriptor,
    const FileServerOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(source), options);
  TESSERA_RETURN_IF_ERROR(impl->MakeSession({.sink = options.sink}));
  if (const int error = fuse_session_custom_io(impl->session, &kSocketIo, descriptor); error != 0) {
    return Unavailable(fmt::format("no FUSE session over a socket: {}", std::strerror(-error)));
  }
  TESSERA_RETURN_IF_ERROR(impl->Start(options.threads));
  return std::unique_ptr<FileServer>(new FileServer(std::move(impl)));
}

bool FileServer::WaitEnded(std::chrono::milliseconds patience) {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, patience, [&] { return impl_->ended; });
}

engine::vfs::Tree::Usage FileServer::usage() { return impl_->tree.usage(); }

}  // namespace tessera::agents
