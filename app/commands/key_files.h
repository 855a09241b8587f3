// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// CurveZMQ key pairs as files, for `keys` and for the panel. A secret key stays on its machine;
/// only NAME.pub is copied to other machines.

#include <filesystem>
#include <string>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

struct KeyFile {
  std::filesystem::path file;
  bool isPair = false;    // with the secret key
  std::string role = {};  // "operator"; empty: the file does not say
  std::string publicKey = {};
  bool isOpen = false;  // others can read the secret
};

struct NewKeyPair {
  std::filesystem::path secretFile, publicFile;
  std::string publicKey;
};

/// TESSERA_HOME/keys.
std::filesystem::path ownKeyFolder();

/// Makes NAME.key and NAME.pub in `folder`, which is made if it is missing.
/// \error kAlreadyExists unless `replaces`; kInvalidArgument naming the role; kUnavailable naming
///     the file
Result<NewKeyPair> makeKeyPair(const std::filesystem::path& folder, const std::string& name,
                               const std::string& role, bool replaces);

struct KeyList {
  std::vector<KeyFile> keys = {};
  std::vector<Error> unreadable = {};  // one per file that is no key
};
/// The keys in `folder`; none if it does not exist.
/// \error kUnavailable naming the folder
Result<KeyList> listKeys(const std::filesystem::path& folder);

/// Removes every public key that is called `wanted`, or is it, from a node's folder of accepted
/// keys. The agent refuses it within 2 s.
/// \return the removed files
/// \error kNotFound naming key and folder
Result<std::vector<std::string>> removeAcceptedKey(const std::string& folder,
                                                   const std::string& wanted);

}  // namespace tessera::app
