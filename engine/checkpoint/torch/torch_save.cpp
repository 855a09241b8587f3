// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/torch_save.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "engine/checkpoint/folder_names.h"
#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/index.h"
#include "engine/checkpoint/torch/torch_file.h"
#include "engine/checkpoint/torch/value_json.h"
#include "engine/files/absolute_path.h"
#include "ptc/base/utf8.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;
using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::string_view kModel = "pytorch_model.bin";
constexpr std::string_view kModelIndex = "pytorch_model.bin.index.json";
constexpr std::string_view kBin = ".bin";
constexpr std::size_t kMaxPathName = 4096;
constexpr std::size_t kMaxText = std::size_t{1} << 26;  // bytes of all names and metadata together

/// Adds the tensors of one file to a checkpoint.
class StateWalk {
 public:
  StateWalk(const TorchFile& file, int index, Contents& contents)
      : file_(file), index_(index), contents_(contents) {}

  Status Add(Value value, const std::string& name, int depth);
  /// SavedTensor::storage of the tensors that were added.
  const std::set<std::size_t>& storages() const { return storages_; }

 private:
  Status AddItems(Value value, const std::string& name, int depth);
  Status AddTensor(Value value, const std::string& name, const SavedTensor& saved);
  /// Names an object of a class that is not known.
  Status AddUnknown(Value value, const std::string& name);
  /// Whether a value contains a tensor.
  Result<bool> HasTensor(Value value, int depth);
  Status Visit(Value value, int depth);
  Status CountText(Value value, std::size_t size);

  const TorchFile& file_;
  const int index_;
  Contents& contents_;
  std::int64_t left_ = WalkLimits::kVisits;
  std::size_t num_text_bytes_ = 0;
  std::set<std::size_t> storages_;
};

bool IsNested(Value value) {
  return value.is(Kind::kDict) || value.is(Kind::kList) || value.is(Kind::kTuple);
}

Status StateWalk::Visit(Value value, int depth) {
  if (depth > WalkLimits::kDepth) {
    return value.At(fmt::format("values nest deeper than {}", WalkLimits::kDepth));
  }
  if (--left_ < 0) return value.At(fmt::format("more than {} values", WalkLimits::kVisits));
  return OkStatus();
}

Status StateWalk::CountText(Value value, std::size_t size) {
  num_text_bytes_ += size;
  if (num_text_bytes_ <= kMaxText) return OkStatus();
  return value.At(fmt::format("names and values make more than {} bytes of text", kMaxText));
}

Result<bool> StateWalk::HasTensor(Value value, int depth) {
  TESSERA_RETURN_IF_ERROR(Visit(value, depth));
  if (!IsNested(value)) return TorchFile::IsTensor(value);
  const std::size_t step = value.is(Kind::kDict) ? 2 : 1;
  for (std::size_t i = step - 1; i < value.size(); i += step) {
    TESSERA_TRY(const bool found, HasTensor(value[i], depth + 1));
    if (found) return true;
  }
  return false;
}

Status StateWalk::AddTensor(Value value, const std::string& name, const SavedTensor& saved) {
  TESSERA_RETURN_IF_ERROR(CountText(value, name.size()));
  StoredTensor tensor{name, saved.dtype, saved.shape, {}};
  if (const auto elements = ptc::NumElements(saved.shape); !elements) {
    return value.At(elements.error().ToString());
  }
  if (const auto box = ptc::Box::Whole(saved.shape)) {
    tensor.boxes.push_back({*box, index_, saved.offset, saved.strides});
  }
  contents_.tensors.push_back(std::move(tensor));
  storages_.insert(saved.storage);
  return OkStatus();
}

Status StateWalk::AddItems(Value value, const std::string& name, int depth) {
  const bool is_dict = value.is(Kind::kDict);
  for (std::size_t i = 0; i < value.size(); i += is_dict ? 2 : 1) {
    std::string part = std::to_string(i);
    if (is_dict) {
      const Value key = value[i];
      if (key.is(Kind::kInteger)) {
        part = std::to_string(key.integer());
      } else if (key.is(Kind::kText) && key.text().size() <= kMaxPathName &&
                 IsPrintableUtf8(key.text())) {
        part = key.text();
      } else {
        return key.At("a key is neither printable text nor an integer");
      }
    }
    std::string path = name.empty() ? std::move(part) : fmt::format("{}.{}", name, part);
    if (path.empty() || path.size() > kMaxPathName) {
      return value.At(
          fmt::format("a tensor's name is empty or longer than {} bytes", kMaxPathName));
    }
    TESSERA_RETURN_IF_ERROR(Add(value[is_dict ? i + 1 : i], path, depth + 1));
  }
  return OkStatus();
}

Status StateWalk::Add(Value value, const std::string& name, int depth) {
  TESSERA_RETURN_IF_ERROR(Visit(value, depth));
  auto saved = file_.FindTensor(value);
  const std::string shown = name.empty() ? "tensor" : name;
  if (!saved) return std::move(saved).Context(fmt::format("tensor '{}'", Escaped(shown))).error();
  if (*saved) return AddTensor(value, shown, **saved);
  if (value.is(Kind::kObject) && value[0].global().id == Global::kUnknown) {
    return AddUnknown(value, name);
  }
  if (IsNested(value)) {
    TESSERA_TRY(const bool goes_on, HasTensor(value, depth));
    if (goes_on || name.empty()) return AddItems(value, name, depth);
  }
  auto json = ToJson(value);
  const std::string key = name.empty() ? "object" : name;
  TESSERA_RETURN_IF_ERROR(CountText(value, key.size() + (json ? json->size() : 0)));
  if (json) {
    contents_.metadata[key] = *std::move(json);
  } else {
    contents_.opaque.push_back(key);  // too large to show
  }
  return OkStatus();
}

Status StateWalk::AddUnknown(Value value, const std::string& name) {
  const KnownGlobal& what = value[0].global();
  const std::string type = fmt::format("{}.{}", Escaped(what.module), Escaped(what.name));
  if (name.empty()) {
    return value.At(fmt::format(
        "the file holds an object of {}, not a dict of tensors; save its state_dict()", type));
  }
  TESSERA_RETURN_IF_ERROR(CountText(value, name.size() + type.size()));
  contents_.opaque.push_back(fmt::format("{} ({})", name, type));
  return OkStatus();
}

Status AddFile(const fs::path& path, Contents& contents) {
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(path.string()));
  TESSERA_TRY(const TorchFile file, TorchFile::Open(ByteWindow(std::move(source))));
  const int index = static_cast<int>(contents.files.size());
  contents.files.push_back(path.string());
  StateWalk walk(file, index, contents);
  TESSERA_RETURN_IF_ERROR(walk.Add(file.root(), "", 0));
  const std::string unread = file.UnreadStorages(walk.storages());
  if (unread.empty()) return OkStatus();
  if (walk.storages().empty()) {
    return file.root().At(fmt::format("no tensor is found, {}; save a dict of tensors", unread));
  }
  contents.unread.push_back(fmt::format("'{}': {}", Printable(path.filename().string()), unread));
  return OkStatus();
}

/// Adds the files that an index names. Each must hold the tensors that the index assigns to it.
Status AddIndexedFiles(const fs::path& folder, const Index& index, Contents& contents) {
  std::map<std::string_view, std::vector<std::pair<std::string_view, std::int64_t>>> files;
  for (const auto& [tensor, entry] : index.tensors)
    files[entry.file].emplace_back(tensor, entry.at);
  for (const auto& [file, expected] : files) {
    const std::size_t first = contents.tensors.size();
    TESSERA_RETURN_IF_ERROR(AddFile(folder / file, contents));
    std::vector<std::string_view> held;
    for (std::size_t i = first; i < contents.tensors.size(); ++i) {
      held.push_back(contents.tensors[i].name);
    }
    std::ranges::sort(held);
    for (const auto& [tensor, at] : expected) {
      if (std::ranges::binary_search(held, tensor)) continue;
      return ErrorAt(index.path, at,
                     fmt::format("tensor '{}' is not in '{}'", Escaped(tensor), Escaped(file)));
    }
  }
  return OkStatus();
}

/// Whether a trainer (transformers, accelerate) saves this file next to a model, for its own state:
/// optimizer.bin, optimizer_1.bin, …
bool IsOfTrainer(std::string_view name) {
  constexpr std::array kStems = {"training_args", "optimizer", "scheduler", "sampler",
                                 "dl_state_dict"};
  name.remove_suffix(std::min(name.size(), kBin.size()));
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end != std::string_view::npos && end + 1 < name.size() && name[end] == '_') {
    name = name.substr(0, end);
  }
  return std::ranges::find(kStems, name) != kStems.end();
}

/// Finds the parts of a model that the folder has, but that were not read.
Status FindUnread(const fs::path& folder, std::string_view why, Contents& contents) {
  TESSERA_TRY(std::vector<std::string> passed, NamesEndingIn(folder.string(), kBin));
  std::erase_if(passed, [](const std::string& name) { return !IsOfTrainer(name); });
  for (const std::string& path : contents.files) {
    passed.push_back(fs::path(path).filename().string());
  }
  TESSERA_TRY(auto lines, UnreadFiles(folder.string(), kBin, std::move(passed), why));
  std::ranges::move(lines, std::back_inserter(contents.unread));
  return OkStatus();
}

}  // namespace

Result<Contents> ReadTorchSaveFile(const std::string& path) {
  const fs::path file = engine::AbsolutePath(path);
  Contents contents{Format::kTorchSave, file.string(), {}, {}};
  TESSERA_RETURN_IF_ERROR(AddFile(file, contents));
  return contents;
}

Result<Contents> ReadTorchSaveFolder(const std::string& path) {
  const fs::path folder = engine::AbsolutePath(path);
  Contents contents{Format::kTorchSave, folder.string(), {}, {}};
  const fs::path index_path = folder / kModelIndex;
  std::error_code error;
  if (!fs::exists(index_path, error)) {
    TESSERA_RETURN_IF_ERROR(AddFile(folder / kModel, contents));
    TESSERA_RETURN_IF_ERROR(
        FindUnread(folder, fmt::format("without {} only {} is", kModelIndex, kModel), contents));
    return contents;
  }
  TESSERA_TRY(const FilePtr file, File::Open(index_path.string(), File::Mode::kRead));
  TESSERA_TRY(const Index index, ReadIndex(*file));
  TESSERA_RETURN_IF_ERROR(AddIndexedFiles(folder, index, contents));
  TESSERA_RETURN_IF_ERROR(
      FindUnread(folder, fmt::format("{} does not name it", kModelIndex), contents));
  return contents;
}

}  // namespace tessera::checkpoint
