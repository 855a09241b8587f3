// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/torch/dcp.h"
#include "engine/checkpoint/torch/sums.h"
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
constexpr std::string_view kOtherJson = "if it is not of this checkpoint, move it away";

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The folder of the latest complete iteration.
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
  TESSERA_TRY(const FilePtr file, File::Open(path.string(), File::Mode::kRead));
  TESSERA_TRY(const std::string text, file->ReadAll(kMaxFolderJson, kOtherJson));
  JsonScanner scan(text, file->path());
  bool found = false;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](const std::string& key, std::size_t at) -> Status {
    if (key != "sharded_backend") return scan.Skip();
    if (std::exchange(found, true)) return scan.Wrong(at, "'sharded_backend' appears twice");
    const std::size_t value_at = scan.Position();
    TESSERA_TRY(const std::string backend, scan.String());
    if (backend == "torch_dist") return OkStatus();
    return scan.Wrong(value_at,
                      fmt::format("sharded_backend '{}' is not 'torch_dist'", Printable(backend)));
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  if (!found) return scan.Wrong(0, "there is no text 'sharded_backend'");
  return OkStatus();
}

/// Reads a file that holds a JSON object. Returns its text unchanged.
Result<std::string> ReadJsonObject(const fs::path& path) {
  TESSERA_TRY(const FilePtr file, File::Open(path.string(), File::Mode::kRead));
  TESSERA_TRY(std::string text, file->ReadAll(kMaxFolderJson, kOtherJson));
  JsonScanner scan(text, file->path());
  TESSERA_RETURN_IF_ERROR(
      scan.Object([&](const std::string&, std::size_t) { return scan.Skip(); }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  return text;
}

/// Adds the common state as JSON, and the names of the classes in it that are not known.
Status AddCommonState(const fs::path& path, Contents& contents) {
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(path.string()));
  TESSERA_TRY(const TorchFile common, TorchFile::Open(ByteWindow(std::move(source))));
  for (const std::string& type : common.UnknownGlobals()) {
    contents.opaque.push_back(fmt::format("common.pt ({})", type));
  }
  if (const std::string line = common.UnreadStorages({}); !line.empty()) {
    contents.unread.push_back(fmt::format("'common.pt': {}", line));
  }
  auto json = ToJson(common.root());
  if (json) {
    contents.metadata["common"] = *std::move(json);
  } else {
    contents.opaque.emplace_back("common.pt");  // too large to show
  }
  return OkStatus();
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
    TESSERA_RETURN_IF_ERROR(AddCommonState(folder / "common.pt", contents));
  }
  if (const fs::path integrity = folder / "integrity.json"; Exists(integrity)) {
    TESSERA_TRY(contents.metadata["integrity"], ReadJsonObject(integrity));
  }
  return contents;
}

}  // namespace tessera::checkpoint
