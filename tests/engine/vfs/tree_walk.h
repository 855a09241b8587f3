// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads a tree by paths, as a kernel does for a program.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/vfs/tree.h"

namespace tessera::test {

/// Looks up each component of the path.
inline Result<engine::vfs::Tree::Attributes> FindPath(engine::vfs::Tree& tree,
                                                      std::string_view path,
                                                      engine::vfs::Time now) {
  engine::vfs::Tree::Attributes at{.ino = engine::vfs::kRootIno, .folder = true};
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    TESSERA_TRY(at, tree.Lookup(at.ino, path.substr(0, end), now));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

/// \param piece bytes of each read
inline Result<std::string> ReadAll(engine::vfs::Tree& tree, engine::vfs::Tree::Handle handle,
                                   std::size_t piece = 1000) {
  std::string all;
  std::vector<std::byte> room(piece);
  for (;;) {
    TESSERA_TRY(const auto bytes, tree.Read(handle, std::ssize(all), room));
    if (bytes.fragments.empty()) return all;
    for (const auto& part : bytes.fragments) {
      all.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
  }
}

/// The bytes of a file.
/// \error kInternal if their number differs from the size of the lookup
inline Result<std::string> ReadPath(engine::vfs::Tree& tree, std::string_view path,
                                    engine::vfs::Time now, std::size_t piece = 1000) {
  TESSERA_TRY(const auto found, FindPath(tree, path, now));
  TESSERA_TRY(const auto handle, tree.Open(found.ino, now));
  auto text = ReadAll(tree, handle, piece);
  tree.Release(handle);
  if (text && std::ssize(*text) != found.size) return Internal("another size than looked up");
  return text;
}

/// The names in a folder.
inline Result<std::vector<std::string>> ListPath(engine::vfs::Tree& tree, std::string_view path,
                                                 engine::vfs::Time now) {
  TESSERA_TRY(const auto found, FindPath(tree, path, now));
  TESSERA_TRY(const auto handle, tree.OpenFolder(found.ino, now));
  std::vector<std::string> names;
  for (std::size_t i = 0; const auto* child = tree.Entry(handle, i); ++i) {
    names.push_back(child->name);
  }
  tree.ReleaseFolder(handle);
  return names;
}

/// The same as one text: "a b c", or the error.
inline std::string NamesIn(engine::vfs::Tree& tree, std::string_view path, engine::vfs::Time now) {
  const auto names = ListPath(tree, path, now);
  if (!names) return names.error().ToString();
  std::string text;
  for (const std::string& name : *names) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace tessera::test
