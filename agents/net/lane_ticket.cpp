// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lane_ticket.h"

#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace tessera::agents {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Absorb(std::uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
  std::uint64_t Squeeze() {
    for (int i = 0; i < 4; ++i) Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

LaneSecret NewLaneSecret() {
  std::random_device random;
  LaneSecret secret;
  for (std::byte& byte : secret) byte = static_cast<std::byte>(random());
  return secret;
}

LaneTicket SipHash128(const LaneSecret& secret, std::span<const std::byte> bytes) {
  std::array<std::uint64_t, 2> k;
  std::memcpy(k.data(), secret.data(), sizeof k);
  SipState state{k[0] ^ 0x736f6d6570736575ULL, k[1] ^ 0x646f72616e646f6dULL ^ 0xee,
                 k[0] ^ 0x6c7967656e657261ULL, k[1] ^ 0x7465646279746573ULL};
  const std::uint64_t size = bytes.size();
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    state.Absorb(word);
  }
  std::uint64_t last = size << 56;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    last |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  }
  state.Absorb(last);
  std::array<std::uint64_t, 2> halves;
  state.v2 ^= 0xee;
  halves[0] = state.Squeeze();
  state.v1 ^= 0xdd;
  halves[1] = state.Squeeze();
  LaneTicket ticket;
  std::memcpy(ticket.data(), halves.data(), sizeof halves);
  return ticket;
}

LaneTicket TicketOf(const LaneSecret& secret, const LaneKey& key, std::size_t lane) {
  const std::int64_t numbers[] = {key.transaction, key.attempt, static_cast<std::int64_t>(lane)};
  std::string text(reinterpret_cast<const char*>(numbers), sizeof numbers);
  text += key.job;
  return SipHash128(secret, std::as_bytes(std::span(text)));
}

bool IsEqual(const LaneTicket& a, const LaneTicket& b) {
  std::byte differences{0};
  for (std::size_t i = 0; i < a.size(); ++i) differences |= a[i] ^ b[i];
  return differences == std::byte{0};
}

std::string ToBytes(const LaneTicket& ticket) {
  return {reinterpret_cast<const char*>(ticket.data()), ticket.size()};
}

Result<LaneTicket> TicketFromBytes(std::string_view bytes) {
  LaneTicket ticket;
  if (bytes.size() != ticket.size()) {
    return InvalidArgument("a lane ticket of " + std::to_string(bytes.size()) +
                           " bytes, expected 16");
  }
  std::memcpy(ticket.data(), bytes.data(), ticket.size());
  return ticket;
}

}  // namespace tessera::agents
