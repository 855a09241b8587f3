// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "engine/checkpoint/json_scanner.h"
#include "ptc/digest.h"
#include "ptc/layout.h"

namespace tessera::checkpoint {
namespace {

constexpr std::string_view kFormat = "tessera-checkpoint";
constexpr int kVersion = 1;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;

using Json = nlohmann::json;

/// A fraction or a number out of range is refused, because its conversion is not defined.
Result<std::int64_t> WholeNumber(const Json& json, const char* key) {
  const Json& value = json.at(key);
  const bool is_number = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMostNumber);
  if (is_number) return static_cast<std::int64_t>(value.get<std::uint64_t>());
  return InvalidArgument(fmt::format("'{}' is {}, not a number from 0 to {}", key,
                                     Printable(value.dump()), kMostNumber));
}

/// Names need no escapes in a URL, so that they mean the same file everywhere.
bool IsPlainName(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && !name.starts_with('.') && std::ranges::all_of(name, is_plain);
}

Result<Manifest::Tensor> TensorOf(const Json& row) {
  Manifest::Tensor out;
  out.name = row.at("name").get<std::string>();
  TESSERA_TRY(out.dtype, ptc::ParseDType(row.at("dtype").get<std::string>()));
  out.shape = row.at("shape").get<ptc::Shape>();
  TESSERA_RETURN_IF_ERROR(ptc::NumElements(out.shape));
  TESSERA_TRY(out.digest, ptc::ParseHex16(row.at("digest").get<std::string>()));
  if (const auto role = row.find("role"); role != row.end()) {
    TESSERA_TRY(out.role, ptc::ParseTensorRole(role->get<std::string>()));
  }
  if (const auto aliases = row.find("aliases"); aliases != row.end()) {
    out.aliases = aliases->get<std::vector<std::string>>();
  }
  return out;
}

Result<Manifest::StoredFile> FileOf(const Json& row) {
  Manifest::StoredFile out{row.at("name").get<std::string>(), 0};
  TESSERA_TRY(out.bytes, WholeNumber(row, "bytes"));
  if (!IsPlainName(out.name)) {
    return InvalidArgument(fmt::format(
        "file name '{}' has other characters than a-z, A-Z, 0-9, -, _ and .", Printable(out.name)));
  }
  return out;
}

Result<Manifest> Parse(const Json& json) {
  if (json.value("format", "") != kFormat) {
    return InvalidArgument(fmt::format("it is no manifest of format {}", kFormat));
  }
  if (const auto version = json.at("version").get<std::int64_t>(); version != kVersion) {
    return InvalidArgument(
        fmt::format("it has version {}, this program reads {}", version, kVersion));
  }
  if (const auto known = json.at("digest_algorithm").get<std::string>();
      known != ptc::kDigestAlgorithm) {
    return InvalidArgument(fmt::format("its digests are '{}', this program compares '{}'",
                                       Printable(known), ptc::kDigestAlgorithm));
  }
  Manifest out;
  out.job = json.at("job").get<std::string>();
  TESSERA_TRY(out.step, WholeNumber(json, "step"));
  TESSERA_TRY(out.timeline, WholeNumber(json, "timeline"));
  out.model = json.at("model").get<std::string>();
  out.mesh = json.at("mesh").get<std::string>();
  out.created = json.at("created").get<double>();
  out.settings = json.at("settings").get<std::string>();
  out.digest = json.at("digest").get<std::string>();
  TESSERA_RETURN_IF_ERROR(ptc::ParseHex16(out.digest));
  if (out.step < 0 || out.timeline < 0) {
    return InvalidArgument(
        fmt::format("step {} or timeline {} is negative", out.step, out.timeline));
  }
  std::set<std::string> names;
  for (const Json& row : json.at("tensors")) {
    TESSERA_TRY(Manifest::Tensor tensor, TensorOf(row));
    if (!names.insert(tensor.name).second) {
      return InvalidArgument(fmt::format("tensor '{}' occurs twice", Printable(tensor.name)));
    }
    out.tensors.push_back(std::move(tensor));
  }
  names.clear();
  std::int64_t total = 0;
  for (const Json& row : json.at("files")) {
    TESSERA_TRY(Manifest::StoredFile file, FileOf(row));
    if (!names.insert(file.name).second) {
      return InvalidArgument(fmt::format("file '{}' occurs twice", Printable(file.name)));
    }
    if (__builtin_add_overflow(total, file.bytes, &total)) {
      return InvalidArgument("its files have more than 2^63-1 bytes");
    }
    out.files.push_back(std::move(file));
  }
  return out;
}

}  // namespace

std::int64_t Manifest::bytes() const {
  std::int64_t total = 0;
  for (const StoredFile& file : files) total += file.bytes;
  return total;
}

std::string ToText(const Manifest& manifest) {
  Json tensors = Json::array(), files = Json::array();
  for (const Manifest::Tensor& tensor : manifest.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", std::string(ptc::ToString(tensor.dtype))},
                       {"shape", tensor.shape},
                       {"digest", ptc::Hex16(tensor.digest)}});
    if (tensor.role) tensors.back()["role"] = std::string(ptc::ToString(*tensor.role));
    if (!tensor.aliases.empty()) tensors.back()["aliases"] = tensor.aliases;
  }
  for (const Manifest::StoredFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}});
  }
  const Json json = {{"format", kFormat},
                     {"version", kVersion},
                     {"digest_algorithm", ptc::kDigestAlgorithm},
                     {"job", manifest.job},
                     {"step", manifest.step},
                     {"timeline", manifest.timeline},
                     {"model", manifest.model},
                     {"mesh", manifest.mesh},
                     {"created", manifest.created},
                     {"settings", manifest.settings},
                     {"digest", manifest.digest},
                     {"tensors", std::move(tensors)},
                     {"files", std::move(files)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<Manifest> ParseManifest(std::string_view text, const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return InvalidArgument(fmt::format("'{}': {}", path, why));
  };
  try {
    auto manifest = Parse(Json::parse(text));
    if (!manifest) return wrong(manifest.error().message);
    return manifest;
  } catch (const Json::exception& error) {
    return wrong(Printable(error.what()));
  }
}

Result<Manifest> ReadManifest(const File& file) {
  TESSERA_TRY(
      const std::string text,
      file.ReadAll(kMaxManifestBytes, "without this file, the folder is a plain sharded folder"));
  return ParseManifest(text, file.path());
}

Result<Manifest> ReadManifest(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / kManifestName).string();
  const auto file = File::Open(path, File::Mode::kRead);
  if (file) return ReadManifest(**file);
  if (file.error().code != ErrorCode::kNotFound) return file.error();
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    return NotFound(fmt::format("'{}' does not exist", folder));
  }
  return NotFound(
      fmt::format("'{}' is no complete checkpoint: it has no {}", folder, kManifestName));
}

Status CheckFiles(const std::string& folder, const Manifest& manifest) {
  for (const Manifest::StoredFile& file : manifest.files) {
    std::error_code error;
    const std::string path = (std::filesystem::path(folder) / file.name).string();
    const auto size = std::filesystem::file_size(path, error);
    if (error) return DataLoss(fmt::format("'{}' cannot be examined: {}", path, error.message()));
    if (static_cast<std::int64_t>(size) != file.bytes) {
      return DataLoss(
          fmt::format("'{}' has {} bytes, the manifest says {}", path, size, file.bytes));
    }
  }
  return OkStatus();
}

}  // namespace tessera::checkpoint
