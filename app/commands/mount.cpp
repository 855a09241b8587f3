// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `mount` and `unmount`: the state of the cluster's jobs as files.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "agents/client/cluster_sink.h"
#include "agents/client/cluster_state.h"
#include "agents/data/job_samples.h"
#include "agents/fuse/file_server.h"
#include "agents/fuse/mount_point.h"
#include "agents/fuse/serve.h"
#include "agents/node/log_file.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/process.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

/// Time limit for a server to connect to the cluster and mount.
constexpr std::chrono::seconds kMountPatience{60};
/// A line that is repeated within this time is dropped.
constexpr std::chrono::seconds kRepeatPause{10};

/// The arguments of `mount`.
struct MountRequest {
  std::string path;
  std::int64_t viewMemory = 0;
  bool foreground = false;
  bool allowOther = false;
  bool readOnly = false;
  std::optional<std::string> log;
};

Result<MountRequest> readMountRequest(const Arguments& arguments) {
  MountRequest request;
  TESSERA_TRY(request.viewMemory, parseMemory(arguments.valueOr("view-memory", "1G")));
  request.path = arguments.word(0);
  request.foreground = arguments.has("foreground");
  request.allowOther = arguments.has("allow-other");
  request.readOnly = arguments.has("read-only");
  request.log = arguments.value("log");
  return request;
}

/// The log of a mount's server: TESSERA_HOME/mounts/mnt-state.log for /mnt/state.
std::string defaultLog(const std::string& path) {
  std::string name = path.substr(1);
  std::ranges::replace(name, '/', '-');
  return fmt::format("{}/mounts/{}.log", agents::TesseraHome(), name.empty() ? "root" : name);
}

void reportMount(const Invocation& call, const MountRequest& request,
                 const agents::Profile& profile, pid_t pid) {
  if (call.json) {
    Json json{{"path", request.path}, {"cluster", profile.cluster_name()}, {"pid", pid}};
    json["view_memory_bytes"] = request.viewMemory;
    json["allow_other"] = request.allowOther;
    json["read_only"] = request.readOnly;
    if (request.log) json["log"] = *request.log;
    printLine(json);
  } else {
    fmt::print("cluster '{}' is mounted on {} (server {}{})\n", profile.cluster_name(),
               request.path, pid, request.log ? ", log " + *request.log : "");
  }
  flushOutput();
}

/// Writes lines with their time to stderr, which may be a log file of limited size.
class MountLog {
 public:
  /// \param file to rotate when it is full; nullopt for a terminal
  explicit MountLog(std::optional<agents::LogFile> file) : m_file(std::move(file)) {}

  void write(std::string_view line) {
    const std::lock_guard lock(m_mutex);
    const auto now = std::chrono::steady_clock::now();
    if (line == m_last && now - m_at < kRepeatPause) return;
    m_last = line;
    m_at = now;
    if (m_file) {
      if (const auto rotated = m_file->RotateIfFull(); !rotated) failed(rotated.error());
    }
    const std::chrono::duration<double> clock = std::chrono::system_clock::now().time_since_epoch();
    fmt::print(stderr, "{} {}\n", formatClock(clock.count()), line);
    std::fflush(stderr);
  }

 private:
  std::mutex m_mutex;
  std::optional<agents::LogFile> m_file;
  std::string m_last;
  std::chrono::steady_clock::time_point m_at;
};

/// Serves in this process until a signal ends it.
Status serve(const Invocation& call, const MountRequest& request, const agents::Profile& profile) {
  agents::EndSignals signals;
  std::optional<agents::LogFile> file;
  if (request.log) {
    TESSERA_TRY(file, agents::LogFile::Redirect(*request.log));
  }
  MountLog log(std::move(file));
  TESSERA_TRY(auto source,
              agents::OpenClusterState(profile, {.view_memory_bytes = request.viewMemory}));
  agents::FileServerOptions options;
  options.allow_other = request.allowOther;
  options.source = agents::MountSource(profile.server_key);
  options.log = [&log](std::string_view line) { log.write(line); };
  options.tree.incoming.memory_bytes = request.viewMemory;
  if (!request.readOnly) {
    TESSERA_TRY(options.sink, agents::OpenClusterSink(profile));
  }
  options.tree.samples =
      agents::MakeJobSamples({.warn = [&log](const std::string& line) { log.write(line); }});
  TESSERA_TRY(auto server, agents::FileServer::Mount(std::move(source), request.path, options));
  reportMount(call, request, profile, ::getpid());
  agents::ServeUntilEnd(*server, signals);
  return OkStatus();
}

/// The last line of a server's log after byte `from`, as an error.
Error lastWords(const std::string& log, std::size_t from) {
  const auto text = engine::ReadWholeFile(log);
  std::string_view lines = text ? std::string_view(*text) : std::string_view();
  lines.remove_prefix(std::min(from, lines.size()));
  while (lines.ends_with('\n')) lines.remove_suffix(1);
  const auto begin = lines.rfind('\n');
  std::string_view line = begin == std::string_view::npos ? lines : lines.substr(begin + 1);
  constexpr std::string_view kProgram = "tesseractl: ";
  if (line.starts_with(kProgram)) line.remove_prefix(kProgram.size());
  if (line.empty())
    return Unavailable(fmt::format("the server ended without a message; see {}", log));
  return Unavailable(std::string(line));
}

/// Whether the folder is mounted and its server answers.
bool isServed(const std::string& path) {
  const auto mount = agents::FindMount(path);
  struct statvfs answer {};
  return mount && *mount && (*mount)->type == agents::kMountType &&
         ::statvfs(path.c_str(), &answer) == 0;
}

/// Starts a server process that outlives this one.
Status startServer(const Invocation& call, MountRequest request, const agents::Profile& profile) {
  if (!request.log) request.log = defaultLog(request.path);
  request.log = engine::AbsolutePath(*request.log);
  std::error_code error;
  fs::create_directories(fs::path(*request.log).parent_path(), error);
  const auto size = fs::file_size(*request.log, error);
  const std::size_t before = error ? 0 : static_cast<std::size_t>(size);

  std::vector<std::string> command = {programFolder() + "/tesseractl",
                                      "--cluster",
                                      nameElsewhere(call.cluster, profile),
                                      "mount",
                                      request.path,
                                      "--foreground",
                                      "--log",
                                      *request.log,
                                      "--view-memory",
                                      fmt::to_string(request.viewMemory)};
  if (request.allowOther) command.emplace_back("--allow-other");
  if (request.readOnly) command.emplace_back("--read-only");
  TESSERA_TRY(const ProcessId server, startDaemon(command, "/", *request.log));
  const auto deadline = std::chrono::steady_clock::now() + kMountPatience;
  while (!isServed(request.path)) {
    if (!isAlive(server)) return lastWords(*request.log, before);
    if (std::chrono::steady_clock::now() > deadline) {
      signalProcess(server, SIGTERM);
      return Timeout(fmt::format("no mount on '{}' within {} s; see {}", request.path,
                                 kMountPatience.count(), *request.log));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  reportMount(call, request, profile, server.pid);
  return OkStatus();
}

/// Whether the cluster answers and lets this key read state: without that a mount shows errors
/// only.
Status checkUsable(const Invocation& call, const agents::Profile& profile) {
  TESSERA_TRY(auto session, openSession(profile, call.timeout));
  TESSERA_TRY(const auto snapshot, session.snapshot());
  if (snapshot.simulation)
    return FailedPrecondition(fmt::format(
        "cluster '{}' is simulated: the state of its jobs has no bytes", snapshot.cluster));
  wire::Request request;
  request.mutable_keep_views();  // of none; needs the right to take views
  TESSERA_TRY(const auto reply, session.ask(std::move(request)));
  static_cast<void>(reply);
  return OkStatus();
}

Status mountCluster(const Invocation& call, MountRequest request) {
  TESSERA_TRY(const agents::Profile profile, findProfile(call.cluster));
  TESSERA_RETURN_IF_ERROR(checkUsable(call, profile));
  TESSERA_RETURN_IF_ERROR(agents::CheckMayMount(request.allowOther));
  TESSERA_TRY(request.path, agents::MountPath(request.path));
  TESSERA_TRY(const bool stale, agents::RemoveStaleMounts(request.path));
  if (stale) fmt::print(stderr, "removed the mount of a server that had ended\n");
  TESSERA_RETURN_IF_ERROR(agents::CheckMountPoint(request.path));
  return request.foreground ? serve(call, request, profile) : startServer(call, request, profile);
}

int runMount(const Invocation& call) {
  TESSERA_OR_USAGE(const auto request, readMountRequest(call.arguments));
  const auto done = mountCluster(call, request);
  return done ? kDone : failed(done.error());
}

Result<std::string> unmountPath(const std::string& word) {
  TESSERA_TRY(std::string path, agents::MountPath(word));
  TESSERA_RETURN_IF_ERROR(agents::RemoveMount(path));
  return path;
}

int runUnmount(const Invocation& call) {
  TESSERA_OR_FAILED(const auto path, unmountPath(call.arguments.word(0)));
  if (call.json)
    printLine({{"path", path}});
  else
    fmt::print("{} is no longer mounted\n", path);
  return kDone;
}

}  // namespace

Command mountCommand() {
  return {
      {.verb = "mount",
       .summary = "Show the state of all jobs as files",
       .words = {{"DIR", "an empty folder"}},
       .options = {{.name = "view-memory",
                    .value = "SIZE",
                    .help = "memory for the states that open files show, and as much again for "
                            "files that are written",
                    .fallback = "1G"},
                   {.name = "read-only", .value = "", .help = "accept no files"},
                   {.name = "foreground",
                    .value = "",
                    .help = "serve in this process until it is interrupted"},
                   {.name = "allow-other", .value = "", .help = "let other users read the files"},
                   {.name = "log",
                    .value = "FILE",
                    .help = "log file of the server",
                    .fallback = "a file in TESSERA_HOME/mounts"},
                   quietOption()},
       .notes = {"Any program that reads safetensors can read "
                 "DIR/jobs/JOB/full/model.safetensors. The first open of a job's files takes a "
                 "view after the current step; all its files show that view until the last one "
                 "is closed.",
                 "Files ranks/R/model.safetensors.new and optimizer.safetensors.new hand state "
                 "in: when the last of them is closed, the job continues from it. "
                 "`tesseractl unmount DIR` ends the mount."},
       .examples = {"tesseractl mount /mnt/state",
                    "tesseractl mount /mnt/state --read-only --view-memory 4G"}},
      runMount};
}

Command unmountCommand() {
  return {{.verb = "unmount",
           .summary = "End a mount",
           .words = {{"DIR", "folder of the mount"}},
           .options = {quietOption()},
           .examples = {"tesseractl unmount /mnt/state"}},
          runUnmount};
}

}  // namespace tessera::app
