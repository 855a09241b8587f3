// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/json_file.h"

#include <fmt/format.h>

#include "engine/checkpoint/torch/byte_source.h"

namespace tessera::checkpoint {

Result<nlohmann::json> ReadJsonFile(const std::string& path, std::int64_t limit) {
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(path));
  const ByteWindow window(std::move(source));
  if (window.size() > limit) {
    return window.At(limit,
                     fmt::format("the file has {} bytes, the limit is {}", window.size(), limit));
  }
  TESSERA_TRY(const std::string text, window.Read(0, window.size(), "the file"));
  try {
    auto json = nlohmann::json::parse(text);
    if (json.is_object()) return json;
    return window.At(0, "not a JSON object");
  } catch (const nlohmann::json::parse_error& error) {
    const auto at = static_cast<std::int64_t>(error.byte);
    return window.At(at > 0 ? at - 1 : 0, "not JSON");
  } catch (const nlohmann::json::exception&) {
    return window.At(0, "not JSON: a number is too large");
  }
}

}  // namespace tessera::checkpoint
