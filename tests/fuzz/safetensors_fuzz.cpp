// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/model_config.h"
#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/index.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;
using namespace tessera::checkpoint;

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

template <typename Value>
void RequireSpeakingError(const Result<Value>& result) {
  if (!result) fuzz::CheckError(result.error(), {"at byte "});
}

/// Prints what was parsed and parses it again. Both must agree.
void TryHeader(std::string_view bytes) {
  const auto header = ParseHeader(bytes, static_cast<std::int64_t>(bytes.size()), "a.safetensors");
  RequireSpeakingError(header);
  if (!header) return;
  for (const auto& [key, value] : header->metadata) {
    RequireSpeakingError(ParseOffsets(value, "a.safetensors"));
    RequireSpeakingError(ParseDigests(value, "a.safetensors"));
  }
  const auto printed = PrintHeader(*header);
  Require(printed.has_value());
  const auto data = static_cast<std::int64_t>(bytes.size()) - header->data_begin;
  const auto again =
      ParseHeader(*printed, static_cast<std::int64_t>(printed->size()) + data, "a.safetensors");
  Require(again.has_value() && again->tensors == header->tensors &&
          again->metadata == header->metadata);
}

}  // namespace

/// The input is a whole file, the JSON of one, an index, a config.json, or a value of __metadata__.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::Text(data, size);
  TryHeader(bytes);
  // Also with a correct length before it, so that mutations reach the JSON.
  std::string framed(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) framed[i] = static_cast<char>((size >> (8 * i)) & 0xff);
  TryHeader(framed.append(bytes));
  RequireSpeakingError(ParseIndex(bytes, "a.json"));
  RequireSpeakingError(ParseModelConfig(bytes, "config.json"));
  RequireSpeakingError(ParseOffsets(bytes, "a.safetensors"));
  RequireSpeakingError(ParseDigests(bytes, "a.safetensors"));
  return 0;
}
