// SPDX-License-Identifier: Apache-2.0
#include "agents/checkpoint/checkpoint_place.h"

#include <memory>
#include <utility>

#include "agents/data/http_source.h"
#include "agents/http/http_client.h"
#include "engine/data/is_url.h"

namespace tessera::agents {
namespace {

checkpoint::FileOpener OpenerOfUrls() {
  return [files = std::make_shared<const HttpFiles>()](
             const std::string& url) -> Result<checkpoint::FilePtr> {
    TESSERA_TRY(engine::ByteSourcePtr source, files->Open(url));
    return checkpoint::File::Over(std::move(source));
  };
}

}  // namespace

Result<std::shared_ptr<const checkpoint::Checkpoint>> OpenCheckpointAt(const std::string& place) {
  if (engine::IsUrl(place)) return checkpoint::OpenSaved(place, OpenerOfUrls());
  return checkpoint::OpenSavedFolder(place);
}

std::string ShownPlace(const std::string& place) { return engine::ShownName(place); }

checkpoint::FoundCheckpoint ExamineCheckpointAt(const std::string& place) {
  if (!engine::IsUrl(place)) return checkpoint::Examine(place);
  checkpoint::FoundCheckpoint out{place, {}, {}, {}};
  auto manifest = checkpoint::ReadManifestAt(place, OpenerOfUrls());
  if (manifest) {
    out.manifest = std::move(*manifest);
  } else {
    out.problem = manifest.error().message;
  }
  return out;
}

engine::CheckpointEntry EntryOf(const checkpoint::FoundCheckpoint& found) {
  engine::CheckpointEntry out;
  out.path = found.path;
  out.problem = found.problem;
  if (!found.manifest) return out;
  const checkpoint::Manifest& manifest = *found.manifest;
  out.job = manifest.job;
  out.step = manifest.step;
  out.timeline = manifest.timeline;
  out.bytes = manifest.bytes();
  out.model = manifest.model;
  out.mesh = manifest.mesh;
  out.digest = manifest.digest;
  out.created = manifest.created;
  return out;
}

}  // namespace tessera::agents
