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

/// The tensors of one file, by the names of its entries.
struct FileContents {
  std::vector<FileTensor> tensors;
  std::map<std::string, FilePlan::Entry, std::less<>> entries;
  std::map<std::string, std::string> tensor_of;  // of entries with another name than their tensor
};

void AddEntry(FileContents& contents, const ptc::TensorSpec& spec, int tensor, std::string name,
              LocalTensor held) {
  const ptc::Shape shape = held.boxes().empty() ? spec.shape : held.shape();
  contents.tensors.push_back({.name = name, .dtype = spec.dtype, .shape = shape});
  contents.entries[std::move(name)] = {tensor, std::move(held), ptc::SizeBytes(spec.dtype), 0, 0};
}

void AddWhole(FileContents& contents, const ptc::TensorSpec& spec, int tensor) {
  const auto whole = ptc::Box::Whole(spec.shape);
  AddEntry(contents, spec, tensor, spec.name, whole ? LocalTensor(*whole) : LocalTensor());
}

/// Adds one entry if the boxes form one local tensor, otherwise one for each box.
void AddHeld(FileContents& contents, const ptc::TensorSpec& spec, int tensor,
             const std::vector<ptc::Box>& boxes) {
  if (boxes.empty()) return;
  if (auto joined = LocalTensor::Join(boxes, spec)) {
    AddEntry(contents, spec, tensor, spec.name, std::move(*joined));
    return;
  }
  for (const ptc::Box& box : boxes) {
    const std::string name = spec.name + ToString(box);
    contents.tensor_of.emplace(name, spec.name);
    AddEntry(contents, spec, tensor, name, LocalTensor(box));
  }
}

/// Names the first index of each entry, or, if an entry has several boxes, the boxes of all.
void AddBoxes(std::map<std::string, std::string>& metadata, const FileContents& contents) {
  bool is_joined = false;
  for (const auto& [name, entry] : contents.entries) is_joined |= entry.held.boxes().size() > 1;
  if (!is_joined) {
    checkpoint::Offsets offsets;
    for (const auto& [name, entry] : contents.entries) {
      const ptc::Box& box = entry.held.boxes().front();
      std::vector<std::int64_t>& begin = offsets[name];
      for (int d = 0; d < box.rank(); ++d) begin.push_back(box[d].begin);
    }
    metadata[std::string(checkpoint::kShardingKey)] = checkpoint::PrintOffsets(offsets);
    return;
  }
  std::string text;
  for (const auto& [name, entry] : contents.entries) {
    text += text.empty() ? '{' : ',';
    checkpoint::AppendJsonString(text, name);
    text += ":[";
    for (const ptc::Box& box : entry.held.boxes()) {
      if (text.back() != '[') text += ',';
      checkpoint::AppendJsonString(text, ToString(box));
    }
    text += ']';
  }
  metadata["tessera.boxes"] = text + '}';
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

/// Adds the values that change from step to step.
void AddPosition(std::map<std::string, std::string>& metadata, std::int64_t epoch,
                 std::int64_t timeline, std::int64_t step) {
  metadata["tessera.epoch"] = fmt::to_string(epoch);
  metadata["tessera.timeline"] = fmt::to_string(timeline);
  metadata["tessera.step"] = fmt::to_string(step);
}

}  // namespace

StateFile StateFileOf(ptc::TensorRole role) {
  return role == ptc::TensorRole::kParam || role == ptc::TensorRole::kBuffer
             ? StateFile::kModel
             : StateFile::kOptimizer;
}

Result<FilePlan> FilePlan::Make(const JobInfo& job, std::optional<int> rank, StateFile file) {
  FileContents contents;
  std::map<std::string, std::string> metadata;
  const auto& specs = job.layout.collection().tensors();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const ptc::TensorSpec& spec = specs[t];
    const int tensor = static_cast<int>(t);
    if (StateFileOf(spec.role) != file) continue;
    if (rank) {
      AddHeld(contents, spec, tensor, job.layout.Boxes(*rank, tensor));
      continue;
    }
    AddWhole(contents, spec, tensor);
    for (const std::string& alias : spec.aliases) metadata.emplace(alias, spec.name);
  }
  TESSERA_RETURN_IF_ERROR(checkpoint::AssignOffsets(contents.tensors));

  metadata["format"] = "pt";
  metadata["tessera.job"] = job.name;
  metadata["tessera.layout"] = ptc::Hex16(job.layout.hash());
  if (rank) {
    metadata["tessera.rank"] = fmt::to_string(*rank);
    AddBoxes(metadata, contents);
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
    Entry& entry = plan.entries_.emplace_back(std::move(contents.entries.at(tensor.name)));
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
