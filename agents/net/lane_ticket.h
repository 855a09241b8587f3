// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tickets for lanes without encryption. The source's agent makes a secret and sends it to the
/// registrar over the encrypted control plane. Both compute from it one ticket per transfer and
/// lane. The registrar sends the tickets to the agents and clients that take part. So a source
/// keeps no list of tickets, and a ticket that is seen on the network is of no use for another
/// transfer.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/net/lane_wire.h"

namespace tessera::agents {

/// 16 random bytes.
using LaneSecret = LaneTicket;
LaneSecret NewLaneSecret();

/// SipHash-2-4 with 128 bits, a keyed pseudorandom function.
LaneTicket SipHash128(const LaneSecret& secret, std::span<const std::byte> bytes);

LaneTicket TicketOf(const LaneSecret& secret, const LaneKey& key, std::size_t lane);
/// Takes the same time for all tickets.
bool IsEqual(const LaneTicket& a, const LaneTicket& b);

/// A secret or a ticket as a field of a message.
std::string ToBytes(const LaneTicket& ticket);
/// \error kInvalidArgument for another size than 16
Result<LaneTicket> TicketFromBytes(std::string_view bytes);
/// Of a list of fields; tickets of another size are zeros, which no source accepts.
template <typename List>
std::vector<LaneTicket> TicketsFrom(const List& fields) {
  std::vector<LaneTicket> tickets;
  for (const std::string& field : fields) {
    tickets.push_back(TicketFromBytes(field).value_or(LaneTicket{}));
  }
  return tickets;
}

}  // namespace tessera::agents
