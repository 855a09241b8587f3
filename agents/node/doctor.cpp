// SPDX-License-Identifier: Apache-2.0
#include "agents/node/doctor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "agents/net/socket.h"
#include "agents/node/allow_list.h"
#include "agents/node/doctor_gpu.h"
#include "agents/node/node_server.h"
#include "agents/train/blas_environment.h"
#include "agents/wire/wall_clock.h"
#include "engine/files/available_memory.h"

namespace tessera::agents {
namespace {

namespace fs = std::filesystem;
using engine::Check;
using Verdict = engine::Check::Verdict;

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
/// Less free disk space than this for journals, history and logs gives a warning.
constexpr double kLowDiskBytes = 1.0 * kGiB;
/// Less than this for the reserve of a journal (engine::Journal::kReserve) is a failure: no change
/// begins.
constexpr double kFullDiskBytes = 1024.0 * 1024.0;
/// How long a port may take to answer.
constexpr int kConnectMilliseconds = 500;
/// Sockets and memory files of ranks and lanes.
constexpr rlim_t kEnoughFiles = 1024;

Check Ok(std::string name, std::string value) {
  return {.name = std::move(name), .value = std::move(value)};
}
Check Finding(Verdict verdict, std::string name, std::string value, std::string remedy) {
  return {.name = std::move(name),
          .verdict = verdict,
          .value = std::move(value),
          .remedy = std::move(remedy)};
}

/// The first line of a small file of the kernel.
std::optional<std::string> ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

/// "always [madvise] never" -> "madvise".
std::string Selected(const std::string& choices) {
  const auto begin = choices.find('['), end = choices.find(']');
  if (begin == std::string::npos || end == std::string::npos) return choices;
  return choices.substr(begin + 1, end - begin - 1);
}

Check Keys(const AgentConfig& config) {
  struct stat info {};
  if (::stat(config.agent_keys.c_str(), &info) != 0) {
    return Finding(Verdict::kFailed, "key file",
                   fmt::format("{}: {}", config.agent_keys, std::strerror(errno)),
                   "restore the file: the agent cannot restart without it");
  }
  if (CanOthersRead(config.agent_keys)) {
    return Finding(Verdict::kFailed, "key file", config.agent_keys + " is readable by others",
                   "chmod 600 " + config.agent_keys);
  }
  return Ok("key file", config.agent_keys + ", readable by its owner alone");
}

Check Allowed(const AgentConfig& config) {
  const AllowList list(config);
  if (!list.problems().empty()) {
    return Finding(Verdict::kWarning, "allowed keys", list.problems().front(),
                   "a .pub file contains the lines 'public KEY' and 'role viewer', "
                   "'role operator' or 'role node N'");
  }
  return Ok("allowed keys", fmt::format("{} public keys are admitted", list.keys().size()));
}

Check Refused(const AgentConfig& config, const std::vector<RefusedKey>& refused) {
  if (refused.empty()) return Ok("refused keys", "none");
  std::string text;
  for (const RefusedKey& key : refused) text += (text.empty() ? "" : "; ") + ToString(key);
  return Finding(Verdict::kWarning, "refused keys", text,
                 fmt::format("if it is a node or user of yours, copy its .pub file to {} on this "
                             "node, with the line 'role node N' for a node",
                             config.allowed_folder));
}

Check Journal(const AgentConfig& config, const std::vector<std::string>& unreadable) {
  const std::string journal = NodeServer::JournalFile(config);
  if (::access(journal.c_str(), F_OK) != 0) {
    return Finding(Verdict::kFailed, "journal",
                   fmt::format("{} was deleted, and is lost when this agent ends", journal),
                   "move the jobs of this node away, and start it again");
  }
  if (unreadable.empty()) return Ok("journal", "all of its rows can be read");
  return Finding(
      Verdict::kWarning, "journal",
      fmt::format("rows that could not be read are kept aside: {}", fmt::join(unreadable, ", ")),
      "the node runs without them; check the disk of journal.db");
}

/// What operators may do to this machine by starting jobs.
Check Jobs(const AgentConfig& config) { return Ok("jobs", ToText(config.jobs)); }

/// Whether something accepts connections at "tcp://HOST:PORT".
bool Accepts(const std::string& endpoint) {
  const std::size_t scheme = endpoint.find("://"), colon = endpoint.rfind(':');
  if (scheme == std::string::npos || colon <= scheme + 3) return false;
  std::string host = endpoint.substr(scheme + 3, colon - scheme - 3);
  if (host.size() > 1 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), endpoint.c_str() + colon + 1, &hints, &found) != 0) return false;
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool accepts = false;
  if (fd >= 0) {
    accepts = ::connect(fd, found->ai_addr, found->ai_addrlen) == 0;
    if (!accepts && errno == EINPROGRESS) {
      pollfd watched{fd, POLLOUT, 0};
      int error = 0;
      socklen_t size = sizeof error;
      accepts = ::poll(&watched, 1, kConnectMilliseconds) == 1 &&
                ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }
    ::close(fd);
  }
  ::freeaddrinfo(found);
  return accepts;
}

Check Ports(const AgentConfig& config) {
  // Every node binds its lanes. Only the registrar binds the ports for commands and events.
  std::vector<std::string> endpoints = {config.registrar_endpoint};
  if (config.registrar_endpoint == config.endpoint) endpoints.push_back(config.events);
  endpoints.insert(endpoints.end(), config.lanes.begin(), config.lanes.end());
  std::string silent;
  for (const std::string& endpoint : endpoints) {
    if (!Accepts(endpoint)) silent += (silent.empty() ? "" : ", ") + endpoint;
  }
  if (!silent.empty()) {
    return Finding(
        Verdict::kFailed, "ports", "nothing accepts connections at " + silent,
        "free the port, or open it in the firewall; `ss -ltnp` shows which process listens");
  }
  return Ok("ports", fmt::format("{} endpoints accept connections, {} to {}", endpoints.size(),
                                 endpoints.front(), endpoints.back()));
}

Check Lanes(const AgentConfig& config) {
  if (config.lane_security != kPlainLanes) return Ok("lanes", "encrypted (CurveZMQ)");
  return Finding(Verdict::kWarning, "lanes",
                 "plain: bulk data of this node is not encrypted, requests need a ticket",
                 "use plain lanes only on a network that you trust; else set \"lane_security\" to "
                 "\"curve\" in the node's configuration and restart its agent");
}

Check Memory(const AgentConfig& config) {
  const auto available = static_cast<double>(engine::AvailableMemory().value_or(-1));
  const double arenas =
      static_cast<double>(config.devices) * static_cast<double>(config.device_bytes);
  const std::string value = fmt::format("{:.1f} GiB of arenas, {:.1f} GiB of memory are free",
                                        arenas / kGiB, available / kGiB);
  // The arenas are already allocated, so ranks and staging use the free memory.
  if (available >= 0 && available < 0.25 * arenas) {
    return Finding(
        Verdict::kWarning, "memory", value,
        "use fewer devices or less memory per device: ranks need memory beside the arenas");
  }
  return Ok("memory", value);
}

Check Disk(const AgentConfig& config) {
  struct statvfs info {};
  if (::statvfs(config.directory.c_str(), &info) != 0) {
    return Finding(Verdict::kFailed, "disk",
                   fmt::format("{}: {}", config.directory, std::strerror(errno)),
                   "create the directory and give it to the user of the agent");
  }
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  const std::string value = fmt::format("{:.1f} GiB are free in {}", free / kGiB, config.directory);
  if (free < kFullDiskBytes) {
    return Finding(Verdict::kFailed, "disk", value,
                   "free disk space: no job can be changed or stopped");
  }
  if (free < kLowDiskBytes) {
    return Finding(Verdict::kWarning, "disk", value,
                   "free disk space: a transaction that cannot be recorded does not start");
  }
  return Ok("disk", value);
}

Check HugePages() {
  const auto choice = ReadLine("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  if (!choice) return Finding(Verdict::kSkipped, "huge pages", "not supported by this kernel", "");
  const std::string selected = Selected(*choice);
  // Measured: huge pages make the first access to an arena faster, but not the training.
  return Ok("huge pages", selected == "never"
                              ? "shared memory uses 4 KiB pages: slower start, same training speed"
                              : fmt::format("shared memory: {}", selected));
}

Check Fuse() {
  const int fd = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    ::close(fd);
    return Ok("/dev/fuse", "can be opened");
  }
  const int error = errno;
  return Finding(Verdict::kWarning, "/dev/fuse", std::strerror(error),
                 error == ENOENT ? "modprobe fuse; in a container: --device /dev/fuse"
                                 : "to mount, give this user read and write access to /dev/fuse");
}

Check CongestionControl() {
  const auto control = ReadLine("/proc/sys/net/ipv4/tcp_congestion_control");
  if (!control) {
    return Finding(Verdict::kSkipped, "congestion control", "not supported by this kernel", "");
  }
  if (*control == "bbr") {
    return Finding(Verdict::kWarning, "congestion control",
                   "bbr paces connections: a quarter of the bandwidth on loopback",
                   "sysctl -w net.ipv4.tcp_congestion_control=cubic");
  }
  return Ok("congestion control", *control);
}

Check OpenFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Finding(Verdict::kSkipped, "open files", std::strerror(errno), "");
  }
  const std::string value = limit.rlim_cur == RLIM_INFINITY
                                ? std::string("no limit")
                                : fmt::format("limit of {}", limit.rlim_cur);
  if (limit.rlim_cur < kEnoughFiles) {
    return Finding(Verdict::kWarning, "open files", value,
                   "ulimit -n 4096, or LimitNOFILE=4096 in the unit");
  }
  return Ok("open files", value);
}

/// The BLAS library of the ranks, as the system's alternatives choose it.
Check Blas() {
  for (const char* const link : {"/etc/alternatives/libblas.so.3-x86_64-linux-gnu",
                                 "/etc/alternatives/libblas.so.3-aarch64-linux-gnu"}) {
    std::error_code error;
    const std::string library = fs::canonical(link, error).string();
    if (error) continue;
    std::string environment;
    for (const std::string& variable : train::BlasEnvironment()) {
      if (variable.starts_with("OPENBLAS_CORETYPE")) environment = ", with " + variable;
    }
    if (library.find("openblas") != std::string::npos || library.find("mkl") != std::string::npos ||
        library.find("blis") != std::string::npos) {
      return Ok("BLAS", library + environment);
    }
    return Finding(Verdict::kWarning, "BLAS",
                   library + " is the reference implementation, about 16 times slower",
                   "apt-get install libopenblas0-pthread");
  }
  return Finding(Verdict::kSkipped, "BLAS", "this system has no alternatives for BLAS", "");
}

Check Trainer() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "tessera-train").string();
  if (::access(program.c_str(), X_OK) == 0) return Ok("trainer", program);
  return Finding(
      Verdict::kWarning, "trainer", program + " is missing",
      "install it for built-in models; programs of users (job start --exec) do not need it");
}

}  // namespace

std::string LinkFailureText(const AgentConfig& config, const std::string& public_key,
                            LinkEvent::Kind kind) {
  if (kind == LinkEvent::Kind::kRefused) {
    return fmt::format(
        "the registrar at {} refuses this node's key '{}': copy the .pub file of n{}, with the "
        "line 'role node {}', into the folder of allowed keys on the registrar's node",
        config.registrar_endpoint, KeyFingerprint(public_key), config.node, config.node);
  }
  return fmt::format(
      "{} completes no handshake: is it the registrar, and is its public key the '{}' of this "
      "node's configuration?",
      config.registrar_endpoint,
      KeyFingerprint(config.registrar_key.empty() ? public_key : config.registrar_key));
}

std::vector<Check> RunDoctor(const AgentConfig& config, const std::vector<RefusedKey>& refused,
                             const std::vector<std::string>& unreadable) {
  std::vector<Check> checks = {Ok("version", "tessera-agent " TESSERA_VERSION),
                               Ok("clock", fmt::format("{:.3f}", WallClock())),
                               Keys(config),
                               Allowed(config),
                               Refused(config, refused),
                               Journal(config, unreadable),
                               Jobs(config),
                               Ports(config),
                               Lanes(config),
                               Memory(config),
                               Disk(config),
                               HugePages(),
                               Fuse(),
                               CongestionControl(),
                               OpenFiles(),
                               Blas(),
                               Trainer()};
  for (Check& check : CheckGpus(config)) checks.push_back(std::move(check));
  for (Check& check : checks) check.node = config.node;
  return checks;
}

}  // namespace tessera::agents
