// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/key_files.h"

#include <fmt/format.h>

#include <system_error>

#include "agents/client/cluster.h"
#include "agents/net/socket.h"
#include "app/commands/paths.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path ownKeyFolder() { return agents::TesseraHome() + "/keys"; }

Result<NewKeyPair> makeKeyPair(const fs::path& folder, const std::string& name,
                               const std::string& role, bool replaces) {
  if (const auto known = agents::ParseRole(role); !known) return known.error();
  const NewKeyPair files{folder / (name + ".key"), folder / (name + ".pub"), {}};
  std::error_code failure;
  if (fs::exists(files.secretFile, failure) && !replaces)
    return AlreadyExists(fmt::format(
        "{} exists; --force replaces it, and nodes that admit only the old public key refuse the "
        "new one",
        files.secretFile.string()));
  const bool made = fs::create_directories(folder, failure);
  if (failure)
    return Unavailable(fmt::format("cannot make {}: {}", folder.string(), failure.message()));
  if (made) fs::permissions(folder, fs::perms::owner_all, failure);
  const agents::CurveKeys keys = agents::NewCurveKeys();
  TESSERA_RETURN_IF_ERROR(agents::SaveKeys(keys, files.secretFile.string()));
  TESSERA_RETURN_IF_ERROR(agents::SavePublicKey(keys.public_key, files.publicFile.string(), role));
  return NewKeyPair{files.secretFile, files.publicFile, keys.public_key};
}

Result<KeyList> listKeys(const fs::path& folder) {
  std::error_code failure;
  KeyList list;
  for (const auto& entry : entriesOf(folder, failure)) {
    const fs::path& file = entry.path();
    const bool isPair = file.extension() == ".key";
    if (!isPair && file.extension() != ".pub") continue;
    const auto key = agents::LoadOwnedKey(file.string());
    if (!key) {
      list.unreadable.push_back(key.error());
      continue;
    }
    list.keys.push_back({file, isPair, key->has_role ? agents::RoleText(key->owner) : "",
                         key->public_key, isPair && agents::CanOthersRead(file.string())});
  }
  if (failure && failure != std::errc::no_such_file_or_directory)
    return Unavailable(fmt::format("cannot list {}: {}", folder.string(), failure.message()));
  return list;
}

Result<std::vector<std::string>> removeAcceptedKey(const std::string& folder,
                                                   const std::string& wanted) {
  std::vector<std::string> removed;
  std::error_code failure;
  std::vector<fs::path> files;
  for (const auto& entry : entriesOf(folder, failure)) files.push_back(entry.path());
  if (failure) return NotFound(fmt::format("cannot list {}: {}", folder, failure.message()));
  for (const fs::path& file : files) {
    if (file.extension() != ".pub") continue;
    const auto key = agents::LoadPublicKey(file.string());
    if (file.stem().string() != wanted && !(key && *key == wanted)) continue;
    fs::remove(file, failure);
    if (failure)
      return Unavailable(fmt::format("cannot remove {}: {}", file.string(), failure.message()));
    removed.push_back(file.string());
  }
  if (removed.empty()) return NotFound(fmt::format("no public key '{}' in {}", wanted, folder));
  return removed;
}

}  // namespace tessera::app
