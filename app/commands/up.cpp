// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `up`: a local cluster of emulated devices.

#include <fmt/format.h>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/progress_line.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

Result<LocalClusterOptions> readOptions(const Arguments& arguments) {
  LocalClusterOptions options;
  TESSERA_TRY(const auto nodes, arguments.integer("nodes", options.nodes, 1, 64));
  TESSERA_TRY(const auto devices, arguments.integer("gpus", options.devices, 1, 64));
  options.nodes = static_cast<int>(nodes);
  options.devices = static_cast<int>(devices);
  if (const auto text = arguments.value("gpu-memory")) {
    TESSERA_TRY(options.deviceBytes, parseMemory(*text).Context("--gpu-memory"));
  }
  if (const auto text = arguments.value("link")) {
    TESSERA_TRY(options.linkBytesPerSecond, parseRate(*text).Context("--link"));
  }
  options.oneHost = arguments.has("one-host");
  options.name = arguments.valueOr("name", options.name);
  TESSERA_RETURN_IF_ERROR(checkName("cluster name", options.name));
  return options;
}

int run(const Invocation& call) {
  auto options = readOptions(call.arguments);
  if (!options) return wrongUsage(options.error());
  ProgressLine progress(call.json);
  options->progress = [&](std::int64_t made, std::int64_t total) {
    if (made < total)
      progress.show(fmt::format("making memory: {} of {}", formatBytes(made), formatBytes(total)));
  };
  const auto profile = startLocalCluster(*options);
  progress.clear();
  if (!profile) return failed(profile.error());
  if (call.json) {
    printLine({{"name", profile->name},
               {"profile", profilePath(profile->name)},
               {"registrar", profile->registrar_endpoint},
               {"directory", profile->directory},
               {"nodes", options->nodes},
               {"devices", options->devices},
               {"link", options->linkBytesPerSecond}});
    return kDone;
  }
  fmt::print("cluster '{}' is up: {} nodes of {} emulated GPUs with {} each{}{}\n", options->name,
             options->nodes, options->devices, formatBytes(options->deviceBytes),
             options->oneHost ? ", one host" : "",
             options->linkBytesPerSecond > 0
                 ? fmt::format(", links of {} MB/s (emulated)",
                               static_cast<double>(options->linkBytesPerSecond) / 1e6)
                 : "");
  fmt::print("profile    {}\nregistrar  {}\nfolder     {}\n", profilePath(profile->name),
             profile->registrar_endpoint, profile->directory);
  return kDone;
}

}  // namespace

Command upCommand() {
  return {
      {"up",
       "starts a local cluster of emulated GPUs and prints its profile",
       {},
       {{"nodes", "N", "nodes, each an agent of its own (default 2)"},
        {"gpus", "N", "emulated GPUs a node (default 4)"},
        {"gpu-memory", "SIZE", "memory of each, binary units (default 512M)"},
        {"link", "RATE", "emulated full-duplex port of each node, e.g. 100MB/s (default: none)"},
        {"one-host", "", "all nodes share memory instead of sending over ZeroMQ"},
        {"name", "NAME", "name of cluster and profile (default local)"}},
       {"A stopped cluster of the same name is replaced, its history and logs with it."}},
      run};
}

}  // namespace tessera::app
