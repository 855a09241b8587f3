// SPDX-License-Identifier: Apache-2.0
// Messages of lanes. An input is used as it is, and with the checksum that it ought to have.
#include <cstring>
#include <span>

#include "agents/net/lane_wire.h"
#include "engine/copy/checksum.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

namespace {

void Try(const std::string& bytes) {
  const auto input = std::as_bytes(std::span(bytes));
  const auto request = agents::DecodeFrameRequest(input);
  if (!request) fuzz::CheckError(request.error());
  if (request && agents::Encode(*request) != bytes) std::abort();
  const auto reply = agents::DecodeLaneReply(input);
  if (!reply) fuzz::CheckError(reply.error());
  if (reply && agents::Encode(*reply) != bytes) std::abort();
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
