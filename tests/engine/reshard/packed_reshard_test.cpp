// SPDX-License-Identifier: Apache-2.0
// Tensors with elements below one byte, cut and joined: judged bit by bit, from files that are read
// here without the code under test.
#include <QTest>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/reshard/compare.h"
#include "engine/reshard/reshard.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/engine/reshard/reshard_fixture.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;
using checkpoint::Checkpoint;
using checkpoint::Format;
using Json = nlohmann::json;

/// Bits of the element at an index.
unsigned Code(std::int64_t index, int bits) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(index) * 2654435761U) >> 7) &
         ((1U << bits) - 1);
}

/// Elements 0 to count - 1, the first one in the lowest bits.
std::string Packed(std::int64_t count, int bits) {
  std::string bytes(static_cast<std::size_t>(count * bits / 8), '\0');
  for (std::int64_t bit = 0; bit < count * bits; ++bit) {
    const unsigned one = (Code(bit / bits, bits) >> (bit % bits)) & 1;
    auto& byte = bytes[static_cast<std::size_t>(bit / 8)];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | (one << (bit % 8)));
  }
  return bytes;
}

std::string FileOf(const Json& header, const std::string& data) {
  const std::string json = header.dump();
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) out += static_cast<char>((json.size() >> (8 * i)) & 0xff);
  return out + json + data;
}

class PackedReshardTest : public test::ReshardFixture {
  Q_OBJECT

 private slots:
  void init() { NewFolder(); }

  void cutAndJoined() {
    std::mt19937_64 rng(test::Seed());
    int cut = 0;
    for (int i = 0; i < 60; ++i) {
      const int bits = rng() % 2 == 0 ? 4 : 6;
      const std::string dtype = bits == 4 ? "F4" : rng() % 2 == 0 ? "F6_E2M3" : "F6_E3M2";
      ptc::Shape shape(1 + rng() % 3);
      for (std::int64_t& size : shape) size = 1 + static_cast<std::int64_t>(rng() % 24);
      shape[rng() % shape.size()] *= 4;
      const std::int64_t elements = *ptc::NumElements(shape);
      const std::string data = Packed(elements, bits);
      const Json header = {
          {"w", {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {0, data.size()}}}}};
      test::WriteFile(Path("src.safetensors"), FileOf(header, data));
      const auto source = Checkpoint::Open(Path("src.safetensors"));
      VERIFY_OK(source);
      Options options{.format = Format::kShardedSafetensors, .replace = true, .verify = true};
      options.tile_bytes = 16 << (rng() % 6);
      const auto dim = static_cast<std::size_t>(rng() % shape.size());
      const bool ceil = rng() % 2 == 0;
      options.layout = CutIn(shape, dim, ceil, 2 + static_cast<int>(rng() % 2));
      if (!options.layout) continue;  // does not divide
      const auto report = Reshard(**source, Path("cut"), options);
      if (!report) {
        QVERIFY2(QString::fromStdString(report.error().ToString())
                     .contains(QStringLiteral("tensor 'w': the cut at ")),
                 report.error().ToString().c_str());
        continue;
      }
      ++cut;
      std::int64_t found = 0;
      VerifyShards(bits, shape, found);
      QCOMPARE(found, elements);
      const auto joined = Checkpoint::Open(Path("cut"));
      VERIFY_OK(joined);
      QCOMPARE((*joined)->tensors()[0].shape, shape);
      Options back{.replace = true};
      back.tile_bytes = 16 << (rng() % 6);
      const auto again = Reshard(**joined, Path("back.safetensors"), back);
      VERIFY_OK(again);
      QCOMPARE(again->digest, report->digest);
      const std::string file = test::Slurp(Path("back.safetensors"));
      QVERIFY(file.ends_with(data));
      const auto compared = Compare(**source, **joined, {});
      VERIFY_OK(compared);
      QVERIFY(compared->differences.empty());
    }
    QVERIFY(cut > 5);
  }

  void cutsInsideAByteAreRefused() {
    const std::string data = Packed(24, 4);
    test::WriteFile(
        Path("src.safetensors"),
        FileOf({{"w", {{"dtype", "F4"}, {"shape", {4, 6}}, {"data_offsets", {0, 12}}}}}, data));
    const auto source = Checkpoint::Open(Path("src.safetensors"));
    VERIFY_OK(source);
    Options options{.format = Format::kShardedSafetensors};
    options.layout = CutIn({4, 6}, 1, false, 2);
    VERIFY_ERROR(Reshard(**source, Path("cut"), options), ErrorCode::kInvalidArgument,
                 "tensor 'w': the cut at 3 of dim 1 lies inside a byte of f4 [4,6]");
    QVERIFY(!fs::exists(Path("cut")) && !fs::exists(Path("cut.partial")));
    VERIFY_ERROR(Reshard(**source, Path("b.safetensors"), {.dtypes = {{"w", ptc::DType::kBF16}}}),
                 ErrorCode::kInvalidArgument, "tensor 'w' is f4 and cannot become bf16");
  }

  void differencesAreNamedByByte() {
    std::string data = Packed(16, 6);
    const Json header = {
        {"w", {{"dtype", "F6_E2M3"}, {"shape", {4, 4}}, {"data_offsets", {0, data.size()}}}}};
    test::WriteFile(Path("a.safetensors"), FileOf(header, data));
    const auto before = static_cast<unsigned char>(data[7]);
    data[7] = static_cast<char>(before ^ 0x10U);
    test::WriteFile(Path("b.safetensors"), FileOf(header, data));
    const auto a = Checkpoint::Open(Path("a.safetensors"));
    const auto b = Checkpoint::Open(Path("b.safetensors"));
    VERIFY_OK(a);
    VERIFY_OK(b);
    const auto compared = Compare(**a, **b, {});
    VERIFY_OK(compared);
    QCOMPARE(compared->bytes, std::int64_t{12});
    QCOMPARE(compared->differences.size(), std::size_t{1});
    const TensorDifference& difference = compared->differences[0];
    QCOMPARE(difference.num_different, std::int64_t{1});
    QCOMPARE(difference.ranges[0].begin, std::int64_t{7});
    QCOMPARE(difference.ranges[0].end, std::int64_t{8});
    QCOMPARE(QString::fromStdString(difference.ranges[0].a),
             QStringLiteral("0x%1").arg(before, 2, 16, QLatin1Char('0')));
  }

 private:
  static std::optional<ptc::Layout> CutIn(const ptc::Shape& shape, std::size_t dim, bool ceil,
                                          int parts) {
    ptc::TensorSpec spec{.name = "w", .dtype = ptc::DType::kU8, .shape = shape};
    spec.rule.dims.resize(shape.size());
    spec.rule.dims[dim].axes = {ptc::Axis::kTp};
    if (ceil) spec.rule.dims[dim].split = ptc::Split::kCeil;
    const auto tensors = ptc::Collection::Make({spec}, 0);
    if (!tensors) return std::nullopt;
    const auto mesh =
        ptc::ParseDeviceMesh("tp=" + std::to_string(parts) + " on 1x" + std::to_string(parts));
    auto layout = ptc::Layout::Make(*mesh, *tensors);
    return layout ? std::optional(*std::move(layout)) : std::nullopt;
  }

  /// Each element of each shard is that of its index in the whole tensor.
  void VerifyShards(int bits, const ptc::Shape& shape, std::int64_t& found) const {
    for (const auto& entry : fs::directory_iterator(Path("cut"))) {
      if (entry.path().extension() != ".safetensors") continue;
      const std::string file = test::Slurp(entry.path().string());
      std::uint64_t length = 0;
      std::memcpy(&length, file.data(), sizeof(length));
      const Json header = Json::parse(file.substr(8, length));
      const Json offsets =
          Json::parse(header["__metadata__"]["DCP_SHARDING_INFO"].get<std::string>());
      const auto part = header["w"]["shape"].get<ptc::Shape>();
      const auto begin = offsets["w"]["saved_offsets"].get<ptc::Shape>();
      const std::int64_t elements = *ptc::NumElements(part);
      QCOMPARE(static_cast<std::int64_t>(file.size() - 8 - length), elements * bits / 8);
      for (std::int64_t i = 0; i < elements; ++i) {
        std::int64_t index = 0;
        std::int64_t rest = i;
        std::int64_t stride = 1;
        for (std::size_t d = shape.size(); d-- > 0;) {
          index += (begin[d] + rest % part[d]) * stride;
          rest /= part[d];
          stride *= shape[d];
        }
        unsigned code = 0;
        for (int b = 0; b < bits; ++b) {
          const std::int64_t bit = i * bits + b;
          const auto byte =
              static_cast<unsigned char>(file[8 + length + static_cast<std::size_t>(bit / 8)]);
          code |= ((byte >> (bit % 8)) & 1U) << b;
        }
        QCOMPARE(code, Code(index, bits));
      }
      found += elements;
    }
  }
};

}  // namespace
}  // namespace tessera::reshard

TESSERA_TEST(tessera::reshard::PackedReshardTest)
#include "packed_reshard_test.moc"
