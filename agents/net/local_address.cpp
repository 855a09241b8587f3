// SPDX-License-Identifier: Apache-2.0
#include "agents/net/local_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "engine/files/descriptor.h"

namespace tessera::agents {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> Resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return Unavailable(fmt::format("'{}': {}", host, ::gai_strerror(error)));
  }
  return Addresses(found, &::freeaddrinfo);
}

}  // namespace

Result<std::string> LocalAddressTowards(const std::string& endpoint) {
  constexpr std::string_view kScheme = "tcp://";
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kScheme) || colon <= kScheme.size()) {
    return InvalidArgument(fmt::format("'{}' is not tcp://host:port", endpoint));
  }
  std::string host = endpoint.substr(kScheme.size(), colon - kScheme.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  TESSERA_TRY(const Addresses addresses, Resolve(host, endpoint.substr(colon + 1)));
  for (const addrinfo* to = addresses.get(); to != nullptr; to = to->ai_next) {
    // Connecting a datagram socket only chooses a route.
    const engine::Descriptor socket(::socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (socket.get() < 0 || ::connect(socket.get(), to->ai_addr, to->ai_addrlen) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) {
      continue;
    }
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    const std::string address = text.data();
    return to->ai_family == AF_INET6 ? "[" + address + "]" : address;
  }
  return Unavailable(fmt::format("no route to '{}': {}", endpoint, std::strerror(errno)));
}

}  // namespace tessera::agents
