// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/shm_channel.h"

#include <algorithm>
#include <cstring>

#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

constexpr std::size_t kPage = 4096;
/// Large messages are passed in parts, so that sender and receiver copy at the same time.
constexpr std::size_t kPartFloats = 64 * 1024;

}  // namespace

// Positions modulo 2^32: the ring is smaller, so their difference is the number of floats in it.
struct ShmChannel::Header {
  alignas(64) FutexWord sent;
  alignas(64) FutexWord taken;
};

ShmChannel::ShmChannel(std::byte* memory, std::size_t capacity_floats)
    : header_(reinterpret_cast<Header*>(memory)),
      ring_(reinterpret_cast<float*>(memory + kPage)),
      capacity_(capacity_floats) {
  static_assert(sizeof(Header) <= kPage);
  TESSERA_CHECK(1 <= capacity_floats && capacity_floats <= kMaxCapacity);
}

std::size_t ShmChannel::Bytes(std::size_t capacity_floats) {
  return kPage + (capacity_floats * sizeof(float) + kPage - 1) / kPage * kPage;
}

/// Returns the floats from the position to the end of the ring, at most one part.
std::size_t ShmChannel::Contiguous() const {
  return std::min(kPartFloats, capacity_ - static_cast<std::size_t>(position_ % capacity_));
}

Status ShmChannel::Send(const ShmWait& wait, std::span<const float> values) {
  TESSERA_RETURN_IF_ERROR(wait.State());
  while (!values.empty()) {
    const std::uint32_t taken = header_->taken.load(std::memory_order_acquire);
    const std::size_t room = capacity_ - (static_cast<std::uint32_t>(position_) - taken);
    if (room == 0) {
      TESSERA_RETURN_IF_ERROR(wait.While(header_->taken, taken));
      continue;
    }
    const std::size_t count = std::min({values.size(), room, Contiguous()});
    std::memcpy(ring_ + position_ % capacity_, values.data(), count * sizeof(float));
    position_ += count;
    header_->sent.store(static_cast<std::uint32_t>(position_), std::memory_order_release);
    Wake(header_->sent);
    values = values.subspan(count);
  }
  return OkStatus();
}

Status ShmChannel::Receive(const ShmWait& wait, std::span<float> values) {
  TESSERA_RETURN_IF_ERROR(wait.State());
  while (!values.empty()) {
    const std::uint32_t sent = header_->sent.load(std::memory_order_acquire);
    const std::size_t ready = sent - static_cast<std::uint32_t>(position_);
    if (ready == 0) {
      TESSERA_RETURN_IF_ERROR(wait.While(header_->sent, sent));
      continue;
    }
    const std::size_t count = std::min({values.size(), ready, Contiguous()});
    std::memcpy(values.data(), ring_ + position_ % capacity_, count * sizeof(float));
    position_ += count;
    header_->taken.store(static_cast<std::uint32_t>(position_), std::memory_order_release);
    Wake(header_->taken);
    values = values.subspan(count);
  }
  return OkStatus();
}

}  // namespace tessera::agents::train
