// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/checkpoint.h"

#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <thread>

#include "engine/checkpoint/strided_read.h"
#include "engine/checkpoint/tiling.h"
#include "tests/engine/checkpoint/sample_tensors.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::checkpoint;
using ptc::Box;
using ptc::DType;
using ptc::Shape;

namespace {

std::string ErrorOf(Contents contents) {
  const auto made = Checkpoint::Make(std::move(contents));
  return made ? "made" : made.error().ToString();
}

Box B(std::vector<ptc::Interval> dims) { return *Box::Make(dims); }

/// Whether the boxes tile, by counting how many hold each element.
bool TilesByCounting(const Shape& shape, const std::vector<Box>& boxes) {
  const Box whole = *Box::Whole(shape);
  std::vector<int> holders(static_cast<std::size_t>(whole.num_elements()), 0);
  test::SampleTensor indices{"", DType::kI64, shape, {}};
  for (std::int64_t i = 0; i < whole.num_elements(); ++i) {
    const auto bytes = std::as_bytes(std::span(&i, 1));
    indices.bytes.insert(indices.bytes.end(), bytes.begin(), bytes.end());
  }
  for (const Box& box : boxes) {
    const auto inside = test::Extract(indices, box);
    for (std::size_t at = 0; at < inside.size(); at += 8) {
      std::int64_t index = 0;
      std::memcpy(&index, inside.data() + at, 8);
      ++holders[static_cast<std::size_t>(index)];
    }
  }
  return std::ranges::all_of(holders, [](int n) { return n == 1; });
}

}  // namespace

class CheckpointTest : public QObject {
  Q_OBJECT
 private:
  QTemporaryDir folder_;
  std::string Path(const char* name) const {
    return folder_.filePath(QString::fromLatin1(name)).toStdString();
  }

 private slots:
  void tilingFlawsAreFound() {
    std::mt19937_64 rng(test::Seed());
    int flawed = 0;
    for (int i = 0; i < 3000; ++i) {
      Shape shape(1 + rng() % 3);
      for (auto& size : shape) size = static_cast<std::int64_t>(1 + rng() % 10);
      auto boxes = test::AnyTiling(rng, *Box::Whole(shape), static_cast<int>(rng() % 60));
      switch (rng() % 4) {
        case 0:
          boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(rng() % boxes.size()));
          break;
        case 1:
          boxes.push_back(boxes[rng() % boxes.size()]);
          break;
        case 2: {
          Box& any = boxes[rng() % boxes.size()];
          const auto other = Intersect(test::AnyBox(rng, any.rank(), 10), *Box::Whole(shape));
          if (other) any = *other;
          break;
        }
        default:
          break;
      }
      std::ranges::shuffle(boxes, rng);
      const auto flaw = FindTilingFlaw(*Box::Whole(shape), boxes);
      QCOMPARE(!flaw, TilesByCounting(shape, boxes));
      if (!flaw) continue;
      ++flawed;
      // The named tensor has the stated fault.
      const auto holders = std::ranges::count_if(
          boxes, [&](const Box& box) { return Intersect(box, flaw->where).has_value(); });
      QVERIFY(flaw->missing ? holders == 0 : holders >= 2);
    }
    QVERIFY(flawed > 1000);
  }

  // A hundred thousand boxes: a grid, and rods along both dims, which no sweep along one dim likes.
  // Four times the boxes take about four times as long, not sixteen times.
  void largeTilingsAreExaminedFast() {
    const auto examine = [](std::int64_t side, std::int64_t half) {
      std::vector<Box> grid;
      for (std::int64_t x = 0; x < side; ++x) {
        for (std::int64_t y = 0; y < side; ++y) grid.push_back(B({{x, x + 1}, {y, y + 1}}));
      }
      std::vector<Box> rods;
      for (std::int64_t i = 0; i < half; ++i) {
        rods.push_back(B({{0, half}, {i, i + 1}}));
        rods.push_back(B({{half + i, half + i + 1}, {0, half}}));
      }
      const std::clock_t begin = std::clock();  // of this process: other programs do not count
      bool right = !FindTilingFlaw(B({{0, side}, {0, side}}), grid) &&
                   !FindTilingFlaw(B({{0, 2 * half}, {0, half}}), rods);
      rods.pop_back();
      const auto flaw = FindTilingFlaw(B({{0, 2 * half}, {0, half}}), rods);
      right = right && flaw && flaw->missing;
      return right ? static_cast<qint64>(std::clock() - begin) : -1;
    };
    const qint64 part = examine(150, 5000);
    const qint64 whole = examine(300, 20000);
    QVERIFY(part > 0 && whole > 0);
    const double ratio = static_cast<double>(whole) / static_cast<double>(part);
    QVERIFY2(ratio < 10, std::to_string(ratio).c_str());
  }

  void contradictionsAreRefused_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("error");
    const auto row = [](int which, const char* error) {
      QTest::newRow(error) << which
                           << QStringLiteral("'/c': tensor 'w': ") + QString::fromLatin1(error);
    };
    row(0, "range [2:4] of shape [4] is in no file");
    row(1, "range [1:2] of shape [4] is stored twice");
    row(2, "box [0:5] lies outside the shape [4]");
    row(3, "box [0:4,0:1] lies outside the shape [4]");
    row(4, "box [0:4] lies in file 1 of 1");
    row(5, "box [0:4] has 2 strides");
    row(6, "box [0:4] at byte 0 with strides [-1] has no address below 2^63");
    row(7, "box [0:4] at byte 0 with strides [4611686018427387904] has no address below 2^63");
    row(8, "box [0:4] at byte -1 with strides [] has no address below 2^63");
    row(9, "invalid argument: dim 0 = -4 of a shape is negative");
    row(10, "shape [0] has no elements but a box");
    row(11, "shape [4611686018427387904] of f32 has more than 2^63-1 bytes");
    QTest::newRow("archive") << 12
                             << "'/c': tensor 'w' is in an archive, but its format has no archives";
  }
  void contradictionsAreRefused() {
    QFETCH(int, which);
    QFETCH(QString, error);
    StoredTensor w{.name = "w", .dtype = DType::kF32, .shape = {4}, .boxes = {}};
    w.boxes.push_back({.box = B({{0, 4}})});
    StoredBox& box = w.boxes[0];
    if (which == 0) box.box = B({{0, 2}});
    if (which == 1) w.boxes = {{.box = B({{0, 2}})}, {.box = B({{1, 4}})}};
    if (which == 2) box.box = B({{0, 5}});
    if (which == 3) box.box = B({{0, 4}, {0, 1}});
    if (which == 4) box.file = 1;
    if (which == 5) box.strides = {1, 1};
    if (which == 6) box.strides = {-1};
    if (which == 7) box.strides = {std::int64_t{1} << 62};
    if (which == 8) box.offset = -1;
    if (which == 9) w.shape = {-4};
    if (which == 10) w.shape = {0};
    if (which == 11) w.shape = {std::int64_t{1} << 62};
    if (which == 12) box.archive_bytes = 100;
    const auto text =
        QString::fromStdString(ErrorOf({.path = "/c", .files = {"/f"}, .tensors = {w}}));
    QVERIFY2(text == error || text == QString(error).remove(QStringLiteral("invalid argument: ")),
             qPrintable(text));
  }

  void namesAreSortedAndUnique() {
    StoredTensor a{.name = "a", .shape = {0}, .boxes = {}};
    StoredTensor b{.name = "b", .shape = {0}, .boxes = {}};
    const auto made = Checkpoint::Make({.path = "/c", .files = {}, .tensors = {b, a}});
    QVERIFY(made.has_value());
    QVERIFY((*made)->Find("a") == std::optional(0));
    QVERIFY((*made)->Find("b") == std::optional(1));
    QVERIFY(!(*made)->Find("c"));
    QCOMPARE(ErrorOf({.path = "/c", .files = {}, .tensors = {b, b}}),
             std::string("'/c': tensor 'b' appears twice"));
  }

  void dimsAreBroughtIntoTheOrderOfTheFile() {
    using D = StridedDim;
    QVERIFY((Normalize({{4, 12, 12}, {3, 4, 4}, {4, 1, 1}}) == std::vector<D>{{48, 1, 1}}));
    QVERIFY((Normalize({{4, 1, 3}, {1, 9, 9}, {3, 4, 1}}) == std::vector<D>{{3, 4, 1}, {4, 1, 3}}));
    QVERIFY((Normalize({{2, 100, 4}, {4, 1, 1}}) == std::vector<D>{{2, 100, 4}, {4, 1, 1}}));
    QVERIFY(Normalize({}).empty());
  }

  // Boxes stored with any strides: transposed, with gaps, broadcast (stride 0); long runs too.
  void stridedBoxesAreRead() {
    std::mt19937_64 rng(test::Seed() + 1);
    std::string content(3 << 20, '\0');
    for (char& c : content) c = static_cast<char>(rng());
    test::WriteText(Path("strided"), content);
    for (int i = 0; i < 300; ++i) {
      const DType dtype = std::array{DType::kU8, DType::kBF16, DType::kF32, DType::kI64}[rng() % 4];
      const auto size = ptc::SizeBytes(dtype);
      const bool large = i % 10 == 0;
      Shape shape(1 + rng() % 3);
      for (auto& n : shape) n = static_cast<std::int64_t>(1 + rng() % (large ? 60 : 7));
      // Strides of a memory with its dims in any order and with any space between.
      std::vector<std::int64_t> strides(shape.size());
      std::vector<std::size_t> order(shape.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::shuffle(order, rng);
      std::int64_t stride = rng() % 4 == 0 ? 2 : 1;
      for (const std::size_t d : order) {
        strides[d] = rng() % 10 == 0 ? 0 : stride;
        stride = stride * shape[d] + static_cast<std::int64_t>(rng() % 3 == 0 ? rng() % 5 : 0);
      }
      if (stride * size + 64 > static_cast<std::int64_t>(content.size())) continue;
      const auto offset = static_cast<std::int64_t>(rng() % 64);
      test::SampleTensor expected{"w", dtype, shape, {}};
      const Box whole = *Box::Whole(shape);
      for (std::int64_t e = 0; e < whole.num_elements(); ++e) {
        std::int64_t rest = e;
        std::int64_t at = 0;
        for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
          at += rest % shape[d] * strides[d];
        }
        const auto* from = content.data() + offset + at * size;
        const auto bytes = std::as_bytes(std::span(from, static_cast<std::size_t>(size)));
        expected.bytes.insert(expected.bytes.end(), bytes.begin(), bytes.end());
      }
      StoredTensor stored{.name = "w", .dtype = dtype, .shape = shape, .boxes = {}};
      stored.boxes.push_back({.box = whole, .offset = offset, .strides = strides});
      const auto made =
          Checkpoint::Make({.path = "c", .files = {Path("strided")}, .tensors = {stored}});
      QVERIFY(made.has_value());
      const QString differs = test::Differs(**made, {expected}, rng);
      QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }
  }

  // Columns of a matrix in runs of 1 KiB, whole rows of 256 KiB, and all of it: beyond the buffer.
  void largeMatricesAreRead() {
    std::mt19937_64 rng(test::Seed() + 2);
    test::SampleTensor matrix{"w", DType::kU8, {64, 256 << 10}, {}};
    matrix.bytes.resize(64 * (256 << 10));
    for (std::size_t i = 0; i < matrix.bytes.size(); i += 8) {
      const std::uint64_t word = rng();
      std::memcpy(matrix.bytes.data() + i, &word, 8);
    }
    test::WriteText(Path("matrix"),
                    {reinterpret_cast<const char*>(matrix.bytes.data()), matrix.bytes.size()});
    StoredTensor stored{.name = "w", .dtype = DType::kU8, .shape = matrix.shape, .boxes = {}};
    stored.boxes.push_back({.box = *Box::Whole(matrix.shape)});
    const auto made =
        Checkpoint::Make({.path = "c", .files = {Path("matrix")}, .tensors = {stored}});
    QVERIFY(made.has_value());
    for (const Box& box : {B({{0, 64}, {5, 1029}}), B({{3, 60}, {0, 256 << 10}}),
                           B({{1, 63}, {100, 200100}}), B({{0, 64}, {7, 8}})}) {
      std::vector<std::byte> read(static_cast<std::size_t>(box.num_elements()));
      QVERIFY((*made)->Read(0, box, read).has_value());
      std::size_t at = 0;
      for (std::int64_t row = box[0].begin; row < box[0].end; ++row) {
        const auto first = matrix.bytes.begin() + row * (256 << 10);
        QVERIFY(std::equal(first + box[1].begin, first + box[1].end,
                           read.begin() + static_cast<std::ptrdiff_t>(at)));
        at += static_cast<std::size_t>(box[1].size());
      }
    }
  }

  void filesThatShrinkAreNamed() {
    test::WriteText(Path("shrinks"), std::string(100, 'x'));
    StoredTensor stored{.name = "w", .dtype = DType::kU8, .shape = {100}, .boxes = {}};
    stored.boxes.push_back({.box = B({{0, 100}})});
    const auto made =
        Checkpoint::Make({.path = "c", .files = {Path("shrinks")}, .tensors = {stored}});
    std::vector<std::byte> out(60);
    QVERIFY((*made)->Read(0, B({{40, 100}}), out).has_value());
    QCOMPARE(::truncate(Path("shrinks").c_str(), 50), 0);
    const auto status = (*made)->Read(0, B({{40, 100}}), out);
    QVERIFY(!status.has_value());
    QVERIFY(status.error().code == ErrorCode::kUnavailable);
    QCOMPARE(status.error().ToString(),
             "'" + Path("shrinks") + "' ends at byte 50, where 50 more bytes were expected");
  }

  void manyFilesFromManyThreads() {
    Contents contents{.path = "c", .files = {}, .tensors = {}};
    StoredTensor stored{.name = "w", .dtype = DType::kI32, .shape = {1000}, .boxes = {}};
    for (std::int32_t i = 0; i < 1000; ++i) {
      const std::string path = Path(("f" + std::to_string(i)).c_str());
      test::WriteText(path, {reinterpret_cast<const char*>(&i), sizeof(i)});
      contents.files.push_back(path);
      stored.boxes.push_back({.box = B({{i, i + 1}}), .file = i});
    }
    contents.tensors = {stored};
    const auto made = Checkpoint::Make(std::move(contents));
    QVERIFY(made.has_value());
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        std::mt19937_64 rng(t);
        for (int n = 0; n < 300; ++n) {
          const auto begin = static_cast<std::int64_t>(rng() % 990);
          std::vector<std::int32_t> out(10);
          const auto read =
              (*made)->Read(0, B({{begin, begin + 10}}), std::as_writable_bytes(std::span(out)));
          for (std::int64_t k = 0; k < 10; ++k) {
            if (!read || out[static_cast<std::size_t>(k)] != begin + k) ++wrong[t];
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
    const auto held = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    QVERIFY2(held < 200, qPrintable(QString::number(held)));
  }
};

TESSERA_TEST_APPLESS(CheckpointTest)
#include "checkpoint_test.moc"
