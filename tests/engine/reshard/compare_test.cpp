// SPDX-License-Identifier: Apache-2.0
// Two checkpoints are equal whatever their cuts, or the first elements that differ are named.
#include "engine/reshard/compare.h"

#include <QTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/reshard/reshard.h"
#include "engine/reshard/tiles.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

namespace tessera::reshard {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Format;

class CompareTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    folder_ = test::TemporaryFolder();
    QVERIFY(folder_->isValid());
  }

  void tilesCutATensorIntoRuns() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 2000; ++round) {
      ptc::Shape shape(rng() % 5);
      for (auto& size : shape) size = static_cast<std::int64_t>(rng() % 9);
      const auto most = 1 + static_cast<std::int64_t>(rng() % 200);
      const Tiles tiles(shape, most);
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < tiles.count(); ++i) {
        const ptc::Box box = tiles.At(i);
        QVERIFY(box.num_elements() <= most);
        QCOMPARE(FirstIndex(shape, box), next);
        QCOMPARE(ContiguousOffset(*ptc::Box::Whole(shape), box), std::optional(next));
        const auto indices = IndicesOf(shape, next);
        for (std::size_t d = 0; d < indices.size(); ++d) {
          QCOMPARE(indices[d], box[static_cast<int>(d)].begin);
        }
        next += box.num_elements();
      }
      QCOMPARE(next, *ptc::NumElements(shape));
    }
  }

  void equalUnderOtherCuts() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 20; ++round) {
      const auto tensors = test::AnyTensors(rng, 8);
      QVERIFY(test::WriteSafetensors(Path("a"), 1, tensors));
      const auto a = Checkpoint::Open(Path("a"));
      VERIFY_OK(a);
      VERIFY_OK(Reshard(**a, Path("b"),
                        {.format = Format::kShardedSafetensors,
                         .layout = test::AnyLayout(rng, tensors),
                         .replace = true}));
      const auto b = Checkpoint::Open(Path("b"));
      VERIFY_OK(b);
      const auto found = Compare(**a, **b, {});
      VERIFY_OK(found);
      QVERIFY(found->differences.empty());
      QCOMPARE(found->num_tensors, 8);
    }
  }

  void differencesAreNamed() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 12; ++round) {
      // Rows of 1 MiB, more than a tile in all.
      const OutTensor tensor{"w", ptc::DType::kU8, {9, 1 << 20}};
      auto bytes = test::BytesOfTensor(5, tensor);
      QVERIFY(test::WriteSafetensors(Path("a"), 5, {tensor}));
      std::filesystem::copy_file(Path("a"), Path("b"),
                                 std::filesystem::copy_options::overwrite_existing);
      // Some runs of other elements, one of them across the border of two tiles.
      std::vector<bool> differs(bytes.size(), false);
      {
        std::fstream file(Path("b"), std::ios::in | std::ios::out | std::ios::binary);
        const auto head = std::filesystem::file_size(Path("b")) - bytes.size();
        for (int run = 0; run < 1 + round % 12; ++run) {
          std::size_t at = run == 0 ? (std::size_t{4} << 20) - 3 : rng() % (bytes.size() - 10);
          for (const std::size_t end = at + 1 + rng() % 9; at < end; ++at) {
            differs[at] = true;
            file.seekp(static_cast<std::streamoff>(head + at));
            file.put(static_cast<char>(~static_cast<unsigned char>(bytes[at])));
          }
        }
      }
      std::vector<std::pair<std::int64_t, std::int64_t>> expected;
      for (std::size_t i = 0; i < differs.size(); ++i) {
        if (!differs[i]) continue;
        const auto index = static_cast<std::int64_t>(i);
        if (!expected.empty() && expected.back().second == index) {
          ++expected.back().second;
        } else {
          expected.emplace_back(index, index + 1);
        }
      }
      const auto a = Checkpoint::Open(Path("a"));
      const auto b = Checkpoint::Open(Path("b"));
      VERIFY_OK(a);
      VERIFY_OK(b);
      const auto found = Compare(**a, **b, {});
      VERIFY_OK(found);
      QCOMPARE(found->differences.size(), 1U);
      const TensorDifference& difference = found->differences[0];
      QCOMPARE(difference.num_different, std::ranges::count(differs, true));
      QCOMPARE(difference.ranges.size(), std::min(expected.size(), kMostRanges));
      for (std::size_t r = 0; r < difference.ranges.size(); ++r) {
        const DifferentRange& range = difference.ranges[r];
        QCOMPARE(range.begin, expected[r].first);
        QCOMPARE(range.end, expected[r].second);
        const auto value = static_cast<unsigned char>(bytes[static_cast<std::size_t>(range.begin)]);
        QCOMPARE(range.a, std::to_string(value));
        QCOMPARE(range.b, std::to_string(255 - value));
      }
    }
  }

  void namesAndForms() {
    QVERIFY(test::WriteSafetensors(Path("a"), 1,
                                   {{"both", ptc::DType::kU8, {3}},
                                    {"dtype", ptc::DType::kU8, {3}},
                                    {"in a", ptc::DType::kU8, {}},
                                    {"shape", ptc::DType::kU8, {3, 1}}}));
    QVERIFY(test::WriteSafetensors(Path("b"), 1,
                                   {{"both", ptc::DType::kU8, {3}},
                                    {"dtype", ptc::DType::kBool, {3}},
                                    {"in b", ptc::DType::kU8, {}},
                                    {"shape", ptc::DType::kU8, {3}}}));
    const auto a = Checkpoint::Open(Path("a"));
    const auto b = Checkpoint::Open(Path("b"));
    VERIFY_OK(a);
    VERIFY_OK(b);
    const auto found = Compare(**a, **b, {});
    VERIFY_OK(found);
    QCOMPARE(found->num_tensors, 5);
    QStringList text;
    for (const TensorDifference& d : found->differences)
      text << QString::fromStdString(d.name) + (d.a ? " a" : "") + (d.b ? " b" : "");
    QCOMPARE(text, QStringList({"dtype a b", "in a a", "in b b", "shape a b"}));
  }

  void elementsAsText() {
    const auto text = [](ptc::DType dtype, auto value) {
      return FormatElement(dtype, reinterpret_cast<const std::byte*>(&value));
    };
    QCOMPARE(text(ptc::DType::kF32, 0.1F), std::string("0.1"));
    QCOMPARE(text(ptc::DType::kF32, -0.0F), std::string("-0"));
    QCOMPARE(text(ptc::DType::kF64, 0.1), std::string("0.1"));
    QCOMPARE(text(ptc::DType::kBF16, std::uint16_t{0x3f80}), std::string("1"));
    QCOMPARE(text(ptc::DType::kF16, std::uint16_t{0xc000}), std::string("-2"));
    QCOMPARE(text(ptc::DType::kF8E4M3, std::uint8_t{0x38}), std::string("1"));
    QCOMPARE(text(ptc::DType::kBool, std::uint8_t{1}), std::string("true"));
    QCOMPARE(text(ptc::DType::kI8, std::int8_t{-3}), std::string("-3"));
    QCOMPARE(text(ptc::DType::kI64, INT64_MIN), std::string("-9223372036854775808"));
  }

 private:
  std::string Path(const std::string& name) const {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }
  std::unique_ptr<QTemporaryDir> folder_;
};

}  // namespace
}  // namespace tessera::reshard

TESSERA_TEST(tessera::reshard::CompareTest)
#include "compare_test.moc"
