// SPDX-License-Identifier: Apache-2.0
// Which pieces lie in which files, and that tensors in any pieces read back.
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors/piece.h"
#include "tests/engine/checkpoint/sample_checkpoint.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::checkpoint;
using ptc::Box;
using ptc::DType;

namespace {

std::vector<test::SampleTensor> AnyTensors(std::mt19937_64& rng, int count) {
  std::vector<test::SampleTensor> tensors;
  for (int t = 0; t < count; ++t) {
    tensors.push_back(
        test::AnyTensor(rng, "layer." + std::to_string(rng() % 1000) + "." + std::to_string(t)));
  }
  return tensors;
}

/// The tensors cut at random, in three shards.
std::vector<Piece> AnyPieces(std::mt19937_64& rng, const std::vector<test::SampleTensor>& tensors) {
  std::vector<Piece> pieces;
  for (const Piece& whole : test::WholePieces(tensors)) {
    std::vector<std::optional<Box>> boxes = {whole.box};
    if (whole.box) {
      const auto tiling = test::AnyTiling(rng, *whole.box, static_cast<int>(rng() % 6));
      boxes.assign(tiling.begin(), tiling.end());
    }
    for (const auto& box : boxes) {
      pieces.push_back(whole);
      pieces.back().box = box;
      pieces.back().shard = static_cast<int>(rng() % 3);
    }
  }
  return pieces;
}

}  // namespace

class SafetensorsPiecesTest : public QObject {
  Q_OBJECT
 private slots:
  void anyCutReadsBack_data() {
    QTest::addColumn<int>("format");
    QTest::newRow("one file") << static_cast<int>(Format::kSafetensors);
    QTest::newRow("huggingface") << static_cast<int>(Format::kHuggingFace);
    QTest::newRow("sharded") << static_cast<int>(Format::kShardedSafetensors);
  }
  void anyCutReadsBack() {
    QFETCH(int, format);
    const auto kind = static_cast<Format>(format);
    std::mt19937_64 rng(test::Seed() + static_cast<unsigned>(format));
    for (int i = 0; i < 12; ++i) {
      const QTemporaryDir folder;
      const std::string path = folder.filePath(QStringLiteral("out")).toStdString();
      const auto tensors = AnyTensors(rng, i == 0 ? 0 : static_cast<int>(1 + rng() % 12));
      const auto pieces = kind == Format::kShardedSafetensors ? AnyPieces(rng, tensors)
                                                              : test::WholePieces(tensors);
      VERIFY_OK(test::WriteCheckpoint(kind, path, tensors, pieces,
                                      {.alignment = rng() % 2 == 0 ? 8 : 4096,
                                       .file_bytes = 1000,
                                       .digests = true,
                                       .metadata = {{"origin", "a \"test\""}}}));
      const auto opened = Checkpoint::Open(path);
      VERIFY_OK(opened);
      QVERIFY((*opened)->format() == kind);
      QCOMPARE((*opened)->metadata().at("origin"), std::string("a \"test\""));
      QVERIFY(!(*opened)->metadata().contains("tessera.digests"));
      QVERIFY(!(*opened)->metadata().contains("tessera.digest"));
      QCOMPARE((*opened)->UncomparedDigests(), std::string());
      const QString differs = test::Differs(**opened, tensors, rng);
      QVERIFY2(differs.isEmpty(), qPrintable(differs));
      for (const auto& tensor : tensors) {
        const auto& stored =
            (*opened)->tensors()[static_cast<std::size_t>(*(*opened)->Find(tensor.name))];
        const auto whole = Box::Whole(tensor.shape);
        QCOMPARE(stored.digest,
                 std::optional(whole ? test::DigestByDefinition(tensor, *whole) : 0));
        for (const StoredBox& box : stored.boxes) {
          QCOMPARE(box.offset % ptc::SizeBytes(stored.dtype), std::int64_t{0});
        }
      }
    }
  }

  void digestsOfAnotherAlgorithmAreNotCompared() {
    std::mt19937_64 rng(test::Seed());
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("out")).toStdString();
    const auto tensors = AnyTensors(rng, 2);
    VERIFY_OK(test::WriteCheckpoint(Format::kSafetensors, path, tensors, test::WholePieces(tensors),
                                    {.digests = true, .digest_algorithm = "mi\nx"}));
    const auto opened = Checkpoint::Open(path);
    VERIFY_OK(opened);
    for (const auto& tensor : (*opened)->tensors()) QVERIFY(!tensor.digest.has_value());
    QVERIFY((*opened)->metadata().empty());
    QCOMPARE((*opened)->UncomparedDigests(),
             std::string("its digests are not compared: their algorithm is 'mi?x', this version "
                         "knows 'linear32-1'"));
  }

  void filesHaveTheirNames() {
    const Box low = *Box::Make(std::array{ptc::Interval{0, 2}});
    const Box high = *Box::Make(std::array{ptc::Interval{2, 4}});
    const std::vector<Piece> pieces = {{"b", DType::kF32, {4}, high, 0},
                                       {"b", DType::kF32, {4}, low, 0},
                                       {"a", DType::kF32, {4}, low, 0},
                                       {"a", DType::kF32, {4}, high, 2}};
    const auto sharded = PlanFiles(Format::kShardedSafetensors, "x", pieces, {});
    QVERIFY((*sharded ==
             std::vector<PlannedFile>{{"shard-00001-model-00001-of-00002.safetensors", {2, 1}},
                                      {"shard-00001-model-00002-of-00002.safetensors", {0}},
                                      {"shard-00003-model-00001-of-00001.safetensors", {3}}}));
    const std::vector<Piece> whole = {{"a", DType::kF32, {4}, Box::Whole({4})},
                                      {"b", DType::kF32, {4}, Box::Whole({4})},
                                      {"c", DType::kF32, {4}, Box::Whole({4})}};
    const auto split = PlanFiles(Format::kHuggingFace, "x", whole, {.most_bytes = 32});
    QVERIFY((*split == std::vector<PlannedFile>{{"model-00001-of-00002.safetensors", {0, 1}},
                                                {"model-00002-of-00002.safetensors", {2}}}));
    const auto together = PlanFiles(Format::kHuggingFace, "x", whole, {.most_bytes = 48});
    QVERIFY((*together == std::vector<PlannedFile>{{"model.safetensors", {0, 1, 2}}}));
  }

  // The requested number of files, in the order of the names, with the largest as small as
  // possible: compared with all ways to cut the list.
  void filesByNumber() {
    std::mt19937_64 rng(test::Seed() + 11);
    for (int i = 0; i < 200; ++i) {
      std::vector<Piece> pieces;
      const std::size_t tensors = 1 + rng() % 9;
      for (std::size_t t = 0; t < tensors; ++t) {
        const ptc::Shape shape = {static_cast<std::int64_t>(rng() % 20)};
        pieces.push_back(
            {std::string(1, static_cast<char>('a' + t)), DType::kU8, shape, Box::Whole(shape)});
      }
      const std::size_t count = 1 + rng() % tensors;
      const auto plan =
          PlanFiles(Format::kHuggingFace, "x", pieces, {.count = static_cast<int>(count)});
      QVERIFY2(plan.has_value(), plan ? "" : plan.error().message.c_str());
      QCOMPARE(plan->size(), count);
      std::vector<int> in_order;
      std::int64_t largest = 0;
      for (const PlannedFile& file : *plan) {
        std::int64_t bytes = 0;
        for (const int p : file.pieces) {
          in_order.push_back(p);
          bytes += pieces[static_cast<std::size_t>(p)].shape[0];
        }
        QVERIFY(!file.pieces.empty());
        largest = std::max(largest, bytes);
      }
      std::vector<int> all(tensors);
      std::iota(all.begin(), all.end(), 0);
      QCOMPARE(in_order, all);
      std::int64_t best = std::numeric_limits<std::int64_t>::max();
      for (std::uint32_t cuts = 0; cuts < 1U << (tensors - 1); ++cuts) {
        if (static_cast<std::size_t>(std::popcount(cuts)) + 1 != count) continue;
        std::int64_t worst = 0;
        std::int64_t bytes = 0;
        for (std::size_t t = 0; t < tensors; ++t) {
          if (t > 0 && ((cuts >> (t - 1)) & 1) != 0) bytes = 0;
          bytes += pieces[t].shape[0];
          worst = std::max(worst, bytes);
        }
        best = std::min(best, worst);
      }
      QCOMPARE(largest, best);
    }
    const std::vector<Piece> one = {{"w", DType::kU8, {1}, Box::Whole({1})}};
    QCOMPARE(PlanFiles(Format::kHuggingFace, "x", one, {.count = 2}).error().message,
             std::string("2 files were requested for 1 tensors"));
  }

  void wrongPiecesAreRefused_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("error");
    QTest::newRow("cut") << 0 << "tensor 'w' has 2 pieces where one is allowed";
    QTest::newRow("missing") << 1 << "tensor 'w' has no piece for range [2:4]";
    QTest::newRow("twice") << 2 << "tensor 'w' has two pieces for range [0:2]";
    QTest::newRow("dtypes") << 3 << "tensor 'w' has pieces of different dtypes or shapes";
    QTest::newRow("outside") << 4
                             << "tensor 'w' has piece 'w' [0:2] that does not fit its shape [1]";
    QTest::newRow("format") << 5 << "checkpoints of format dcp are read only";
  }
  void wrongPiecesAreRefused() {
    QFETCH(int, which);
    QFETCH(QString, error);
    const Box low = *Box::Make(std::array{ptc::Interval{0, 2}});
    const Box high = *Box::Make(std::array{ptc::Interval{2, 4}});
    std::vector<Piece> pieces = {{"w", DType::kF32, {4}, low}, {"w", DType::kF32, {4}, high}};
    Format format = Format::kShardedSafetensors;
    if (which == 0) format = Format::kHuggingFace;
    if (which == 1) pieces.pop_back();
    if (which == 2) pieces.push_back(pieces[0]);
    if (which == 3) pieces[1].dtype = DType::kF64;
    if (which == 4) pieces = {{"w", DType::kF32, {1}, low}};
    if (which == 5) format = Format::kTorchDcp;
    const auto plan = PlanFiles(format, "x", pieces, {});
    QVERIFY(!plan.has_value());
    QCOMPARE(QString::fromStdString(plan.error().message), error);
  }

  // Replicas are stored once, spread over their holders; boxes that overlap give way.
  void replicasAreStoredOnce() {
    std::mt19937_64 rng(test::Seed() + 10);
    for (int i = 0; i < 300; ++i) {
      std::vector<Piece> held;
      const ptc::Shape shape = {1 + static_cast<std::int64_t>(rng() % 6),
                                1 + static_cast<std::int64_t>(rng() % 6)};
      for (const char* name : {"a", "b"}) {
        for (const Box& box : test::AnyTiling(rng, *Box::Whole(shape), 4)) {
          for (int copies = 1 + static_cast<int>(rng() % 3); copies > 0; --copies) {
            held.push_back({name, DType::kF32, shape, box, static_cast<int>(rng() % 4)});
          }
        }
        const auto extra = Intersect(test::AnyBox(rng, 2, 6), *Box::Whole(shape));
        if (extra) held.push_back({name, DType::kF32, shape, *extra, static_cast<int>(rng() % 4)});
      }
      const auto once = StoreOnce(held);
      const auto plan = PlanFiles(Format::kShardedSafetensors, "x", once, {});
      QVERIFY2(plan.has_value(), plan ? "" : plan.error().message.c_str());
      for (const Piece& piece : once) {
        QVERIFY(std::ranges::any_of(held, [&](const Piece& from) {
          return from.tensor == piece.tensor && from.shard == piece.shard &&
                 Contains(*from.box, *piece.box);
        }));
      }
      std::ranges::shuffle(held, rng);
      QVERIFY(StoreOnce(held) == once);
    }
    // Eight tensors that four shards hold: two each.
    std::vector<Piece> held;
    for (int t = 0; t < 8; ++t) {
      for (int s = 0; s < 4; ++s) {
        held.push_back({"t" + std::to_string(t), DType::kF32, {4}, Box::Whole({4}), s});
      }
    }
    const auto once = StoreOnce(held);
    for (int s = 0; s < 4; ++s) QCOMPARE(std::ranges::count(once, s, &Piece::shard), 2);
  }
};

TESSERA_TEST_APPLESS(SafetensorsPiecesTest)
#include "safetensors_pieces_test.moc"
