// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/reshard/checkpoint_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <QtGlobal>
#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

namespace tessera::test {
namespace {

std::uint64_t Hash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t HashOf(std::uint64_t seed, const std::string& name) {
  for (const char c : name) seed = Hash(seed ^ static_cast<unsigned char>(c));
  return seed;
}

/// The bits of an element: of a small integer where the type is floating-point.
std::uint64_t Bits(ptc::DType dtype, std::uint64_t hash) {
  const auto small = static_cast<float>(static_cast<int>(hash % 255) - 127);
  const auto single = std::bit_cast<std::uint32_t>(small);
  switch (dtype) {
    case ptc::DType::kBool:
      return hash & 1;
    case ptc::DType::kF64:
      return std::bit_cast<std::uint64_t>(static_cast<double>(small));
    case ptc::DType::kF32:
      return single;
    case ptc::DType::kBF16:
      return single >> 16;  // eight significant bits: exact
    default:
      return hash;
  }
}

const char* FormatName(ptc::DType dtype) {
  switch (dtype) {
    case ptc::DType::kBool:
      return "BOOL";
    case ptc::DType::kU8:
      return "U8";
    case ptc::DType::kI16:
      return "I16";
    case ptc::DType::kBF16:
      return "BF16";
    case ptc::DType::kF32:
      return "F32";
    case ptc::DType::kI64:
      return "I64";
    case ptc::DType::kF64:
      return "F64";
    default:
      return nullptr;
  }
}

int Any(std::mt19937_64& rng, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(rng);
}

/// Sizes of up to three segments.
ptc::Segments AnySegments(std::mt19937_64& rng, int dim, std::int64_t size) {
  ptc::Segments segments{dim, {}};
  const std::int64_t first =
      1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(size));
  segments.blocks.push_back({first});
  if (size > first) segments.blocks.push_back({size - first});
  return segments;
}

}  // namespace

std::vector<std::byte> BytesOfTensor(std::uint64_t seed, const reshard::OutTensor& tensor) {
  const std::uint64_t base = HashOf(seed, tensor.name);
  const auto size = static_cast<std::size_t>(ptc::SizeBytes(tensor.dtype));
  std::vector<std::byte> bytes(static_cast<std::size_t>(reshard::BytesOf(tensor)));
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const std::uint64_t bits = Bits(tensor.dtype, Hash(base + i));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

bool WriteSafetensors(const std::string& path, std::uint64_t seed,
                      const std::vector<reshard::OutTensor>& tensors) {
  std::string json = R"({"__metadata__":{"format":"pt","author":"a test"})";
  std::int64_t offset = 0;
  for (const reshard::OutTensor& tensor : tensors) {
    json += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        tensor.name, FormatName(tensor.dtype), fmt::join(tensor.shape, ","), offset,
                        offset + reshard::BytesOf(tensor));
    offset += reshard::BytesOf(tensor);
  }
  json += "}";
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = json.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << json;
  for (const reshard::OutTensor& tensor : tensors) {
    const auto bytes = BytesOfTensor(seed, tensor);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  file.close();
  return file.good();
}

std::string WhatDiffers(const checkpoint::Checkpoint& checkpoint, std::uint64_t seed,
                        const std::vector<reshard::OutTensor>& tensors) {
  if (checkpoint.tensors().size() != tensors.size()) {
    return fmt::format("{} tensors, not {}", checkpoint.tensors().size(), tensors.size());
  }
  for (const reshard::OutTensor& tensor : tensors) {
    const auto index = checkpoint.Find(tensor.name);
    if (!index) return fmt::format("no tensor '{}'", tensor.name);
    const auto& found = checkpoint.tensors()[static_cast<std::size_t>(*index)];
    if (found.dtype != tensor.dtype || found.shape != tensor.shape) {
      return fmt::format("'{}' is {} {}", tensor.name, ToString(found.dtype),
                         ptc::ToString(found.shape));
    }
    const auto whole = ptc::Box::Whole(tensor.shape);
    if (!whole) continue;
    const auto expected = BytesOfTensor(seed, tensor);
    std::vector<std::byte> bytes(expected.size());
    if (const Status read = checkpoint.Read(*index, *whole, bytes); !read) {
      return read.error().ToString();
    }
    if (bytes != expected) return fmt::format("'{}' has other elements", tensor.name);
  }
  return {};
}

std::vector<reshard::OutTensor> AnyTensors(std::mt19937_64& rng, int count) {
  constexpr ptc::DType kDTypes[] = {ptc::DType::kBool, ptc::DType::kU8,  ptc::DType::kI16,
                                    ptc::DType::kBF16, ptc::DType::kF32, ptc::DType::kI64,
                                    ptc::DType::kF64};
  std::vector<reshard::OutTensor> tensors;
  for (int t = 0; t < count; ++t) {
    reshard::OutTensor tensor{fmt::format("h.{}.w", t), kDTypes[rng() % 7], {}};
    const int rank = Any(rng, 0, 4);
    for (int d = 0; d < rank; ++d) tensor.shape.push_back(Any(rng, 1, rank < 3 ? 70 : 11));
    if (rank > 0 && rng() % 12 == 0) tensor.shape[rng() % tensor.shape.size()] = 0;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

ptc::Layout AnyLayout(std::mt19937_64& rng, const std::vector<reshard::OutTensor>& tensors) {
  ptc::MeshShape shape;
  for (const ptc::Axis axis : {ptc::Axis::kPp, ptc::Axis::kDp, ptc::Axis::kTp}) {
    shape[axis] = Any(rng, 1, shape.num_ranks() > 4 ? 1 : 4);
  }
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t r = 0; r < shape.num_ranks(); ++r) devices.push_back({0, r});
  std::vector<ptc::TensorSpec> specs;
  for (const reshard::OutTensor& tensor : tensors) {
    ptc::TensorSpec spec{tensor.name, tensor.dtype, tensor.shape};
    spec.rule.dims.resize(tensor.shape.size());
    if (rng() % 3 == 0) {
      spec.place = ptc::StagePlace::kLayer;
      spec.layer = static_cast<std::int64_t>(rng() % 5);
    }
    const bool empty = !ptc::Box::Whole(tensor.shape).has_value();
    bool cut_by_dp = false;
    if (!tensor.shape.empty()) {
      const std::size_t d = rng() % tensor.shape.size();
      if (rng() % 5 != 0) spec.rule.dims[d] = {{ptc::Axis::kTp}, ptc::Split::kCeil};
      if (const std::size_t other = rng() % tensor.shape.size(); other != d && rng() % 3 == 0) {
        spec.rule.dims[other] = {{ptc::Axis::kDp}, ptc::Split::kCeil};
        cut_by_dp = true;
      }
      if (!empty && rng() % 3 == 0) {
        spec.segments = AnySegments(rng, static_cast<int>(d), tensor.shape[d]);
      }
    }
    if (!cut_by_dp && !empty && rng() % 3 == 0) spec.rule.flat = {ptc::Axis::kDp};
    specs.push_back(std::move(spec));
  }
  const auto collection = ptc::Collection::Make(std::move(specs), 5);
  if (!collection) qFatal("%s", collection.error().ToString().c_str());
  const auto layout =
      ptc::Layout::Make(*ptc::DeviceMesh::Make(shape, std::move(devices)), *collection);
  if (!layout) qFatal("%s", layout.error().ToString().c_str());
  return *layout;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tessera::test
