// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The grammar of the tree: which names stand below which folder.
///
///     jobs/JOB/epoch step layout.json
///     jobs/JOB/ranks/R/model.safetensors optimizer.safetensors
///     jobs/JOB/full/model.safetensors optimizer.safetensors
///     jobs/JOB/data/D/00000010.txt                            D: data-parallel rank
///     (data_folder.h)

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/formats/share_file.h"
#include "engine/vfs/file_plan.h"
#include "engine/vfs/job_facts.h"

namespace tessera::engine::vfs {

enum class Place : std::uint8_t {
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
  kIncoming,  // ranks/R/model.safetensors.new: written by others, see incoming.h
  kScratch,   // ranks/R/NAME: what becomes one of those when it is renamed
  kShare,
};

/// What a path means, whatever stands there now.
struct NodeKey {
  Place place = Place::kRoot;
  std::string job = {};          // below jobs/
  std::optional<int> rank = {};  // below ranks/R/ and data/R/; none: of the whole
  Part part = Part::kModel;      // of kState, kIncoming
  std::int64_t step = 0;         // of kShare
  engine::ShareEnding ending{};  // of kShare
  std::string scratch = {};      // name of kScratch
  friend auto operator<=>(const NodeKey&, const NodeKey&) = default;
};

inline bool IsFolder(const NodeKey& key) { return key.place < Place::kEpoch; }
/// The folder that it stands in; the root's is the root.
NodeKey ParentOf(const NodeKey& key);

struct Child {
  std::string name;
  NodeKey key;
};

/// Data-parallel ranks of the job.
int NumReaders(const JobFacts& facts);

/// What stands in a folder other than jobs/ and data/R. \param facts of the job, or nullptr above
/// jobs/JOB \pre IsFolder(folder), folder.place is neither kJobs nor kDataRank
std::vector<Child> ChildrenOf(const NodeKey& folder, const JobFacts* facts);
/// That of `name` among them, without making the others.
std::optional<NodeKey> ChildNamed(const NodeKey& folder, std::string_view name,
                                  const JobFacts* facts);

/// The text of a file that is there in memory. \pre `place` is kEpoch, kStep or kLayout
ContentPtr TextAt(Place place, const JobFacts& facts);

}  // namespace tessera::engine::vfs
