// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Inputs that are packets of a local socket: of each a byte, which is odd if a descriptor goes with
/// it, its length in two bytes (little endian), and its bytes.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "agents/keeper/packet.h"

namespace tessera::fuzz {

/// Sends the packets of an input to `socket`, as many as find room.
inline void SendPackets(int socket, std::string_view input) {
  const std::array<int, 1> descriptor = {::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  while (input.size() >= 3) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(input[i]); };
    const bool has_descriptor = (byte(0) & 1) != 0;
    const auto length = static_cast<std::size_t>(byte(1) | byte(2) << 8);
    input.remove_prefix(3);
    const std::string_view packet = input.substr(0, length);
    input.remove_prefix(packet.size());
    const std::span<const int> descriptors = descriptor;
    const Status sent = agents::SendPacket(
        socket, packet, has_descriptor ? descriptors : std::span<const int>());
    if (!sent && sent.error().code == ErrorCode::kUnavailable) break;
  }
  ::close(descriptor[0]);
}

}  // namespace tessera::fuzz
