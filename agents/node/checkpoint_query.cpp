// SPDX-License-Identifier: Apache-2.0
#include "agents/node/checkpoint_query.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/node/job_limits.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {
namespace {

constexpr std::size_t kMostUnreadLines = 8;  // lines for each checkpoint

}  // namespace

Result<wire::CheckpointAnswer> AnswerCheckpointQuery(const AgentConfig& config,
                                                     const wire::CheckpointQuery& query) {
  const auto allowed = [&](const std::string& path) {
    return CheckCheckpoint(config.jobs, config.node, path, std::nullopt);
  };
  wire::CheckpointAnswer out;
  for (const std::string& path : query.examine()) {
    TESSERA_RETURN_IF_ERROR(allowed(path));
    const checkpoint::FoundCheckpoint found = ExamineCheckpointAt(path);
    wire::CheckpointAnswer::Found* const row = out.add_found();
    Encode(EntryOf(found), row->mutable_info());
    if (!found.manifest || !query.with_manifests()) continue;
    row->set_manifest(ToText(*found.manifest));
    const std::size_t shown = std::min<std::size_t>(found.unread.size(), kMostUnreadLines);
    for (std::size_t i = 0; i < shown; ++i) row->add_unread(found.unread[i]);
  }
  if (query.has_publish()) {
    const std::string& path = query.publish().path();
    const std::string& partial = query.publish().partial();
    TESSERA_RETURN_IF_ERROR(allowed(path));
    TESSERA_RETURN_IF_ERROR(allowed(partial));
    TESSERA_TRY(const checkpoint::Manifest manifest,
                checkpoint::ParseManifest(query.publish().manifest(), path));
    TESSERA_RETURN_IF_ERROR(checkpoint::Publish(path, partial, manifest));
  }
  if (!query.remove().empty()) {
    TESSERA_RETURN_IF_ERROR(allowed(query.remove()));
    const auto removed = checkpoint::RemoveSaved(query.remove());
    const bool is_missing = !removed && removed.error().code == ErrorCode::kNotFound;
    if (!removed && !is_missing) return removed.error();
    out.set_removed(is_missing ? 0 : *removed);
    out.set_missing(is_missing);
  }
  return out;
}

}  // namespace tessera::agents
