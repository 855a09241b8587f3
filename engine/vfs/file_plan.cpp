// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/file_plan.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <utility>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/notes.h"

namespace tessera::engine::vfs {
namespace {

using checkpoint::FileTensor;

/// What one file holds, by the names of its entries.
struct Contents {
  std::vector<FileTensor> tensors;
  std::map<std::string, FilePlan::Entry, std::less<>> entries;
  checkpoint::Offsets offsets;                   // of the boxes' first elements
  std::map<std::string, std::string> tensor_of;  // of entries that are named otherwise
};

void AddBox(Contents& contents, const ptc::TensorSpec& spec, int tensor, const ptc::Box& box,
            bool one_of_several) {
  const std::string name = one_of_several ? spec.name + ToString(box) : spec.name;
  contents.tensors.push_back({.name = name, .dtype = spec.dtype, .shape = box.shape()});
  contents.entries[name] = {tensor, box, ptc::SizeBytes(spec.dtype), 0, 0};
  std::vector<std::int64_t> begin;
  for (int d = 0; d < box.rank(); ++d) begin.push_back(box[d].begin);
  contents.offsets.emplace(name, std::move(begin));
  if (one_of_several) contents.tensor_of.emplace(name, spec.name);
}

void AddWhole(Contents& contents, const ptc::TensorSpec& spec, int tensor) {
  contents.tensors.push_back({.name = spec.name, .dtype = spec.dtype, .shape = spec.shape});
  contents.entries[spec.name] = {tensor, ptc::Box::Whole(spec.shape), ptc::SizeBytes(spec.dtype), 0,
                                 0};
}

/// {"w[0:2,0:4]":"w"}
std::string PrintTensorOf(const std::map<std::string, std::string>& tensor_of) {
  std::string out = "{";
  for (const auto& [entry, tensor] : tensor_of) {
    if (out.size() > 1) out.push_back(',');
    checkpoint::AppendJsonString(out, entry);
    out.push_back(':');
    checkpoint::AppendJsonString(out, tensor);
  }
  return out + "}";
}

/// Adds what changes from step to step.
void AddPosition(std::map<std::string, std::string>& metadata, std::int64_t epoch,
                 std::int64_t timeline, std::int64_t step) {
  metadata["tessera.epoch"] = fmt::to_string(epoch);
  metadata["tessera.timeline"] = fmt::to_string(timeline);
  metadata["tessera.step"] = fmt::to_string(step);
}

}  // namespace

Part PartOf(ptc::TensorRole role) {
  return role == ptc::TensorRole::kParam || role == ptc::TensorRole::kBuffer ? Part::kModel
                                                                             : Part::kOptimizer;
}

Result<FilePlan> FilePlan::Make(const JobInfo& job, std::optional<int> rank, Part part) {
  Contents contents;
  std::map<std::string, std::string> metadata;
  const auto& specs = job.layout.collection().tensors();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const ptc::TensorSpec& spec = specs[t];
    const int tensor = static_cast<int>(t);
    if (PartOf(spec.role) != part) continue;
    if (!rank) {
      AddWhole(contents, spec, tensor);
      for (const std::string& alias : spec.aliases) metadata.emplace(alias, spec.name);
      continue;
    }
    const std::vector<ptc::Box> boxes = job.layout.Boxes(*rank, tensor);
    for (const ptc::Box& box : boxes) AddBox(contents, spec, tensor, box, boxes.size() > 1);
  }
  TESSERA_RETURN_IF_ERROR(checkpoint::AssignOffsets(contents.tensors));

  metadata["format"] = "pt";
  metadata["tessera.job"] = job.name;
  metadata["tessera.layout"] = ptc::Hex16(job.layout.hash());
  if (rank) {
    metadata["tessera.rank"] = fmt::to_string(*rank);
    metadata[std::string(checkpoint::kShardingKey)] = checkpoint::PrintOffsets(contents.offsets);
  }
  if (!contents.tensor_of.empty())
    metadata["tessera.tensor_of"] = PrintTensorOf(contents.tensor_of);

  FilePlan plan;
  plan.header_.tensors = std::move(contents.tensors);
  plan.header_.metadata = metadata;
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::min();
  AddPosition(metadata, kLongest, kLongest, kLongest);
  TESSERA_TRY(const std::string longest,
              checkpoint::PrintHeader({plan.header_.tensors, std::move(metadata)}, kDataAlignment));
  plan.header_.data_begin = static_cast<std::int64_t>(longest.size());
  plan.size_ = plan.header_.data_begin;
  for (const FileTensor& tensor : plan.header_.tensors) {
    Entry& entry = plan.entries_.emplace_back(contents.entries.at(tensor.name));
    entry.begin = plan.header_.data_begin + tensor.begin;
    entry.end = plan.header_.data_begin + tensor.end;
    plan.size_ = entry.end;
  }
  return plan;
}

Result<std::string> FilePlan::Header(const JobInfo& job) const {
  auto metadata = header_.metadata;
  AddPosition(metadata, job.epoch, job.timeline, job.step);
  return checkpoint::PrintHeader({header_.tensors, std::move(metadata)}, header_.data_begin);
}

}  // namespace tessera::engine::vfs
