// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/checkpoint/sample_tensors.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "ptc/packed.h"
#include "tests/ptc/digest_definition.h"
#include "tests/support/random.h"

namespace tessera::test {

using ptc::Box;
using ptc::DType;
using ptc::Interval;
using ptc::Shape;

namespace {

std::size_t SizeOf(DType dtype) { return static_cast<std::size_t>(ptc::SizeBytes(dtype)); }

/// Row-major index in the tensor of element `i` of the box.
std::int64_t IndexOf(const Shape& shape, const Box& box, std::int64_t i) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (int d = box.rank() - 1; d >= 0; --d) {
    index += (box[d].begin + i % box[d].size()) * stride;
    i /= box[d].size();
    stride *= shape[static_cast<std::size_t>(d)];
  }
  return index;
}

/// What is packed, as the bytes it is read as.
SampleTensor InUnits(const SampleTensor& tensor) {
  if (!ptc::IsPacked(tensor.dtype)) return tensor;
  return {tensor.name, DType::kU8, *ptc::UnitShape(tensor.dtype, tensor.shape), tensor.bytes};
}

/// A box within the tensor.
Box BoxWithin(std::mt19937_64& rng, const Shape& shape) {
  std::vector<Interval> dims;
  for (const std::int64_t size : shape) {
    const auto begin = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(size));
    const auto length = 1 + rng() % static_cast<std::uint64_t>(size - begin);
    dims.push_back({begin, begin + static_cast<std::int64_t>(length)});
  }
  return *Box::Make(dims);
}

}  // namespace

SampleTensor AnyTensor(std::mt19937_64& rng, std::string name) {
  static constexpr std::array kTypes = {
      DType::kBool,   DType::kU8,         DType::kI8,         DType::kF8E4M3, DType::kF8E5M2,
      DType::kU16,    DType::kI16,        DType::kF16,        DType::kBF16,   DType::kU32,
      DType::kI32,    DType::kF32,        DType::kU64,        DType::kI64,    DType::kF64,
      DType::kF8E8M0, DType::kF8E4M3Fnuz, DType::kF8E5M2Fnuz, DType::kC64};
  SampleTensor tensor{std::move(name), kTypes[rng() % kTypes.size()], Shape(rng() % 5), {}};
  for (std::int64_t& size : tensor.shape) {
    size = rng() % 20 == 0 ? 0 : static_cast<std::int64_t>(1 + rng() % 9);
  }
  tensor.bytes.resize(static_cast<std::size_t>(*ptc::NumElements(tensor.shape)) *
                      SizeOf(tensor.dtype));
  for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(rng());
  return tensor;
}

std::vector<Box> AnyTiling(std::mt19937_64& rng, const Box& whole, int cuts) {
  std::vector<Box> boxes = {whole};
  for (int i = 0; i < cuts && whole.rank() > 0; ++i) {
    const std::size_t which = rng() % boxes.size();
    const auto dim = static_cast<int>(rng() % static_cast<std::uint64_t>(whole.rank()));
    const Box box = boxes[which];
    if (box[dim].size() < 2) continue;
    std::vector<Interval> low;
    for (int d = 0; d < box.rank(); ++d) low.push_back(box[d]);
    std::vector<Interval> high = low;
    const auto at =
        box[dim].begin + 1 +
        static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(box[dim].size() - 1));
    low[static_cast<std::size_t>(dim)].end = at;
    high[static_cast<std::size_t>(dim)].begin = at;
    boxes[which] = *Box::Make(low);
    boxes.push_back(*Box::Make(high));
  }
  return boxes;
}

std::vector<std::byte> Extract(const SampleTensor& tensor, const Box& box) {
  if (ptc::IsPacked(tensor.dtype)) {
    return Extract(InUnits(tensor), *ptc::UnitBox(tensor.dtype, tensor.shape, box));
  }
  const std::size_t size = SizeOf(tensor.dtype);
  std::vector<std::byte> out;
  for (std::int64_t i = 0; i < box.num_elements(); ++i) {
    const auto from =
        tensor.bytes.begin() + IndexOf(tensor.shape, box, i) * static_cast<std::int64_t>(size);
    out.insert(out.end(), from, from + static_cast<std::int64_t>(size));
  }
  return out;
}

std::uint64_t DigestByDefinition(const SampleTensor& tensor, const Box& box) {
  const std::size_t size = SizeOf(tensor.dtype);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < box.num_elements(); ++i) {
    const std::size_t first = static_cast<std::size_t>(IndexOf(tensor.shape, box, i)) * size;
    for (std::size_t at = first; at < first + size; ++at) {
      sum += DigestOfByte(at, tensor.bytes[at]);
    }
  }
  return sum;
}

void WriteText(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

QString Differs(const checkpoint::Checkpoint& checkpoint, const std::vector<SampleTensor>& tensors,
                std::mt19937_64& rng) {
  if (checkpoint.tensors().size() != tensors.size()) {
    return QStringLiteral("%1 tensors").arg(checkpoint.tensors().size());
  }
  for (const SampleTensor& tensor : tensors) {
    const QString name = QString::fromStdString(tensor.name);
    const auto at = checkpoint.Find(tensor.name);
    if (!at) return name + QStringLiteral(" is missing");
    const auto& stored = checkpoint.tensors()[static_cast<std::size_t>(*at)];
    if (stored.dtype != tensor.dtype || stored.shape != tensor.shape) {
      return name + QStringLiteral(" has another dtype or shape");
    }
    const SampleTensor units = InUnits(tensor);
    const auto whole = Box::Whole(units.shape);
    for (int i = 0; whole && i < 4; ++i) {
      const Box box = i == 0 ? *whole : BoxWithin(rng, units.shape);
      const auto expected = Extract(units, box);
      std::vector<std::byte> read(expected.size());
      const Status status = checkpoint.Read(*at, box, read);
      if (!status) return QString::fromStdString(status.error().ToString());
      if (read != expected) {
        return name + QString::fromStdString(" differs in " + ptc::ToString(box));
      }
    }
  }
  return {};
}

}  // namespace tessera::test
