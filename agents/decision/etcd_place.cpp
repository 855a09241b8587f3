// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/etcd_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "engine/data/is_url.h"

namespace tessera::agents {
namespace {

/// HOST and PORT of "https://HOST:PORT", and nothing else: no user, path or query.
bool IsMember(std::string_view url, std::string_view& host) {
  const bool is_https = url.starts_with("https://");
  if (!is_https && !url.starts_with("http://")) return false;
  url.remove_prefix(is_https ? 8 : 7);
  const std::size_t colon = url.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == url.size()) return false;
  host = url.substr(0, colon);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool has_port = std::ranges::all_of(url.substr(colon + 1), is_digit);
  return has_port && host.find_first_of("@/?#\\ ") == std::string_view::npos;
}

}  // namespace

Status CheckEtcdPlace(const EtcdPlace& place) {
  if (place.endpoints.empty()) return InvalidArgument("etcd has no endpoints");
  for (const std::string& url : place.endpoints) {
    const std::string shown = engine::ShownName(url);
    std::string_view host;
    if (!IsMember(url, host)) {
      return InvalidArgument(
          fmt::format("etcd endpoint '{}' is not of the form https://HOST:PORT", shown));
    }
    const bool is_loopback = host == "127.0.0.1" || host == "localhost" || host == "[::1]";
    if (!url.starts_with("https://") && !is_loopback) {
      return InvalidArgument(
          fmt::format("etcd endpoint '{}' is not encrypted: use https off the loopback", shown));
    }
  }
  if (!place.prefix.starts_with('/') || place.prefix.ends_with('/')) {
    return InvalidArgument(fmt::format("etcd prefix '{}' is not of the form /NAME", place.prefix));
  }
  if (place.certificate.empty() != place.key.empty()) {
    return InvalidArgument("etcd needs both a certificate and its key, or neither");
  }
  return OkStatus();
}

}  // namespace tessera::agents
