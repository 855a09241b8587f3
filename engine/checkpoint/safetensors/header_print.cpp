// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/dtype_names.h"
#include "engine/checkpoint/safetensors/header.h"
#include "ptc/packed.h"

namespace tessera::checkpoint {
namespace {

Status CheckName(const std::string& name) {
  const bool control =
      std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  std::string quoted;
  AppendJsonString(quoted, name);
  if (name.empty() || name == "__metadata__" || control || !JsonScanner(quoted, {}).String()) {
    return InvalidArgument(
        fmt::format("'{}' cannot be the name of a tensor in safetensors", Printable(name)));
  }
  return OkStatus();
}

}  // namespace

Status AssignOffsets(std::vector<FileTensor>& tensors) {
  std::ranges::sort(tensors, [](const FileTensor& a, const FileTensor& b) {
    const int order = SafetensorsOrder(a.dtype) - SafetensorsOrder(b.dtype);
    return order != 0 ? order > 0 : a.name < b.name;
  });
  std::vector<std::string_view> names;
  std::int64_t reached = 0;
  for (FileTensor& tensor : tensors) {
    TESSERA_RETURN_IF_ERROR(CheckName(tensor.name));
    names.push_back(tensor.name);
    auto bytes = ptc::ByteCount(tensor.dtype, tensor.shape);
    if (!bytes) {
      return std::move(bytes).Context(fmt::format("tensor '{}'", Printable(tensor.name))).error();
    }
    tensor.begin = reached;
    if (__builtin_add_overflow(reached, *bytes, &reached) ||
        reached > INT64_MAX - 2 * kMaxHeaderBytes) {
      return InvalidArgument(
          fmt::format("tensor '{}' ends beyond 2^63-1 bytes of the file", Printable(tensor.name)));
    }
    tensor.end = reached;
  }
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return InvalidArgument(fmt::format("tensor '{}' appears twice in one file", Printable(*twice)));
  }
  return OkStatus();
}

Result<std::string> PrintHeader(const Header& header, std::int64_t alignment) {
  std::string out(8, '\0');
  out.push_back('{');
  if (!header.metadata.empty()) {
    out += "\"__metadata__\":{";
    for (const auto& [key, value] : header.metadata) {
      if (out.back() != '{') out.push_back(',');
      AppendJsonString(out, key);
      out.push_back(':');
      AppendJsonString(out, value);
    }
    out.push_back('}');
  }
  for (const FileTensor& tensor : header.tensors) {
    if (out.back() != '{') out.push_back(',');
    AppendJsonString(out, tensor.name);
    fmt::format_to(
        std::back_inserter(out), R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
        SafetensorsName(tensor.dtype), fmt::join(tensor.shape, ","), tensor.begin, tensor.end);
  }
  out.push_back('}');
  const auto step = static_cast<std::size_t>(alignment);
  out.resize((out.size() + step - 1) / step * step, ' ');
  const std::size_t length = out.size() - 8;
  if (length > static_cast<std::size_t>(kMaxHeaderBytes)) {
    return InvalidArgument(
        fmt::format("the header would have {} bytes, the limit is {}", length, kMaxHeaderBytes));
  }
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>((length >> (8 * i)) & 0xff);
  return out;
}

}  // namespace tessera::checkpoint
