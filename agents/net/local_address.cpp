// SPDX-License-Identifier: Apache-2.0
#include "agents/net/local_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/files/descriptor.h"

namespace tessera::agents {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> Resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int error =
          ::getaddrinfo(host.c_str(), port.empty() ? nullptr : port.c_str(), &hints, &found);
      error != 0) {
    return Unavailable(fmt::format("'{}': {}", host, ::gai_strerror(error)));
  }
  return Addresses(found, &::freeaddrinfo);
}

struct HostPort {
  std::string host, port;  // the host without brackets
  bool is_bracketed = false;
};

Result<HostPort> Split(const std::string& endpoint) {
  constexpr std::string_view kScheme = "tcp://";
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kScheme) || colon <= kScheme.size()) {
    return InvalidArgument(fmt::format("'{}' is not tcp://host:port", endpoint));
  }
  HostPort out{endpoint.substr(kScheme.size(), colon - kScheme.size()), endpoint.substr(colon + 1)};
  out.is_bracketed = out.host.starts_with('[') && out.host.ends_with(']');
  if (out.is_bracketed) out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

/// Puts IPv6 addresses in brackets.
std::optional<std::string> NumericText(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return std::nullopt;
  }
  const std::string numeric = text.data();
  return address->sa_family == AF_INET6 ? "[" + numeric + "]" : numeric;
}

}  // namespace

Result<std::string> LocalAddressTowards(const std::string& endpoint) {
  TESSERA_TRY(const HostPort place, Split(endpoint));
  TESSERA_TRY(const Addresses addresses, Resolve(place.host, place.port));
  for (const addrinfo* to = addresses.get(); to != nullptr; to = to->ai_next) {
    // Connecting a datagram socket only chooses a route.
    const engine::Descriptor socket(::socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (socket.get() < 0 || ::connect(socket.get(), to->ai_addr, to->ai_addrlen) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
      continue;
    }
    if (auto text = NumericText(reinterpret_cast<sockaddr*>(&own), size)) return *std::move(text);
  }
  return Unavailable(fmt::format("no route to '{}': {}", endpoint, std::strerror(errno)));
}

Result<std::string> NumericEndpoint(const std::string& endpoint) {
  TESSERA_TRY(const HostPort place, Split(endpoint));
  in_addr ignored{};
  if (place.is_bracketed || place.host == "*" || ::if_nametoindex(place.host.c_str()) != 0 ||
      ::inet_pton(AF_INET, place.host.c_str(), &ignored) == 1) {
    return endpoint;
  }
  TESSERA_TRY(const Addresses addresses, Resolve(place.host, ""));
  const auto first_of = [&](int family) {
    const addrinfo* at = addresses.get();
    while (at != nullptr && at->ai_family != family) at = at->ai_next;
    return at;
  };
  const addrinfo* chosen = first_of(AF_INET);
  if (chosen == nullptr) chosen = first_of(AF_INET6);
  if (chosen == nullptr) return Unavailable(fmt::format("'{}' has no address", place.host));
  const auto text = NumericText(chosen->ai_addr, chosen->ai_addrlen);
  if (!text) return Unavailable(fmt::format("'{}' has no numeric address", place.host));
  return fmt::format("tcp://{}:{}", *text, place.port);
}

std::string ConnectableEndpoint(const std::string& endpoint) {
  auto numeric = NumericEndpoint(endpoint);
  return numeric && numeric->starts_with("tcp://[") ? *std::move(numeric) : endpoint;
}

}  // namespace tessera::agents
