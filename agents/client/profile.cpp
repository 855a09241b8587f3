// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "agents/client/cluster.h"
#include "engine/files/file_or_name.h"
#include "engine/files/whole_file.h"
#include "ptc/base/short_name.h"

namespace tessera::agents {
namespace {

struct Field {
  const char* key;
  std::string Profile::*member;
  bool required;
};
constexpr Field kFields[] = {
    {"name", &Profile::name, true},
    {"registrar", &Profile::registrar_endpoint, true},
    {"events", &Profile::events_endpoint, true},
    {"server_key", &Profile::server_key, true},
    {"key_file", &Profile::key_file, true},
    {"directory", &Profile::directory, false},
    {"cluster", &Profile::cluster, false},
};

/// The only key that is not a string. It is stored unchanged for its readers.
constexpr const char* kCalibration = "calibration";

Result<nlohmann::json> Parse(const std::string& text, const std::string& path) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    return InvalidArgument(path + ":" + std::to_string(line) + ": not JSON");
  }
}

}  // namespace

std::string ProfilePath(const std::string& name) {
  return TesseraHome() + "/profiles/" + name + ".json";
}

Result<Profile> LoadProfile(const std::string& name_or_path) {
  const bool is_path = engine::IsPath(name_or_path);
  if (!is_path && !IsShortName(name_or_path)) {
    return InvalidArgument("profile name '" + name_or_path + "' is not [a-z0-9][a-z0-9-]{0,62}");
  }
  const std::string path = is_path ? name_or_path : ProfilePath(name_or_path);
  const auto text = engine::ReadWholeFile(path);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return NotFound(is_path ? "no profile file " + path
                            : "no profile '" + name_or_path + "': no file " + path);
  }
  if (!text) return text.error();
  TESSERA_TRY(const nlohmann::json json, Parse(*text, path));
  if (!json.is_object()) return InvalidArgument(path + ": not a JSON object");

  Profile profile;
  for (const auto& [key, value] : json.items()) {
    if (key == kCalibration) {
      if (!value.is_object()) {
        return InvalidArgument(path + ": key '" + key + "' is not an object");
      }
      profile.calibration = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      continue;
    }
    const auto* field =
        std::find_if(std::begin(kFields), std::end(kFields),
                     [&key = key](const Field& candidate) { return key == candidate.key; });
    if (field == std::end(kFields)) return InvalidArgument(path + ": unknown key '" + key + "'");
    if (!value.is_string()) return InvalidArgument(path + ": key '" + key + "' is not a string");
    profile.*field->member = value.get<std::string>();
  }
  for (const Field& field : kFields) {
    if (field.required && (profile.*field.member).empty()) {
      return InvalidArgument(path + ": key '" + field.key + "' is missing");
    }
  }
  return profile;
}

Status SaveProfile(const Profile& profile) {
  if (!IsShortName(profile.name)) {
    return InvalidArgument("profile name '" + profile.name + "' is not [a-z0-9][a-z0-9-]{0,62}");
  }
  nlohmann::ordered_json json;
  if (!profile.cluster.empty() && !IsShortName(profile.cluster)) {
    return InvalidArgument("cluster name '" + profile.cluster + "' is not [a-z0-9][a-z0-9-]{0,62}");
  }
  for (const Field& field : kFields) {
    // Programs before this key refuse it, so it is there only where it says something.
    const bool says_nothing =
        field.member == &Profile::cluster && profile.cluster_name() == profile.name;
    if (!says_nothing) json[field.key] = profile.*field.member;
  }
  if (!profile.calibration.empty()) {
    const auto calibration = nlohmann::ordered_json::parse(profile.calibration, nullptr, false);
    if (!calibration.is_object()) {
      return InvalidArgument("profile '" + profile.name + "': calibration is not a JSON object");
    }
    json[kCalibration] = calibration;
  }
  const std::string text =
      json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";

  const std::string path = ProfilePath(profile.name);
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::filesystem::create_directories(folder, failure)) ::chmod(folder.c_str(), 0700);
  if (failure) return Unavailable("cannot make '" + folder.string() + "': " + failure.message());
  return engine::WriteWholeFile(path, text, 0600);
}

}  // namespace tessera::agents
