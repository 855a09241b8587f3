// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "agents/node/path_lookup.h"
#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "engine/model/gpt.h"

namespace tessera::agents {
namespace {

namespace fs = std::filesystem;

/// Whether a server or a client could take another path from the URL than its text shows.
bool IsPlainUrl(std::string url) {
  std::ranges::transform(url, url.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&url](std::string_view text) { return url.find(text) != std::string::npos; };
  return !has("/.") && !has("%2e") && !has("%2f") && !has("%5c") && !has("\\");
}

using Patience = std::optional<std::chrono::milliseconds>;

/// Without links and "..", so that neither leads out of a folder.
Result<fs::path> Resolved(const std::string& path, Patience patience) {
  if (!patience) return fs::path(ResolvePath(path));
  TESSERA_TRY(std::string resolved, ResolvePathWithin(path, *patience));
  return fs::path(std::move(resolved));
}

Result<bool> IsBelow(const std::string& name, const std::string& limit, Patience patience) {
  if (engine::IsUrl(name) != engine::IsUrl(limit)) return false;
  if (engine::IsUrl(name)) {
    const std::string folder = limit.ends_with('/') ? limit : limit + '/';
    return (name + '/').starts_with(folder) && IsPlainUrl(name);
  }
  TESSERA_TRY(const fs::path path, Resolved(name, patience));
  TESSERA_TRY(fs::path folder, Resolved(limit, patience));
  if (!folder.has_filename()) folder = folder.parent_path();  // "/srv/data/"
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return !folder.empty() && end == folder.end();
}

/// \param verb what the node does not do with `name`
/// \param key of its configuration, with the limits
Status CheckBelow(const std::vector<std::string>& limits, std::int32_t node,
                  const std::string& name, std::string_view verb, std::string_view key,
                  Patience patience) {
  for (const std::string& limit : limits) {
    TESSERA_TRY(const bool is_below, IsBelow(name, limit, patience));
    if (is_below) return OkStatus();
  }
  std::vector<std::string> shown;
  for (const std::string& limit : limits) shown.push_back(engine::ShownName(limit));
  return PermissionDenied(
      fmt::format("n{} does not {} '{}': `jobs.{}` in its configuration has {}", node, verb,
                  engine::ShownName(name), key,
                  limits.empty() ? "no folder" : fmt::format("only {}", fmt::join(shown, ", "))));
}

}  // namespace

std::string ToText(const JobLimits& limits) {
  const std::string data = !limits.data ? "anywhere"
                           : limits.data->empty()
                               ? "only where the machine has text"
                               : fmt::format("below {}", fmt::join(*limits.data, ", "));
  const std::string checkpoints =
      !limits.checkpoints           ? "anywhere"
      : limits.checkpoints->empty() ? "nowhere"
                                    : fmt::format("below {}", fmt::join(*limits.checkpoints, ", "));
  return fmt::format("{}programs of operators, data {}, checkpoints {}", limits.exec ? "" : "no ",
                     data, checkpoints);
}

Status CheckLimits(const JobLimits& limits, std::int32_t node,
                   const engine::JobSettings& settings) {
  if (settings.program && !limits.exec) {
    return PermissionDenied(fmt::format(
        "n{} runs no programs of users: `jobs.exec` is false in its configuration", node));
  }
  if (!limits.data) return OkStatus();
  for (const std::string& text : settings.data) {
    TESSERA_TRY(const engine::WeightedPath weighted, engine::ParseWeightedPath(text));
    TESSERA_RETURN_IF_ERROR(
        CheckBelow(*limits.data, node, weighted.path, "read", "data", kLoopPatience));
  }
  return OkStatus();
}

Status CheckTrainer(bool is_gpu, ptc::DeviceId device, const engine::JobSettings& settings) {
  if (!is_gpu || settings.program) return OkStatus();
  return FailedPrecondition(
      fmt::format("the built-in trainer computes on the CPU, and {} is a CUDA device: start a "
                  "program that computes there instead, such as plain.py of the examples with "
                  "PyTorch",
                  ToString(device)));
}

Status CheckCheckpoint(const JobLimits& limits, std::int32_t node, const std::string& path,
                       Patience patience) {
  if (!engine::IsUrl(path) && !fs::path(path).is_absolute()) {
    return InvalidArgument(fmt::format("path '{}' of a checkpoint is not absolute", path));
  }
  if (!limits.checkpoints) return OkStatus();
  return CheckBelow(*limits.checkpoints, node, path, "use", "checkpoints", patience);
}

}  // namespace tessera::agents
