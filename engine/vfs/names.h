// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The grammar of the tree: the names in each folder.
///
///     jobs/JOB/epoch step layout.json
///     jobs/JOB/ranks/R/model.safetensors optimizer.safetensors
///     jobs/JOB/full/model.safetensors optimizer.safetensors
///     jobs/JOB/data/D/00000010.txt            D: data-parallel rank (data_folder.h)

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/formats/share_file.h"
#include "engine/vfs/file_plan.h"
#include "engine/vfs/job_facts.h"

namespace tessera::engine::vfs {

/// What a path names. Folders precede files.
enum class NodeKind : std::uint8_t {
  kRoot,
  kJobs,
  kJob,
  kRanks,
  kRank,
  kFull,
  kData,
  kDataRank,
  kEpoch,  // files from here on
  kStep,
  kLayout,
  kState,
  kIncoming,  // ranks/R/model.safetensors.new: other programs write it, see incoming.h
  kScratch,   // ranks/R/NAME: becomes one of those by a rename
  kShare,
};

/// The meaning of a path, whether or not something exists there.
struct NodeKey {
  NodeKind kind = NodeKind::kRoot;
  std::string job = {};                      // below jobs/
  std::optional<int> rank = {};              // below ranks/R/ and data/D/; nullopt below full/
  StateFile state_file = StateFile::kModel;  // of kState, kIncoming
  std::int64_t step = 0;                     // of kShare
  engine::ShareEnding ending{};              // of kShare
  std::string scratch = {};                  // name of kScratch
  friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
};

inline bool IsFolder(const NodeKey& key) { return key.kind < NodeKind::kEpoch; }
/// The folder that contains it; for the root, the root.
NodeKey ParentOf(const NodeKey& key);

struct Child {
  std::string name;
  NodeKey key;
};

/// Data-parallel ranks of the job.
int NumReaders(const JobFacts& facts);

/// Lists a folder other than jobs/ and data/D.
/// \param facts of the job, or nullptr above jobs/JOB
/// \pre IsFolder(folder), folder.kind is neither kJobs nor kDataRank
std::vector<Child> ChildrenOf(const NodeKey& folder, const JobFacts* facts);
/// The child with this name. Faster than ChildrenOf.
std::optional<NodeKey> ChildNamed(const NodeKey& folder, std::string_view name,
                                  const JobFacts* facts);

/// The content of a text file.
/// \pre `kind` is kEpoch, kStep or kLayout
ContentPtr TextAt(NodeKind kind, const JobFacts& facts);

}  // namespace tessera::engine::vfs
