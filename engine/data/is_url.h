// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tells the names of data apart: URLs, and paths of this machine.

#include <string>
#include <string_view>

namespace tessera::engine {

inline bool IsUrl(std::string_view name) { return name.find("://") != std::string_view::npos; }

/// Returns the URL without user, password and query, for messages and logs.
inline std::string ShownUrl(const std::string& url) {
  std::string shown = url.substr(0, url.find('?'));
  const std::size_t scheme = shown.find("://");
  if (scheme == std::string::npos) return shown;
  const std::size_t host = scheme + 3;
  const std::size_t at = shown.substr(0, shown.find('/', host)).rfind('@');
  return at == std::string::npos || at < host ? shown : shown.erase(host, at + 1 - host);
}

/// Returns the name of data for messages and logs: a URL as ShownUrl, also after a weight
/// ("2:URL"), and a path unchanged.
inline std::string ShownName(const std::string& name) {
  return IsUrl(name) ? ShownUrl(name) : name;
}

}  // namespace tessera::engine
