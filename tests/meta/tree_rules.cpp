// SPDX-License-Identifier: Apache-2.0
#include "tests/meta/tree_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

#include "engine/files/whole_file.h"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

/// Layer -> layers whose headers it may include.
const std::map<std::string, std::string, std::less<>> kMayInclude = {
    {"ptc", "ptc"},
    {"engine", "ptc engine"},
    {"agents", "ptc engine agents"},
    {"ui", "ptc engine ui"},
    {"app", "ptc engine agents ui app"},
    {"tests", "ptc engine agents ui app tests"},
};

/// Headers of a library, or calls, and the folders (or files) that may have them.
struct Confined {
  const char* what;  // regular expression for the whole name, or for the call
  std::vector<std::string> where;
};
const std::array<Confined, 8> kConfined = {{
    {"Q[A-Z].*|Qt[A-Z].*", {"ui/", "app/", "tests/"}},
    {"zmq.*\\.h(pp)?", {"agents/net/"}},
    {"torch/.*|ATen/.*|c10/.*|c10d/.*", {"agents/train/", "tests/"}},
    {"cuda.*\\.h|nccl\\.h", {"agents/gpu/", "tests/agents/gpu/"}},
    {"agents/gpu/(driver_api|nccl_api|cell_plan|kernels/cell_work)\\.h", {"agents/gpu/", "tests/"}},
    {"fuse.*\\.h", {"agents/fuse/"}},
    {"qcustomplot\\.h", {"ui/plots/"}},
    {"curl/.*", {"agents/http/"}},
}};

/// Ways to host addresses of a device's memory, which a GPU does not have: those of cells, and of
/// arenas that are called so. All else goes through DeviceMemory.
const std::array<Confined, 2> kHostAddresses = {{
    {"(\\.|->)InPlace\\(",
     {"engine/copy/", "agents/move/follow.cpp", "agents/move/mover_snapshot.cpp",
      "agents/net/lane_server.cpp", "tests/"}},
    {"\\barena(\\(\\))?(\\.|->)AddressOf\\(",
     {"engine/", "agents/job/", "agents/move/page_warmer.cpp", "tests/"}},
}};

bool IsInside(std::string_view path, const Confined& rule) {
  return std::ranges::any_of(rule.where,
                             [&](const std::string& where) { return path.starts_with(where); });
}

std::string FirstFolder(std::string_view path) {
  return std::string(path.substr(0, path.find('/')));
}

bool Contains(std::string_view list, std::string_view word) {
  std::istringstream words{std::string(list)};
  for (std::string each; words >> each;)
    if (each == word) return true;
  return false;
}

bool IsCode(std::string_view path) { return path.ends_with(".h") || path.ends_with(".cpp"); }

/// Whether the file must name its licence. Pictures, data and pages need not.
bool MustNameLicence(std::string_view path) {
  static constexpr std::array<std::string_view, 8> kKinds = {
      ".c", ".proto", ".cmake", ".sh", ".py", ".sql", ".svg", "CMakeLists.txt"};
  const bool is_script = path.starts_with("packaging/") &&
                         path.find('.') == std::string_view::npos && !path.ends_with("/copyright");
  return IsCode(path) || is_script ||
         std::ranges::any_of(kKinds, [&](std::string_view kind) { return path.ends_with(kind); });
}

}  // namespace

std::vector<std::string> CheckSource(const std::string& path, std::string_view text) {
  std::vector<std::string> complaints;
  const auto complain = [&](int line, const std::string& what) {
    complaints.push_back(path + ":" + std::to_string(line) + ": " + what);
  };
  const std::string layer = FirstFolder(path);
  const std::string licence = layer == "ui" || layer == "app" ? "GPL-3.0-or-later" : "Apache-2.0";
  const std::string spdx = "SPDX-License-Identifier: ";
  const std::string_view head = text.substr(0, 200);
  const std::size_t named = head.find(spdx);
  if (named == std::string_view::npos && MustNameLicence(path))
    complain(1, "no line '" + spdx + licence + "' at the beginning");
  if (named != std::string_view::npos && !head.substr(named + spdx.size()).starts_with(licence))
    complain(1, "names another licence than its folder's, " + licence);
  if (!IsCode(path)) return complaints;
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  const bool is_c = has("extern \"C\"");  // a C header has an include guard
  if (path.ends_with(".h") && !has("#pragma once") && !(is_c && has("#ifndef ")))
    complain(1, "no #pragma once");
  if (path.ends_with(".h") && !has("/// \\file") && !is_c) complain(1, "no /// \\file comment");

  static const std::regex kInclude("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  static const auto host_addresses = [] {
    std::vector<std::pair<const Confined*, std::regex>> rules;
    for (const Confined& rule : kHostAddresses) rules.emplace_back(&rule, rule.what);
    return rules;
  }();
  const auto allowed = kMayInclude.find(layer);
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (const auto& [rule, pattern] : host_addresses) {
      if (!IsInside(path, *rule) && std::regex_search(line, pattern))
        complain(number, "takes a host address of a device's memory");
    }
    std::smatch match;
    if (!std::regex_match(line, match, kInclude)) continue;
    const std::string name = match[2];
    const std::string target = FirstFolder(name);
    const bool ours = name.find('/') != std::string::npos && kMayInclude.contains(target);
    if (ours && allowed != kMayInclude.end() && !Contains(allowed->second, target))
      complain(number, layer + " must not include " + name);
    if (match[1] == "\"" && !ours && !name.ends_with(".moc"))
      complain(number, "'" + name + "' is not named from the root of the tree");
    for (const Confined& rule : kConfined) {
      if (!std::regex_match(name, std::regex(rule.what))) continue;
      if (!IsInside(path, rule))
        complain(number, name + " may be included in " + rule.where[0] + " only");
    }
  }
  return complaints;
}

std::vector<std::string> CheckTree(const fs::path& root, int* num_files) {
  std::vector<std::string> complaints;
  std::vector<std::string> paths;
  for (const char* folder :
       {"ptc", "engine", "agents", "ui", "app", "tests", "packaging", "resources"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file()) paths.push_back(fs::relative(entry.path(), root).string());
  std::ranges::sort(paths);
  *num_files = 0;
  for (const std::string& path : paths) {
    if (path.ends_with(".png")) continue;
    ++*num_files;
    const auto text = engine::ReadWholeFile(root / path);
    if (!text) complaints.push_back(text.error().ToString());
    for (std::string& line : CheckSource(path, text.value_or("")))
      complaints.push_back(std::move(line));
  }
  return complaints;
}

}  // namespace tessera::test
