// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/hugging_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "app/commands/checkpoint_options.h"
#include "app/commands/interrupt.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/name_prefix.h"
#include "engine/reshard/reshard.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using checkpoint::Manifest;

constexpr std::string_view kConfig = "config.json";
/// Larger files of a folder are weights, whatever their names are.
constexpr std::uintmax_t kLargestFile = std::uintmax_t{64} << 20;

bool isWeights(const std::string& name) {
  constexpr std::array<std::string_view, 9> kEndings = {
      ".safetensors", ".bin", ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx", ".index.json"};
  return std::ranges::any_of(kEndings, [&](const auto& ending) { return name.ends_with(ending); });
}

/// What the model has of a checkpoint: parameters, and buffers that are no state of its optimizer.
class Model {
 public:
  explicit Model(const Manifest& manifest) {
    for (const Manifest::Tensor& tensor : manifest.tensors) {
      if (tensor.role == ptc::TensorRole::kParam) m_parameters.insert(tensor.name);
    }
    for (const Manifest::Tensor& tensor : manifest.tensors) {
      if (!has(tensor)) continue;
      m_names.insert(tensor.name);
      for (const std::string& alias : tensor.aliases) m_aliases[alias] = tensor.name;
    }
  }
  const std::set<std::string>& names() const { return m_names; }
  const std::map<std::string, std::string>& aliases() const { return m_aliases; }

 private:
  bool has(const Manifest::Tensor& tensor) const {
    if (tensor.role == ptc::TensorRole::kParam) return true;
    if (tensor.role != ptc::TensorRole::kBuffer && tensor.role != ptc::TensorRole::kScalar)
      return false;
    if (tensor.name.starts_with("tessera.")) return false;
    // A parameter has no members, so "weight.momentum_buffer" is state of the optimizer.
    for (auto dot = tensor.name.rfind('.'); dot != std::string::npos && dot > 0;
         dot = tensor.name.rfind('.', dot - 1))
      if (m_parameters.contains(tensor.name.substr(0, dot))) return false;
    return true;
  }

  std::set<std::string> m_parameters, m_names;
  std::map<std::string, std::string> m_aliases;
};

Status copyFiles(const std::string& like, const std::string& to) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(like, error)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file(ignored) || name.starts_with('.') || isWeights(name) ||
        entry.file_size(ignored) > kLargestFile)
      continue;
    fs::copy_file(entry.path(), fs::path(to) / name, fs::copy_options::overwrite_existing, error);
    if (error)
      return Unavailable(fmt::format("'{}' cannot be copied to '{}': {}", entry.path().string(), to,
                                     error.message()));
  }
  if (error) return Unavailable(fmt::format("'{}': {}", like, error.message()));
  return OkStatus();
}

}  // namespace

Status checkLike(const std::string& like) {
  std::error_code ignored;
  if (!fs::is_directory(like, ignored))
    return NotFound(fmt::format("--like '{}' is no folder on this machine", like));
  if (!fs::exists(fs::path(like) / kConfig, ignored))
    return NotFound(fmt::format("--like '{}' has no {}", like, kConfig));
  return OkStatus();
}

Result<HuggingFaceFolder> writeHuggingFace(const Invocation& call, const std::string& saved,
                                           const std::string& like) {
  TESSERA_TRY(const Manifest manifest, checkpoint::ReadManifest(saved));
  if (std::ranges::none_of(manifest.tensors,
                           [](const auto& tensor) { return tensor.role.has_value(); }))
    return FailedPrecondition(
        fmt::format("'{}' does not say which of its tensors are parameters: all agents of the "
                    "cluster have to be of this version",
                    saved));
  const Model model(manifest);
  TESSERA_TRY(auto source, checkpoint::Checkpoint::Open(saved));
  source = source->Choose([&](const checkpoint::StoredTensor& tensor) {
    return model.names().contains(tensor.name);
  });
  TESSERA_TRY(source, source->WithCopies(model.aliases()));
  if (const std::string wrapper = checkpoint::WrapperPrefix(*source); !wrapper.empty()) {
    TESSERA_TRY(source, source->WithoutPrefix(wrapper));
  }

  countInterrupts();
  ByteProgress progress("writing", call.json || call.quiet ? nullptr : stdout,
                        ByteProgress::Elsewhere::kNothing);
  reshard::Options options;
  options.format = checkpoint::Format::kHuggingFace;
  options.spelling["--for"] = "huggingface";
  options.replace = true;
  options.watch = progress.watch();
  HuggingFaceFolder out;
  out.path = saved + "-huggingface";
  const auto report = reshard::Reshard(*source, out.path, options);
  progress.end();
  if (!report) return report.error();
  out.tensors = report->num_tensors;
  out.bytes = report->bytes_written;
  if (!like.empty()) TESSERA_RETURN_IF_ERROR(copyFiles(like, out.path));
  std::error_code ignored;
  out.hasConfig = fs::exists(fs::path(out.path) / kConfig, ignored);
  return out;
}

}  // namespace tessera::app
