// SPDX-License-Identifier: Apache-2.0
// Key pairs and their files.
#include <sys/stat.h>
#include <zmq.h>

#include <filesystem>
#include <sstream>

#include "agents/net/socket.h"
#include "engine/files/whole_file.h"
#include "ptc/base/check.h"

namespace tessera::agents {

CurveKeys NewCurveKeys() {
  char public_key[41] = {};
  char secret_key[41] = {};
  // Fails only if libzmq was built without CURVE, and then nothing here can work.
  TESSERA_CHECK(zmq_curve_keypair(public_key, secret_key) == 0);
  return {public_key, secret_key};
}

namespace {

/// The lines of a key file.
struct KeyLines {
  CurveKeys keys;
  std::optional<KeyOwner> role;
};
Result<KeyLines> ReadKeyLines(const std::string& path) {
  KeyLines out;
  const auto text = engine::ReadWholeFile(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return NotFound("no key file " + path);
  if (!text) return text.error();
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto wrong = [&](const std::string& why) {
      return InvalidArgument(path + ":" + std::to_string(number) + ": " + why);
    };
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "role") {
      if (out.role) return wrong("second role");
      auto role = ParseRole(value);
      if (!role) return wrong(role.error().message);
      out.role = std::move(*role);
      continue;
    }
    std::string* key = name == "public"   ? &out.keys.public_key
                       : name == "secret" ? &out.keys.secret_key
                                          : nullptr;
    if (key == nullptr) return wrong("line is none of 'public KEY', 'secret KEY' and 'role ROLE'");
    if (!key->empty()) return wrong("second " + name + " key");
    *key = value;
    if (!IsPublicKey(*key)) {
      return wrong(name + " key of " + std::to_string(key->size()) +
                   " characters is not 40 characters of Z85");
    }
  }
  if (out.keys.public_key.empty()) return InvalidArgument(path + ": no public key");
  return out;
}

}  // namespace

bool IsPublicKey(std::string_view text) {
  std::uint8_t raw[32];
  return text.size() == 40 && zmq_z85_decode(raw, std::string(text).c_str()) != nullptr;
}

bool CanOthersRead(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

Status SaveKeys(const CurveKeys& keys, const std::string& path) {
  return engine::WriteWholeFile(
      path, "public " + keys.public_key + "\nsecret " + keys.secret_key + "\n", 0600);
}

Status SavePublicKey(const std::string& public_key, const std::string& path,
                     const std::string& role) {
  const std::string line = role.empty() ? "" : "role " + role + "\n";
  return engine::WriteWholeFile(path, "public " + public_key + "\n" + line, 0644);
}

Result<std::string> LoadPublicKey(const std::string& path) {
  TESSERA_TRY(KeyLines lines, ReadKeyLines(path));
  return std::move(lines.keys.public_key);
}

Result<OwnedKey> LoadOwnedKey(const std::string& path) {
  TESSERA_TRY(KeyLines lines, ReadKeyLines(path));
  OwnedKey key{std::move(lines.keys.public_key), lines.role.value_or(KeyOwner{}),
               lines.role.has_value()};
  key.owner.name = std::filesystem::path(path).stem().string();
  return key;
}

Result<CurveKeys> LoadKeys(const std::string& path) {
  TESSERA_TRY(KeyLines lines, ReadKeyLines(path));
  CurveKeys& keys = lines.keys;
  if (keys.secret_key.empty()) return InvalidArgument(path + ": no secret key");
  char derived[41] = {};
  if (zmq_curve_public(derived, keys.secret_key.c_str()) != 0 || keys.public_key != derived) {
    return InvalidArgument(path + ": public key does not belong to the secret key");
  }
  if (CanOthersRead(path)) {
    return PermissionDenied(path + ": others than its owner can read this secret key; `chmod 600 " +
                            path + "` ends that, and a new key is safer");
  }
  return std::move(keys);
}

}  // namespace tessera::agents
