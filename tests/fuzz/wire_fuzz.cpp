// SPDX-License-Identifier: Apache-2.0
// Messages of peers, and what the domain makes of them. The first byte of an input names a message.
#include <cstddef>

#include "agents/move/digest_wire.h"
#include "agents/wire/convert.h"
#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/wire_messages.h"

using namespace tessera;

namespace {

template <typename Message, typename Value>
concept Encodes = requires(const Value& value, Message* out) { agents::Encode(value, out); };

/// What can be decoded comes out of the second round as out of the first one.
template <typename Message>
void Try(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto value = agents::Decode(message);
  if (!value) return fuzz::CheckError(value.error());
  using Value = std::remove_cvref_t<decltype(*value)>;
  if constexpr (Encodes<Message, Value>) {
    Message once, twice;
    agents::Encode(*value, &once);
    const auto again = agents::Decode(once);
    if (!again) {
      std::fprintf(stderr, "its own encoding: %s\n", again.error().ToString().c_str());
      std::abort();
    }
    agents::Encode(*again, &twice);
    if (once.DebugString() != twice.DebugString()) std::abort();
  }
}

template <typename... Messages>
void TryOne(fuzz::Types<Messages...>, std::size_t which, std::string_view bytes) {
  std::size_t i = 0;
  (void)((i++ == which && (Try<Messages>(bytes), true)) || ...);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  TryOne(fuzz::WireMessages(), data[0] % fuzz::kNumWireMessages, fuzz::Text(data + 1, size - 1));
  return 0;
}
