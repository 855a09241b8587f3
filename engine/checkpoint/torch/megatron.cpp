// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/checkpoint/torch/dcp.h"
#include "engine/checkpoint/torch/json_file.h"
#include "engine/checkpoint/torch/torch_file.h"
#include "engine/checkpoint/torch/value_json.h"
#include "engine/files/absolute_path.h"
#include "ptc/base/utf8.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLatest = "latest_checkpointed_iteration.txt";
constexpr std::string_view kIteration = "iter_";
constexpr std::int64_t kMaxLatest = 64;
constexpr std::int64_t kMaxJson = std::int64_t{1} << 24;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The folder of the iteration that was finished last.
Result<fs::path> LatestIteration(const fs::path& folder) {
  const fs::path path = folder / kLatest;
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(path.string()));
  const ByteWindow window(std::move(source));
  TESSERA_TRY(std::string text,
              window.Read(0, std::min(window.size(), kMaxLatest), "the iteration"));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  if (text == "release") return folder / text;
  constexpr std::size_t kMaxDigits = 18;
  const bool is_number = !text.empty() && text.size() <= kMaxDigits &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) {
    return window.At(0, fmt::format("'{}' is neither an iteration nor 'release'", Escaped(text)));
  }
  return folder / fmt::format("{}{:07}", kIteration, std::stoll(text));
}

Status CheckBackend(const fs::path& path) {
  TESSERA_TRY(const nlohmann::json json, ReadJsonFile(path.string(), kMaxJson));
  const auto backend = json.find("sharded_backend");
  if (backend == json.end() || !backend->is_string()) {
    return ErrorAt(path.string(), 0, "there is no text 'sharded_backend'");
  }
  if (*backend != "torch_dist") {
    return ErrorAt(path.string(), 0,
                   fmt::format("sharded_backend '{}' is not 'torch_dist'",
                               Escaped(backend->get_ref<const std::string&>())));
  }
  return OkStatus();
}

Result<std::string> CommonState(const fs::path& path) {
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(path.string()));
  TESSERA_TRY(const TorchFile common, TorchFile::Open(ByteWindow(std::move(source))));
  return ToJson(common.root());
}

}  // namespace

Result<Contents> ReadMegatronFolder(const std::string& path) {
  fs::path folder = engine::AbsolutePath(path);
  if (Exists(folder / kLatest)) {
    TESSERA_TRY(folder, LatestIteration(folder));
  }
  TESSERA_RETURN_IF_ERROR(CheckBackend(folder / "metadata.json"));
  TESSERA_TRY(Contents contents, ReadDcpFolder(folder.string()));
  contents.format = Format::kMegatron;
  if (const std::string name = folder.filename().string(); name.starts_with(kIteration)) {
    const std::size_t digit = name.find_first_not_of('0', kIteration.size());
    contents.metadata["iteration"] = digit == std::string::npos ? "0" : name.substr(digit);
  }
  if (Exists(folder / "common.pt")) {
    TESSERA_TRY(contents.metadata["common"], CommonState(folder / "common.pt"));
  }
  if (const fs::path integrity = folder / "integrity.json"; Exists(integrity)) {
    TESSERA_TRY(const nlohmann::json json, ReadJsonFile(integrity.string(), kMaxJson));
    contents.metadata["integrity"] = json.dump();
  }
  return contents;
}

}  // namespace tessera::checkpoint
