// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/etcd_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/data/is_url.h"

namespace tessera::agents {
namespace {

bool IsLoopback(std::string_view url) {
  constexpr std::array<std::string_view, 3> kHosts = {"http://127.0.0.1", "http://localhost",
                                                      "http://[::1]"};
  return std::ranges::any_of(kHosts, [&](std::string_view host) {
    return url.starts_with(host) && (url.size() == host.size() || url[host.size()] == ':');
  });
}

}  // namespace

Status CheckEtcdPlace(const EtcdPlace& place) {
  if (place.endpoints.empty()) return InvalidArgument("etcd has no endpoints");
  for (const std::string& url : place.endpoints) {
    const std::string shown = engine::IsUrl(url) ? engine::ShownUrl(url) : url;
    if (!engine::IsUrl(url) || url.find('/', url.find("://") + 3) != std::string::npos) {
      return InvalidArgument(
          fmt::format("etcd endpoint '{}' is not of the form https://HOST:PORT", shown));
    }
    if (!url.starts_with("https://") && !IsLoopback(url)) {
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
