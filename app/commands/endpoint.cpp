// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/endpoint.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>

#include "agents/net/socket.h"

namespace tessera::app {
namespace {

/// Three more ports follow the first.
constexpr int kLastPort = 65535 - 3;

/// Whether the text is an IPv6 address in brackets.
bool isIpv6(const std::string& text) {
  if (!text.ends_with(']')) return false;
  addrinfo hints{};
  hints.ai_family = AF_INET6;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(text.substr(1, text.size() - 2).c_str(), nullptr, &hints, &found) != 0)
    return false;
  ::freeaddrinfo(found);
  return true;
}

}  // namespace

std::string Endpoint::text() const { return fmt::format("tcp://{}:{}", host, port); }

Result<Endpoint> parseEndpoint(std::string_view text, int defaultPort) {
  std::string_view rest = text;
  if (rest.starts_with("tcp://")) rest.remove_prefix(6);
  // An IPv6 address is in brackets because of its colons.
  const std::size_t bracket = rest.rfind(']');
  const std::size_t colon = rest.rfind(':');
  const bool hasPort =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  Endpoint endpoint{std::string(rest.substr(0, hasPort ? colon : rest.size())), defaultPort};
  const bool isBracketed = endpoint.host.starts_with('[');
  if (!isBracketed && endpoint.host.find(':') != std::string::npos)
    return InvalidArgument(fmt::format("'{}': an IPv6 address is written in brackets: [::1]", text));
  if (isBracketed && !isIpv6(endpoint.host))
    return InvalidArgument(fmt::format("'{}' in '{}' is no IPv6 address", endpoint.host, text));
  if (endpoint.host.empty() || endpoint.host.find_first_of(" /*") != std::string::npos)
    return InvalidArgument(fmt::format("'{}' is not HOST:PORT", text));
  if (hasPort) {
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
    if (failure != std::errc() || end != digits.data() + digits.size() || endpoint.port < 1 ||
        endpoint.port > kLastPort)
      return InvalidArgument(
          fmt::format("port '{}' of '{}' is not in 1…{}", digits, text, kLastPort));
  }
  return endpoint;
}

Result<std::string> readPublicKey(const std::string& keyOrFile) {
  // A path may have 40 characters as well.
  std::error_code ignored;
  if (agents::IsPublicKey(keyOrFile) && !std::filesystem::exists(keyOrFile, ignored))
    return keyOrFile;
  auto key = agents::LoadPublicKey(keyOrFile);
  if (!key && key.error().code == ErrorCode::kNotFound)
    return NotFound(
        fmt::format("'{}' is neither a public key (40 characters of Z85) nor a file", keyOrFile));
  return key;
}

}  // namespace tessera::app
