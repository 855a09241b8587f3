// SPDX-License-Identifier: Apache-2.0
// Messages of lanes. An input is used as it is, and with the checksum that it ought to have.
#include <cstring>
#include <span>

#include "agents/net/lane_wire.h"
#include "engine/copy/checksum.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

namespace {

/// A number may be written in several ways, so what is compared is what the bytes mean.
template <typename Decode>
void Try(const std::string& bytes, const Decode& decode) {
  const auto message = decode(std::as_bytes(std::span(bytes)));
  if (!message) return fuzz::CheckError(message.error());
  const std::string encoded = agents::Encode(*message);
  const auto again = decode(std::as_bytes(std::span(encoded)));
  if (!again || !(*again == *message)) std::abort();
}

void Try(const std::string& bytes) {
  Try(bytes, agents::DecodeFrameRequest);
  Try(bytes, agents::DecodeLaneReply);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(fuzz::Text(data, size));
  Try(bytes);
  const std::uint64_t checksum = engine::Checksum(std::as_bytes(std::span(bytes)));
  bytes.resize(size + sizeof checksum);
  std::memcpy(bytes.data() + size, &checksum, sizeof checksum);
  Try(bytes);
  return 0;
}
