// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/cluster_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

std::string ownHost() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// "another `up` of 'local' is running (pid 123)", from the text that the holder has written.
std::string describeHolder(const std::string& path, const std::string& name) {
  std::istringstream words(engine::ReadWholeFile(path).value_or(""));
  std::string verb, pid, host;
  if (!(words >> verb >> pid))  // it has the lock, and has not written yet
    return fmt::format("another `up` or `down` of '{}' is running", name);
  words >> host;
  return fmt::format("another `{}` of '{}' is running (pid {}{})", verb, name, pid,
                     host.empty() || host == ownHost() ? "" : " on " + host);
}

}  // namespace

Result<ClusterLock> ClusterLock::take(const std::string& clusters, const std::string& name,
                                      const std::string& verb) {
  std::error_code failure;
  std::filesystem::create_directories(clusters, failure);
  if (failure) return Unavailable(fmt::format("cannot make {}: {}", clusters, failure.message()));
  const std::string path = clusters + "/" + name + ".lock";
  engine::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return Unavailable(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  int locked = 0;
  while ((locked = ::flock(file.get(), LOCK_EX | LOCK_NB)) != 0 && errno == EINTR) {
  }
  if (locked != 0 && errno == EWOULDBLOCK) return FailedPrecondition(describeHolder(path, name));
  if (locked != 0)
    return Unavailable(fmt::format("cannot lock {}: {}", path, std::strerror(errno)));
  const std::string text = fmt::format("{} {} {}\n", verb, ::getpid(), ownHost());
  if (::ftruncate(file.get(), 0) != 0 ||
      ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return Unavailable(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  return ClusterLock(std::move(file));
}

}  // namespace tessera::app
