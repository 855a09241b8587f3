// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/cluster_choice.h"
#include "app/commands/local_cluster.h"
#include "app/commands/outcome.h"
#include "engine/files/absolute_path.h"
#include "engine/files/file_or_name.h"

namespace tessera::app {
namespace {

Error notRunning(const std::string& name) {
  return Unavailable(fmt::format(
      "cluster '{}' is not running; `tesseractl up --cluster {}` starts it", name, name));
}

}  // namespace

Result<agents::Profile> findProfile(const std::string& named) {
  TESSERA_TRY(const std::string chosen, clusterOf(named));
  auto profile = agents::LoadProfile(chosen);
  if (profile || profile.error().code != ErrorCode::kNotFound || !hasFolder(chosen)) return profile;
  if (isRunning(localClusterFolder(chosen)))
    return Unavailable(fmt::format(
        "cluster '{}' has not been started completely; `tesseractl down --cluster {}` ends it",
        chosen, chosen));
  return notRunning(chosen);
}

bool hasFolder(const std::string& name) {
  std::error_code ignored;
  return !engine::IsPath(name) && std::filesystem::is_directory(localClusterFolder(name), ignored);
}

std::string nameElsewhere(const std::string& named, const agents::Profile& found) {
  return engine::IsPath(named) ? engine::AbsolutePath(named) : found.name;
}

Result<Session> openSession(const Invocation& call) {
  TESSERA_TRY(auto profile, findProfile(call.cluster));
  return openSession(std::move(profile), call.timeout);
}

Result<Session> openSession(agents::Profile profile,
                            std::optional<std::chrono::milliseconds> limit) {
  if (!profile.directory.empty() && !isRunning(profile.directory))
    return notRunning(profile.cluster_name());
  TESSERA_TRY(auto client, agents::ClusterClient::OpenForCommands(
                               profile, limit.value_or(agents::kListenPatience)));
  return Session{std::move(profile), std::move(client), limit};
}

Result<wire::Reply> Session::ask(wire::Request request, std::chrono::milliseconds timeout) {
  const auto shows = whatShows(request);
  const auto trace = std::make_shared<agents::CallTrace>();
  if (limit) timeout = timeout < kAnswerTimeout ? std::min(timeout, *limit) : *limit;
  auto reply = client->CallAndWait(std::move(request), timeout, trace);
  if (!reply && shows && trace->is_lost()) return lostOutcome(reply.error(), *shows);
  if (reply && !reply->operated_by().empty() && !std::exchange(noted, true))
    fmt::print(stderr, "note: a panel operates this cluster ({})\n", reply->operated_by());
  return reply;
}

Result<engine::ClusterSnapshot> Session::snapshot(std::chrono::milliseconds timeout) {
  wire::Request request;
  request.mutable_status();
  TESSERA_TRY(const auto reply, ask(std::move(request), timeout));
  return agents::Decode(reply.status());
}

Result<wire::Reply> askOnce(const Invocation& call, wire::Request request,
                            std::chrono::milliseconds timeout) {
  TESSERA_TRY(auto session, openSession(call));
  return session.ask(std::move(request), timeout);
}

}  // namespace tessera::app
