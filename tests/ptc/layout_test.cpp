// SPDX-License-Identifier: Apache-2.0
#include "ptc/layout.h"

#include <QTest>
#include <limits>
#include <nlohmann/json.hpp>

#include "ptc/layout_pair.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::ElementsOf;
using tessera::test::HeldElements;

namespace {

using Specs = std::vector<TensorSpec>;

TensorSpec Spec(std::string name, Shape shape, const std::vector<std::vector<Axis>>& rule = {}) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  for (const std::vector<Axis>& axes : rule) spec.rule.dims.push_back({axes});
  return spec;
}

TensorSpec Fused(std::string name) {
  TensorSpec spec = Spec(std::move(name), {12, 4}, {{Axis::kTp}, {}});
  spec.segments = Segments{0, {{4}, {4}, {4}}};
  return spec;
}

TensorSpec Placed(std::string name, StagePlace place, std::int64_t layer = 0) {
  TensorSpec spec = Spec(std::move(name), {2});
  spec.place = place;
  spec.layer = layer;
  return spec;
}

Layout LayoutOf(const std::string& mesh, Specs specs, std::int64_t num_layers = 4) {
  return *Layout::Make(*ParseDeviceMesh(mesh), *Collection::Make(std::move(specs), num_layers));
}

/// One layout with every optional part in it.
Layout Golden() {
  TensorSpec qkv = Fused("h.0.qkv");
  qkv.place = StagePlace::kLayer;
  TensorSpec moment = Spec("wte", {8, 4}, {{Axis::kDp, Axis::kTp}, {}});
  moment.name = "wte.exp_avg";
  moment.role = TensorRole::kExpAvg;
  moment.place = StagePlace::kFirstAndLast;
  TensorSpec step = Spec("step", {});
  step.dtype = DType::kI64;
  step.role = TensorRole::kScalar;
  return LayoutOf("dp=2,tp=2,pp=1 on n0g0,n0g1,n1g0,n1g1", {qkv, moment, step}, 2);
}

const std::string kGoldenText =
    R"({"mesh":"dp=2,tp=2,pp=1 on n0g0,n0g1,n1g0,n1g1","num_layers":2,"tensors":[)"
    R"({"dtype":"f32","layer":0,"name":"h.0.qkv","place":"layer","role":"param",)"
    R"("rule":[["tp"],[]],"segments":{"dim":0,"sizes":[4,4,4]},"shape":[12,4]},)"
    R"({"dtype":"i64","name":"step","place":"all","role":"scalar","rule":[],"shape":[]},)"
    R"({"dtype":"f32","name":"wte.exp_avg","place":"first_and_last","role":"exp_avg",)"
    R"("rule":[["dp","tp"],[]],"shape":[8,4]}]})";

std::string Boxes(const Layout& layout, int rank, int tensor) {
  std::string text;
  for (const Box& box : layout.Boxes(rank, tensor)) text += ToString(box);
  return text;
}

}  // namespace

class LayoutTest : public QObject {
  Q_OBJECT
 private slots:
  void unevenCutsAreRefused_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<TensorSpec>("spec");
    QTest::addColumn<QString>("message");
    QTest::newRow("one axis") << "tp=4 on 1x4" << Spec("h.0.w", {3, 10}, {{}, {Axis::kTp}})
                              << "tensor 'h.0.w': dim 1 = 10 is not divisible by axis tp = 4";
    QTest::newRow("two axes") << "dp=2,tp=3 on 1x6" << Spec("w", {8}, {{Axis::kDp, Axis::kTp}})
                              << "tensor 'w': dim 0 = 8 is not divisible by axes dp*tp = 6";
    QTest::newRow("an axis of degree 1 is not named")
        << "dp=1,tp=3 on 1x3" << Spec("w", {8}, {{Axis::kDp, Axis::kTp}})
        << "tensor 'w': dim 0 = 8 is not divisible by axis tp = 3";
    TensorSpec fused = Spec("qkv", {24}, {{Axis::kTp}});
    fused.segments = Segments{0, {{4}, {10}, {10}}};
    QTest::newRow("a segment") << "tp=4 on 1x4" << fused
                               << "tensor 'qkv': segment 1 of dim 0 = 10 is not divisible by axis "
                                  "tp = 4";
  }
  void unevenCutsAreRefused() {
    QFETCH(QString, mesh);
    QFETCH(TensorSpec, spec);
    QFETCH(QString, message);
    const auto layout =
        Layout::Make(*ParseDeviceMesh(mesh.toStdString()), *Collection::Make({spec}, 0));
    QVERIFY(!layout);
    QCOMPARE(layout.error().code, tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(layout.error().ToString(), message.toStdString());
  }

  void collectionRejects_data() {
    QTest::addColumn<Specs>("specs");
    QTest::addColumn<QString>("message");
    QTest::newRow("name twice") << Specs{Spec("a", {}), Spec("a", {2})}
                                << "tensor 'a' is given twice";
    QTest::newRow("no name") << Specs{Spec("", {})} << "a tensor has no name";
    QTest::newRow("line break in a name")
        << Specs{Spec("a\nb", {})} << "the name of a tensor is not printable utf-8";
    QTest::newRow("broken utf-8 in a name")
        << Specs{Spec("a\xc3", {})} << "the name of a tensor is not printable utf-8";
    QTest::newRow("overlong utf-8 in a name")
        << Specs{Spec("a\xc0\x80", {})} << "the name of a tensor is not printable utf-8";
    QTest::newRow("negative size")
        << Specs{Spec("a", {-1})} << "tensor 'a': dim 0 = -1 of a shape is negative";
    QTest::newRow("rule longer than the shape")
        << Specs{Spec("a", {2}, {{}, {}})} << "tensor 'a': rule has 2 dims, but the tensor has 1";
    QTest::newRow("axis twice") << Specs{Spec("a", {4, 4}, {{Axis::kTp}, {Axis::kTp}})}
                                << "tensor 'a': axis tp is twice in the rule";
    TensorSpec staged = Placed("a", StagePlace::kFirst);
    staged.rule.dims = {{{Axis::kPp}}};
    QTest::newRow("pp cuts a tensor of one stage")
        << Specs{staged} << "tensor 'a': axis pp cuts the tensor, but its place is 'first'";
    TensorSpec flat = Spec("a", {4, 4}, {{Axis::kTp}, {Axis::kDp}});
    flat.rule.flat = {Axis::kDp};
    QTest::newRow("the flat axis also cuts a dim")
        << Specs{flat} << "tensor 'a': axis dp is twice in the rule";
    TensorSpec staged_flat = Placed("a", StagePlace::kFirstAndLast);
    staged_flat.rule.flat = {Axis::kPp};
    QTest::newRow("flat over pp of a tensor of two stages")
        << Specs{staged_flat}
        << "tensor 'a': axis pp cuts the tensor, but its place is 'first_and_last'";
    QTest::newRow("layer past the last")
        << Specs{Placed("a", StagePlace::kLayer, 4)} << "tensor 'a': layer 4 is not in 0..3";
    TensorSpec dim = Fused("a");
    dim.segments->dim = 2;
    QTest::newRow("segment dim") << Specs{dim}
                                 << "tensor 'a': segments of dim 2, but the tensor has 2 dims";
    TensorSpec sum = Fused("a");
    sum.segments->blocks = {{4}, {4}};
    QTest::newRow("segments too short")
        << Specs{sum} << "tensor 'a': segments [4,4] do not add up to dim 0 = 12";
    sum.segments->blocks = {{16}, {-4}};
    QTest::newRow("negative segment")
        << Specs{sum} << "tensor 'a': segments [16,-4] do not add up to dim 0 = 12";
    QTest::newRow("too many bytes")
        << Specs{Spec("a", {std::int64_t{1} << 62})}
        << "tensor 'a': shape [4611686018427387904] of f32 has more than 2^63-1 bytes";
    QTest::newRow("too many bytes together")
        << Specs{Spec("a", {std::int64_t{1} << 60}), Spec("b", {std::int64_t{1} << 60})}
        << "all tensors together have more than 2^63-1 bytes";
  }
  void collectionRejects() {
    QFETCH(Specs, specs);
    QFETCH(QString, message);
    const auto collection = Collection::Make(specs, 4);
    QVERIFY(!collection);
    QCOMPARE(collection.error().ToString(), message.toStdString());
  }

  void collectionIsSortedAndFound() {
    const auto collection = *Collection::Make({Spec("b", {3}), Spec("a", {2}), Spec("B", {})}, 0);
    QCOMPARE(collection->tensors()[0].name, "B");
    QCOMPARE(collection->Find("b"), std::optional<int>(2));
    QCOMPARE(collection->Find("c"), std::optional<int>());
    QCOMPARE(collection->total_bytes(), 4 * (3 + 2 + 1));
  }

  void fusedSegmentsAreCutEachForItself() {
    const Layout layout = LayoutOf("tp=2 on 1x2", {Fused("qkv")});
    QCOMPARE(Boxes(layout, 0, 0), "[0:2,0:4][4:6,0:4][8:10,0:4]");
    QCOMPARE(Boxes(layout, 1, 0), "[2:4,0:4][6:8,0:4][10:12,0:4]");
    // Not merged even if they touch.
    QCOMPARE(Boxes(LayoutOf("tp=1 on 1x1", {Fused("qkv")}), 0, 0), "[0:4,0:4][4:8,0:4][8:12,0:4]");
  }

  void theLastCeilPartsHoldLessOrNothing_data() {
    QTest::addColumn<int>("size");
    QTest::addColumn<QStringList>("parts");
    QTest::newRow("10 by 4") << 10 << QStringList{"[0:3]", "[3:6]", "[6:9]", "[9:10]"};
    QTest::newRow("8 by 4") << 8 << QStringList{"[0:2]", "[2:4]", "[4:6]", "[6:8]"};
    QTest::newRow("5 by 4") << 5 << QStringList{"[0:2]", "[2:4]", "[4:5]", ""};
    QTest::newRow("1 by 4") << 1 << QStringList{"[0:1]", "", "", ""};
    QTest::newRow("0 by 4") << 0 << QStringList{"", "", "", ""};
  }
  void theLastCeilPartsHoldLessOrNothing() {
    QFETCH(int, size);
    QFETCH(QStringList, parts);
    TensorSpec spec = Spec("w", {size}, {{Axis::kTp}});
    spec.rule.dims[0].split = Split::kCeil;
    const Layout layout = LayoutOf("tp=4 on 1x4", {spec});
    for (int rank = 0; rank < 4; ++rank) {
      QCOMPARE(Boxes(layout, rank, 0), parts[rank].toStdString());
    }
  }

  void ceilCutsNearTheLargestSize() {
    TensorSpec spec = Spec("w", {std::numeric_limits<std::int64_t>::max()}, {{Axis::kTp}});
    spec.dtype = DType::kU8;
    spec.rule.dims[0].split = Split::kCeil;
    const Layout layout = LayoutOf("tp=4 on 1x4", {spec});
    QCOMPARE(Boxes(layout, 3, 0), "[6917529027641081856:9223372036854775807]");
  }

  void flatPartsAreRangesOfWhatTheRulesLeave_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<TensorSpec>("spec");
    QTest::addColumn<QStringList>("parts");
    const auto flat = [](TensorSpec spec) {
      spec.rule.flat = {Axis::kDp};
      return spec;
    };
    QTest::newRow("a matrix") << "dp=3 on 1x3" << flat(Spec("w", {4, 5}))
                              << QStringList{"[0:1,0:5][1:2,0:2]", "[1:2,2:5][2:3,0:4]",
                                             "[2:3,4:5][3:4,0:5]"};
    QTest::newRow("whole rows are one box")
        << "dp=2 on 1x2" << flat(Spec("w", {4, 5})) << QStringList{"[0:2,0:5]", "[2:4,0:5]"};
    QTest::newRow("a range inside a row")
        << "dp=4 on 1x4" << flat(Spec("w", {1, 12}))
        << QStringList{"[0:1,0:3]", "[0:1,3:6]", "[0:1,6:9]", "[0:1,9:12]"};
    QTest::newRow("three dims: head, head, body, tail, tail")
        << "dp=2 on 1x2" << flat(Spec("w", {3, 3, 3}))
        << QStringList{"[0:1,0:3,0:3][1:2,0:1,0:3][1:2,1:2,0:2]",
                       "[1:2,1:2,2:3][1:2,2:3,0:3][2:3,0:3,0:3]"};
    QTest::newRow("of what tp leaves")
        << "dp=2,tp=2 on 1x4" << flat(Spec("w", {3, 4}, {{}, {Axis::kTp}}))
        << QStringList{"[0:1,0:2][1:2,0:1]", "[0:1,2:4][1:2,2:3]", "[1:2,1:2][2:3,0:2]",
                       "[1:2,3:4][2:3,2:4]"};
    QTest::newRow("across segments") << "dp=2,tp=2 on 1x4" << flat(Fused("qkv"))
                                     << QStringList{"[0:2,0:4][4:5,0:4]", "[2:4,0:4][6:7,0:4]",
                                                    "[5:6,0:4][8:10,0:4]", "[7:8,0:4][10:12,0:4]"};
    TensorSpec inner = Spec("w", {2, 4});
    inner.segments = Segments{1, {{2}, {2}}};
    QTest::newRow("across segments of the inner dim: ascending, not in the order of the shard")
        << "dp=3 on 1x3" << flat(inner)
        << QStringList{"[0:1,0:2][1:2,0:1]", "[0:1,2:4][1:2,1:2]", "[1:2,2:4]"};
    QTest::newRow("a scalar is on the first")
        << "dp=2 on 1x2" << flat(Spec("step", {})) << QStringList{"[]", ""};
    QTest::newRow("fewer elements than ranks")
        << "dp=4 on 1x4" << flat(Spec("w", {2})) << QStringList{"[0:1]", "[1:2]", "", ""};
    QTest::newRow("no elements") << "dp=2 on 1x2" << flat(Spec("w", {0, 3})) << QStringList{"", ""};
  }
  void flatPartsAreRangesOfWhatTheRulesLeave() {
    QFETCH(QString, mesh);
    QFETCH(TensorSpec, spec);
    QFETCH(QStringList, parts);
    const Layout layout = LayoutOf(mesh.toStdString(), {spec});
    QCOMPARE(layout.mesh().num_ranks(), parts.size());
    for (int rank = 0; rank < parts.size(); ++rank) {
      QCOMPARE(Boxes(layout, rank, 0), parts[rank].toStdString());
    }
  }

  // Compared with the layout without the flat cut: each box is one range of one of its boxes, and
  // there are not more of them than peeling needs.
  void flatBoxesAreContiguousAndFew() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    std::size_t most = 0;
    for (int i = 0; i < 1000; ++i) {
      const Layout layout = AnyJob(rng).to;
      Specs specs = layout.collection().tensors();
      for (TensorSpec& spec : specs) {
        spec.rule.flat.clear();
        spec.rule.bucket.clear();
      }
      const Layout uncut =
          *Layout::Make(layout.mesh(), *Collection::Make(specs, layout.collection().num_layers()),
                        layout.stage_rule());
      for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
        for (int t = 0; t < static_cast<int>(specs.size()); ++t) {
          if (layout.collection().tensors()[static_cast<std::size_t>(t)].rule.flat.empty())
            continue;
          const std::vector<Box> parts = layout.Boxes(rank, t);
          std::size_t found = 0;
          for (const Box& whole : uncut.Boxes(rank, t)) {
            std::size_t here = 0;
            for (const Box& part : parts) {
              if (!Contains(whole, part)) continue;
              QVERIFY(ContiguousOffset(whole, part));
              ++here;
            }
            const auto n = static_cast<std::size_t>(whole.rank());
            QVERIFY(here <= std::max<std::size_t>(1, 2 * n - std::min<std::size_t>(1, n)));
            most = std::max(most, here);
            found += here;
          }
          QCOMPARE(found, parts.size());
        }
      }
    }
    QVERIFY(most >= 2);  // up to 5
  }

  void axesCutMajorToMinor() {
    const Layout dp_first =
        LayoutOf("dp=2,tp=2 on 1x4", {Spec("w", {8}, {{Axis::kDp, Axis::kTp}})});
    const Layout tp_first =
        LayoutOf("dp=2,tp=2 on 1x4", {Spec("w", {8}, {{Axis::kTp, Axis::kDp}})});
    QCOMPARE(Boxes(dp_first, 1, 0), "[2:4]");
    QCOMPARE(Boxes(tp_first, 1, 0), "[4:6]");
  }

  void stagesHoldWhatTheirPlaceSays() {
    const Layout layout = LayoutOf(
        "pp=3 on 1x3",
        {Placed("all", StagePlace::kAll), Placed("both", StagePlace::kFirstAndLast),
         Placed("first", StagePlace::kFirst), Placed("last", StagePlace::kLast),
         Placed("layer.1", StagePlace::kLayer, 1), Placed("layer.2", StagePlace::kLayer, 2),
         Placed("layer.3", StagePlace::kLayer, 3)},
        4);  // stages hold layers {0,1} {2} {3}
    const std::vector<std::string> expected = {"+++", "+-+", "+--", "--+", "+--", "-+-", "--+"};
    for (int t = 0; t < 7; ++t) {
      std::string where;
      for (int rank = 0; rank < 3; ++rank) where += layout.Boxes(rank, t).empty() ? '-' : '+';
      QCOMPARE(where, expected[static_cast<std::size_t>(t)]);
    }
  }

  void moreStagesThanLayersLeavesTheLastEmpty() {
    QCOMPARE(StageOfLayer(0, 2, 4), 0);
    QCOMPARE(StageOfLayer(1, 2, 4), 1);
  }

  void scalarsAndEmptyTensors() {
    const Layout layout =
        LayoutOf("tp=2 on 1x2", {Spec("empty", {0, 4}, {{Axis::kTp}, {}}), Spec("step", {})});
    QCOMPARE(Boxes(layout, 1, 0), "");
    QCOMPARE(Boxes(layout, 1, 1), "[]");
    QCOMPARE(layout.BytesOf(1), 4);
  }

  // Boxes tile every tensor: each element is on exactly the ranks that the rule gives. The boxes of
  // one rank are disjoint and ascending.
  void boxesAgreeWithElementOwnership() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 1000; ++i) {
      const Layout layout = AnyJob(rng).to;
      const auto& tensors = layout.collection().tensors();
      for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
        std::int64_t bytes = 0;
        for (std::size_t t = 0; t < tensors.size(); ++t) {
          const std::vector<bool> expected = HeldElements(layout, rank, static_cast<int>(t));
          std::vector<bool> held(expected.size());
          const std::vector<Box> boxes = layout.Boxes(rank, static_cast<int>(t));
          QVERIFY(std::is_sorted(boxes.begin(), boxes.end()));
          for (const Box& box : boxes) {
            for (std::size_t element : ElementsOf(tensors[t].shape, box)) {
              QVERIFY(!held[element]);
              held[element] = true;
              bytes += SizeBytes(tensors[t].dtype);
            }
          }
          QCOMPARE(held, expected);
        }
        QCOMPARE(layout.BytesOf(rank), bytes);
      }
    }
  }

  // Each element is on ranks / (degree of the axes that cut it) / (stages) * (stages that hold it)
  // ranks.
  void replicationIsWhatTheMeshSays() {
    const Layout layout =
        LayoutOf("pp=2,dp=3,tp=2 on 1x12",
                 {Spec("cut", {4}, {{Axis::kTp}}), Placed("layer", StagePlace::kLayer, 0)}, 4);
    for (int t = 0; t < 2; ++t) {
      std::vector<int> holders(t == 0 ? 4 : 2);
      for (int rank = 0; rank < 12; ++rank) {
        const TensorSpec& spec = layout.collection().tensors()[static_cast<std::size_t>(t)];
        for (const Box& box : layout.Boxes(rank, t)) {
          for (std::size_t element : ElementsOf(spec.shape, box)) ++holders[element];
        }
      }
      for (int count : holders) QCOMPARE(count, 6);
    }
  }

  void goldenTextAndHash() {
    const Layout layout = Golden();
    QCOMPARE(ToJson(layout), kGoldenText);
    QCOMPARE(Hex16(layout.hash()), "80a358822214db95");
  }

  void splitAndFlatStandOnlyWhereTheyAreNotTheUsual() {
    TensorSpec both = Spec("w.exp_avg", {7, 3}, {{Axis::kTp}});
    both.rule.dims[0].split = Split::kCeil;
    both.rule.flat = {Axis::kDp};
    const Layout layout = LayoutOf("dp=2,tp=2 on 1x4", {both}, 0);
    const std::string text =
        R"({"mesh":"dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3","num_layers":0,"tensors":[)"
        R"({"dtype":"f32","flat":"dp","name":"w.exp_avg","place":"all","role":"param",)"
        R"("rule":[["tp"],[]],"shape":[7,3],"split":"ceil"}]})";
    QCOMPARE(ToJson(layout), text);
    QCOMPARE(Hex16(layout.hash()), "cd44c410c578cdf4");
    QVERIFY(*ParseLayout(text) == layout);
    // A dim without axes has no split.
    TensorSpec uncut = Spec("w", {7});
    uncut.rule.dims = {{{}, Split::kCeil}};
    QVERIFY(LayoutOf("dp=1 on n0g0", {uncut}) == LayoutOf("dp=1 on n0g0", {Spec("w", {7})}));
  }

  // The printer uses no library, so another printer checks the canonical form.
  void textIsCanonicalJsonAndRoundTrips() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 300; ++i) {
      const Layout layout = AnyJob(rng).to;
      const std::string text = ToJson(layout);
      QCOMPARE(text, nlohmann::json::parse(text).dump());
      const auto parsed = ParseLayout(text);
      QVERIFY(parsed);
      QVERIFY(*parsed == layout);
      QCOMPARE(parsed->hash(), layout.hash());
    }
  }

  void namesAreQuoted() {
    const Layout layout = LayoutOf("dp=1 on n0g0", {Spec("a\"b\\c/\xc3\xa9", {})});
    const std::string text = ToJson(layout);
    QCOMPARE(text, nlohmann::json::parse(text).dump());
    QVERIFY(*ParseLayout(text) == layout);
  }

  void hashTellsLayoutsApart() {
    const Layout a = LayoutOf("dp=2 on n0g0,n0g1", {Spec("w", {4})});
    const Layout b = LayoutOf("dp=2 on n0g1,n0g0", {Spec("w", {4})});
    const Layout c = LayoutOf("dp=2 on n0g0,n0g1", {Spec("w", {4}, {{Axis::kDp}})});
    QVERIFY(a.hash() != b.hash());
    QVERIFY(a.hash() != c.hash());
  }

  void rulesOfEqualMeaningAreEqual() {
    const Layout a = LayoutOf("dp=2 on 1x2", {Spec("w", {4, 4})});
    const Layout b = LayoutOf("dp=2 on 1x2", {Spec("w", {4, 4}, {{}, {}})});
    QVERIFY(a == b);
    QCOMPARE(a.hash(), b.hash());
  }

  void everyTruncationIsAnError() {
    for (std::size_t length = 0; length < kGoldenText.size(); ++length) {
      const auto layout = ParseLayout(std::string_view(kGoldenText).substr(0, length));
      QVERIFY2(!layout, std::to_string(length).c_str());
      QCOMPARE(layout.error().code, tessera::ErrorCode::kInvalidArgument);
    }
    QVERIFY(ParseLayout(kGoldenText));
  }

  // A changed byte gives an error or a layout, never a crash. Such a layout must print and parse to
  // itself.
  void damagedTextNeverCrashes() {
    int refused = 0;
    for (std::size_t at = 0; at < kGoldenText.size(); ++at) {
      for (char c : {'\0', '"', '{', ']', ',', '-', '9', '.', 'e', '\xff'}) {
        std::string text = kGoldenText;
        text[at] = c;
        const auto layout = ParseLayout(text);
        if (layout) {
          QVERIFY(*ParseLayout(ToJson(*layout)) == *layout);
        } else {
          QCOMPARE(layout.error().code, tessera::ErrorCode::kInvalidArgument);
          ++refused;
        }
      }
    }
    QVERIFY(refused > 1000);
  }

  void parseRejects_data() {
    QTest::addColumn<QString>("old_text");
    QTest::addColumn<QString>("new_text");
    QTest::addColumn<QString>("message");
    const QString t0 = "layout: tensors[0]: ";
    QTest::newRow("unknown key")
        << "\"num_layers\""
        << "\"layers\""
        << "layout: unknown key 'layers', a layout has mesh, num_layers, stages, "
           "tensors";
    QTest::newRow("missing key") << ",\"num_layers\":2"
                                 << ""
                                 << "layout: a layout needs 'num_layers'";
    QTest::newRow("number for text") << "\"name\":\"h.0.qkv\""
                                     << "\"name\":3" << t0 + "'name' must be a text, not 3";
    QTest::newRow("fraction") << "\"layer\":0"
                              << "\"layer\":0.5" << t0 + "'layer' must be a whole number, not 0.5";
    QTest::newRow("past int64") << "\"layer\":0"
                                << "\"layer\":9223372036854775808"
                                << t0 + "'layer' must be a whole number, not 9223372036854775808";
    QTest::newRow("unknown dtype") << "\"dtype\":\"f32\",\"layer\""
                                   << "\"dtype\":\"f33\",\"layer\"" << t0 + "unknown dtype 'f33'";
    QTest::newRow("unknown role") << "\"role\":\"param\""
                                  << "\"role\":\"grad\"" << t0 + "unknown tensor role 'grad'";
    QTest::newRow("unknown place") << "\"place\":\"layer\""
                                   << "\"place\":\"middle\"" << t0 + "unknown stage place 'middle'";
    QTest::newRow("layer without a layer place")
        << "\"place\":\"layer\""
        << "\"place\":\"all\"" << t0 + "key 'layer' cannot be combined with place 'all'";
    QTest::newRow("unknown axis")
        << "[[\"tp\"],[]]"
        << "[[\"xp\"],[]]" << t0 + "key 'rule': unknown axis 'xp', known are pp, dp, ep, cp, tp";
    QTest::newRow("unknown split") << "\"shape\":[12,4]"
                                   << "\"shape\":[12,4],\"split\":\"floor\""
                                   << t0 + "unknown split 'floor', known are even, ceil, heads";
    QTest::newRow("flat is no axis") << "\"shape\":[12,4]"
                                     << "\"shape\":[12,4],\"flat\":\"zero\""
                                     << t0 + "unknown axis 'zero', known are pp, dp, ep, cp, tp";
    QTest::newRow("rule not nested")
        << "[[\"tp\"],[]]"
        << "[\"tp\",[]]"
        << t0 + "key 'rule': expected a cut, which is a list of axes or an object, not 'tp'";
    QTest::newRow("segment dim out of range")
        << "\"dim\":0"
        << "\"dim\":4294967296"
        << t0 + "key 'segments': 'dim' must be a whole number in 0..7, not 4294967296";
    QTest::newRow("bad mesh") << "dp=2,tp=2"
                              << "dp=2,tp=3"
                              << "layout: mesh dp=2,tp=3,pp=1 has 6 ranks but 4 devices are given";
    QTest::newRow("uneven cut") << "\"shape\":[8,4]"
                                << "\"shape\":[6,4]"
                                << "layout: tensor 'wte.exp_avg': dim 0 = 6 is not divisible by "
                                   "axes dp*tp = 4";
  }
  void parseRejects() {
    QFETCH(QString, old_text);
    QFETCH(QString, new_text);
    QFETCH(QString, message);
    std::string text = kGoldenText;
    const std::size_t at = text.find(old_text.toStdString());
    QVERIFY(at != std::string::npos);
    text.replace(at, old_text.toStdString().size(), new_text.toStdString());
    const auto layout = ParseLayout(text);
    QVERIFY(!layout);
    QCOMPARE(layout.error().ToString(), message.toStdString());
  }

  void trailingTextIsRefusedWithItsPlace() {
    const auto layout = ParseLayout(kGoldenText + " x");
    QVERIFY(!layout);
    QCOMPARE(layout.error().ToString(),
             "layout: not json at byte " + std::to_string(kGoldenText.size() + 2));
  }

  void deepNestingIsRefusedWithoutRecursion() {
    QVERIFY(!ParseLayout(std::string(1'000'000, '[')));
    QVERIFY(!ParseLayout(std::string(200'000, '[') + std::string(200'000, ']')));
    for (const char* text : {"", "null", "[]", "3", "\"x\"", "{}"}) QVERIFY(!ParseLayout(text));
  }

  void pairsAreParsedLikeSingleLayouts() {
    std::mt19937_64 rng(tessera::test::Seed() + 7);
    for (int i = 0; i < 50; ++i) {
      const auto job = AnyJob(rng);
      const auto pair = ParseLayoutPair(ToJson(job.from), ToJson(i % 5 == 0 ? job.from : job.to));
      QVERIFY(pair);
      QVERIFY(pair->from == job.from);
      QVERIFY(pair->to == (i % 5 == 0 ? job.from : job.to));
    }
  }

  void pairsReportTheErrorOfTheOldLayoutFirst() {
    const auto error_of = [](const std::string& from, const std::string& to) {
      const auto pair = ParseLayoutPair(from, to);
      return pair ? std::string() : pair.error().ToString();
    };
    const std::string no_object = ParseLayout("[]").error().ToString();
    const std::string no_mesh = ParseLayout("{}").error().ToString();
    QVERIFY(no_object != no_mesh);
    QCOMPARE(error_of("[]", "{}"), no_object);
    QCOMPARE(error_of("{}", "{}"), no_mesh);
    QCOMPARE(error_of("{}", kGoldenText), no_mesh);
    QCOMPARE(error_of(kGoldenText, "{}"), no_mesh);
  }

  void hex16() {
    QCOMPARE(Hex16(0), "0000000000000000");
    QCOMPARE(Hex16(0xfedcba9876543210ULL), "fedcba9876543210");
    QCOMPARE(*ParseHex16("fedcba9876543210"), 0xfedcba9876543210ULL);
    for (const char* text :
         {"", "0", "FEDCBA9876543210", "fedcba987654321g", "00000000000000000"}) {
      QVERIFY(!ParseHex16(text));
    }
  }

  void dtypeNamesRoundTrip() {
    std::int64_t bits = 0;
    for (int i = 0; i < kNumDTypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      QCOMPARE(*ParseDType(ToString(dtype)), dtype);
      bits += SizeBits(dtype);
      QCOMPARE(SizeBytes(dtype), std::max<std::int64_t>(1, SizeBits(dtype) / 8));
      QCOMPARE(IsPacked(dtype), SizeBits(dtype) % 8 != 0);
    }
    QCOMPARE(bits, 8 * (8 * 1 + 4 * 2 + 3 * 4 + 4 * 8) + 4 + 6 + 6);
    QVERIFY(!ParseDType("float32"));
    QVERIFY(!ParseDType(""));
  }
};

TESSERA_TEST_APPLESS(LayoutTest)
#include "layout_test.moc"
