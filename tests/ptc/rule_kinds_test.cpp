// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every kind of rule, compared with the element-by-element oracle on thousands of random layouts,
/// and with examples.
#include <QTest>
#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "ptc/digest.h"
#include "ptc/layout.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyLayout;
using tessera::test::ElementsOf;
using tessera::test::HeldElements;

namespace {

using Specs = std::vector<TensorSpec>;

TensorSpec Spec(std::string name, Shape shape, std::vector<DimCut> dims = {}) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  spec.rule.dims = std::move(dims);
  return spec;
}

DimCut ByHeads(std::int64_t kv, std::int64_t query, bool of_query) {
  return {{Axis::kTp}, Split::kHeads, 1, HeadGroups{kv, query, of_query}};
}

/// "[0:2]|[2:4]|…": the boxes of each rank.
std::string Held(const std::string& mesh, Specs specs, const std::string& name,
                 const std::string& stages = "uniform", std::int64_t layers = 4) {
  const auto layout = Layout::Make(
      *ParseDeviceMesh(mesh), *Collection::Make(std::move(specs), layers), *ParseStageRule(stages));
  if (!layout) return layout.error().ToString();
  std::string text;
  for (int rank = 0; rank < layout->mesh().num_ranks(); ++rank) {
    if (rank > 0) text += '|';
    for (const Box& box : layout->Boxes(rank, *layout->collection().Find(name))) {
      text += ToString(box);
    }
  }
  return text;
}

std::vector<const DimCut*> CutsOf(const TensorSpec& spec) {
  std::vector<const DimCut*> cuts;
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    cuts.push_back(&spec.rule.dims[d]);
    if (!spec.segments || spec.segments->dim != static_cast<int>(d)) continue;
    for (const Segment& segment : spec.segments->blocks) {
      if (segment.cut) cuts.push_back(&*segment.cut);
    }
  }
  return cuts;
}

bool IsCutBy(const TensorSpec& spec, Axis axis) {
  const auto names = [axis](const DimCut* cut) { return std::ranges::count(cut->axes, axis) > 0; };
  return std::ranges::any_of(CutsOf(spec), names) || std::ranges::count(spec.rule.flat, axis) > 0 ||
         (spec.expert && axis == Axis::kEp);
}

std::int64_t PartsOn(const MeshShape& mesh, const std::vector<Axis>& axes) {
  std::int64_t parts = 1;
  for (Axis axis : axes) parts *= mesh[axis];
  return parts;
}

/// Whether ranks of different parts share elements by rule: there are more parts than key and value
/// heads, or axes that cut other segments leave a segment whole.
bool HasReplicas(const MeshShape& mesh, const TensorSpec& spec) {
  if (spec.segments) {
    const DimCut& dim = spec.rule.dims[static_cast<std::size_t>(spec.segments->dim)];
    std::vector<std::int64_t> parts;
    for (const Segment& segment : spec.segments->blocks) {
      parts.push_back(PartsOn(mesh, segment.cut.value_or(dim).axes));
    }
    if (std::ranges::adjacent_find(parts, std::not_equal_to<>()) != parts.end()) return true;
  }
  return std::ranges::any_of(CutsOf(spec), [&](const DimCut* cut) {
    return cut->heads && !cut->heads->of_query && PartsOn(mesh, cut->axes) > cut->heads->kv;
  });
}

/// The names of the kinds of rules in a layout, to check that the random layouts have all kinds.
void CountKinds(const Layout& layout, std::map<std::string, int>& seen) {
  const MeshShape& mesh = layout.mesh().shape();
  std::map<std::string, int> buckets;
  ++seen["stages " + ToString(StageRule{layout.stage_rule().kind}).substr(0, 4)];
  if (layout.stage_rule().interleave > 1) ++seen["interleaved"];
  for (const TensorSpec& spec : layout.collection().tensors()) {
    for (const DimCut* cut : CutsOf(spec)) {
      const std::int64_t parts = PartsOn(mesh, cut->axes);
      if (parts == 1) continue;
      ++seen[std::string(ToString(cut->split))];
      if (cut->multiple > 1) ++seen["multiple"];
      if (cut->heads && parts < cut->heads->kv && cut->heads->kv % parts != 0) {
        ++seen["uneven heads"];
      }
    }
    if (HasReplicas(mesh, spec)) ++seen["replicated heads"];
    if (spec.segments) ++seen["segments"];
    if (spec.segments && std::ranges::any_of(spec.segments->blocks, [](const Segment& segment) {
          return segment.cut.has_value();
        })) {
      ++seen["cuts of segments"];
    }
    if (PartsOn(mesh, spec.rule.flat) > 1) {
      ++seen["flat"];
      if (spec.rule.flat.size() > 1) ++seen["flat over two axes"];
      if (!spec.rule.bucket.empty()) {
        std::string key = spec.rule.bucket + std::string(ToString(spec.dtype));
        for (Axis axis : spec.rule.flat) key += ToString(axis);
        if (++buckets[key] == 2) ++seen["buckets"];
      }
    }
    if (spec.expert && mesh[Axis::kEp] > 1) ++seen["experts"];
    if (!spec.aliases.empty()) ++seen["tied"];
    if (spec.shape.empty()) ++seen["scalars"];
    if (std::ranges::count(spec.shape, 0) > 0) ++seen["empty"];
    if (mesh[Axis::kCp] > 1 && IsCutBy(spec, Axis::kCp)) ++seen["cut by cp"];
    if (mesh[Axis::kPp] > 1 && IsCutBy(spec, Axis::kPp)) ++seen["cut by pp"];
  }
}

/// The number of parts that hold each element, of those that the ranks of one stage can select; if
/// pp cuts, of those of all stages.
std::vector<int> Holders(const Layout& layout, int tensor, const Parts& parts, std::int64_t stage) {
  const TensorSpec& spec = layout.collection().tensors()[static_cast<std::size_t>(tensor)];
  const MeshShape& mesh = layout.mesh().shape();
  const bool by_stage = std::ranges::count(parts.axes, Axis::kPp) > 0 && !IsCutBy(spec, Axis::kPp);
  std::vector<int> holders(static_cast<std::size_t>(*NumElements(spec.shape)));
  const std::size_t each =
      by_stage ? parts.boxes.size() / static_cast<std::size_t>(mesh[Axis::kPp]) : 0;
  for (std::size_t p = 0; p < parts.boxes.size(); ++p) {
    // pp is the first axis, so each stage has one run of parts.
    if (by_stage && p / each != static_cast<std::size_t>(stage)) continue;
    for (const Box& box : parts.boxes[p]) {
      for (std::size_t element : ElementsOf(spec.shape, box)) ++holders[element];
    }
  }
  return holders;
}

/// Parts tile the tensor on each stage that has it: once, except for elements that the rule
/// replicates and once per coordinate along axes that cut only other tensors of the bucket.
bool TilesTheTensor(const Layout& layout, int tensor, const Parts& parts) {
  const TensorSpec& spec = layout.collection().tensors()[static_cast<std::size_t>(tensor)];
  const bool replicates = HasReplicas(layout.mesh().shape(), spec);
  int each = 1;
  for (Axis axis : parts.axes) {
    if (axis != Axis::kPp && !IsCutBy(spec, axis)) {
      each *= static_cast<int>(layout.mesh().shape()[axis]);
    }
  }
  bool any_stage = false;
  for (std::int64_t stage : parts.stages) {
    const std::vector<int> holders = Holders(layout, tensor, parts, stage);
    // A bucket has parts for every stage. Those of stages without the tensor are empty.
    const bool absent = std::ranges::all_of(holders, [](int count) { return count == 0; });
    if (absent && !spec.rule.bucket.empty() && !holders.empty()) continue;
    any_stage = true;
    for (int count : holders) {
      if (count < each || (count > each && !replicates)) return false;
    }
  }
  return any_stage;
}

}  // namespace

class RuleKindsTest : public QObject {
  Q_OBJECT
 private slots:
  void everyLayoutAgreesWithTheOracle() {
    std::mt19937_64 rng(tessera::test::Seed());
    std::map<std::string, int> seen;
    for (int i = 0; i < 20000; ++i) {
      const Layout layout = AnyLayout(rng);
      CountKinds(layout, seen);
      const auto& tensors = layout.collection().tensors();
      for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
        const Parts parts = layout.PartsOf(t);
        QVERIFY(std::ranges::is_sorted(parts.stages) && std::ranges::is_sorted(parts.axes));
        if (!TilesTheTensor(layout, t, parts)) {
          QFAIL((std::to_string(t) + ' ' + ToJson(layout)).c_str());
        }
        std::vector<bool> used(parts.boxes.size());
        for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
          const std::int64_t stage = layout.mesh().Coordinate(rank, Axis::kPp);
          const bool on_stage = std::ranges::count(parts.stages, stage) > 0;
          const std::size_t index = layout.PartIndex(rank, parts);
          QVERIFY(index < parts.boxes.size());
          used[index] = used[index] || on_stage;
          const std::vector<Box> boxes = layout.Boxes(rank, t);
          QVERIFY(boxes == (on_stage ? parts.boxes[index] : std::vector<Box>{}));
          QVERIFY(std::ranges::is_sorted(boxes));
          const TensorSpec& spec = tensors[static_cast<std::size_t>(t)];
          const std::vector<bool> expected = HeldElements(layout, rank, t);
          std::vector<bool> held(expected.size());
          for (const Box& box : boxes) {
            for (std::size_t element : ElementsOf(spec.shape, box)) {
              QVERIFY(!held[element]);
              held[element] = true;
            }
          }
          if (held != expected) QFAIL(ToJson(layout).c_str());
        }
        QVERIFY(std::ranges::count(used, false) == 0);  // every part is selected by a rank
      }
    }
    for (const char* kind : {"even",         "ceil",
                             "heads",        "multiple",
                             "uneven heads", "replicated heads",
                             "segments",     "cuts of segments",
                             "flat",         "flat over two axes",
                             "buckets",      "experts",
                             "tied",         "scalars",
                             "empty",        "cut by cp",
                             "cut by pp",    "interleaved",
                             "stages unif",  "stages bala",
                             "stages "}) {
      QVERIFY2(seen[kind] >= 100, (kind + (": " + std::to_string(seen[kind]))).c_str());
    }
  }

  void everyLayoutIsItsText() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 3000; ++i) {
      const Layout layout = AnyLayout(rng);
      const std::string text = ToJson(layout);
      QCOMPARE(text, nlohmann::json::parse(text).dump());
      const auto parsed = ParseLayout(text);
      QVERIFY2(parsed, text.c_str());
      QVERIFY(*parsed == layout);
      QCOMPARE(parsed->hash(), layout.hash());
    }
  }

  void headsOfGroupedQueryAttention_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<int>("kv");
    QTest::addColumn<int>("query");
    QTest::addColumn<QString>("kv_parts");
    QTest::addColumn<QString>("query_parts");
    // One element per head, so that boxes are heads.
    QTest::newRow("T divides K") << "tp=2 on 1x2" << 4 << 8 << "[0:2]|[2:4]"
                                 << "[0:4]|[4:8]";
    QTest::newRow("T = K") << "tp=2 on 1x2" << 2 << 8 << "[0:1]|[1:2]"
                           << "[0:4]|[4:8]";
    QTest::newRow("T < K, uneven") << "tp=3 on 1x3" << 4 << 8 << "[0:1]|[1:2]|[2:4]"
                                   << "[0:2]|[2:4]|[4:8]";
    QTest::newRow("T > K") << "tp=4 on 1x4" << 2 << 8 << "[0:1]|[0:1]|[1:2]|[1:2]"
                           << "[0:2]|[2:4]|[4:6]|[6:8]";
    QTest::newRow("multi-query") << "tp=4 on 1x4" << 1 << 4 << "[0:1]|[0:1]|[0:1]|[0:1]"
                                 << "[0:1]|[1:2]|[2:3]|[3:4]";
  }
  void headsOfGroupedQueryAttention() {
    QFETCH(QString, mesh);
    QFETCH(int, kv);
    QFETCH(int, query);
    QFETCH(QString, kv_parts);
    QFETCH(QString, query_parts);
    const std::string on = mesh.toStdString();
    QCOMPARE(Held(on, {Spec("k", {kv}, {ByHeads(kv, query, false)})}, "k"), kv_parts.toStdString());
    QCOMPARE(Held(on, {Spec("q", {query}, {ByHeads(kv, query, true)})}, "q"),
             query_parts.toStdString());
  }

  void fusedQkvOfGroupedHeads() {
    TensorSpec qkv = Spec("qkv", {12, 2});
    qkv.segments = Segments{
        0, {{8, ByHeads(2, 4, true)}, {4 / 2, ByHeads(2, 4, false)}, {2, ByHeads(2, 4, false)}}};
    // Heads of two rows in q, of one in k and in v; four ranks share two key and value heads.
    QCOMPARE(Held("tp=4 on 1x4", {qkv}, "qkv"),
             "[0:2,0:2][8:9,0:2][10:11,0:2]|[2:4,0:2][8:9,0:2][10:11,0:2]|"
             "[4:6,0:2][9:10,0:2][11:12,0:2]|[6:8,0:2][9:10,0:2][11:12,0:2]");
  }

  // x | z | B | C | dt of a Mamba input projection: B and C are whole on every rank.
  void someSegmentsAreCutAndSomeAreNot() {
    TensorSpec in_proj = Spec("in_proj", {14}, {{{Axis::kTp}}});
    in_proj.segments = Segments{0, {{4}, {4}, {2, DimCut{}}, {2, DimCut{}}, {2}}};
    QCOMPARE(Held("tp=2 on 1x2", {in_proj}, "in_proj"),
             "[0:2][4:6][8:10][10:12][12:13]|[2:4][6:8][8:10][10:12][13:14]");
  }

  void vocabularyPaddingWithoutThePadding() {
    TensorSpec wte = Spec("wte", {10}, {{{Axis::kTp}, Split::kCeil, 4}});
    QCOMPARE(Held("tp=2 on 1x2", {wte}, "wte"), "[0:8]|[8:10]");
    QCOMPARE(Held("tp=4 on 1x4", {wte}, "wte"), "[0:4]|[4:8]|[8:10]|");
    wte.rule.dims[0].multiple = 100;
    QCOMPARE(Held("tp=2 on 1x2", {wte}, "wte"), "[0:10]|");
  }

  void flatOverTwoAxes() {
    TensorSpec spec = Spec("w", {6});
    spec.rule.flat = {Axis::kCp, Axis::kDp};
    // Ranks are (dp, cp); cp is the major axis of the shard.
    QCOMPARE(Held("dp=2,cp=2 on 1x4", {spec}, "w"), "[0:2]|[4:6]|[2:4]|");
  }

  void contextParallelRanksAreReplicas() {
    QCOMPARE(Held("cp=2,tp=2 on 1x4", {Spec("w", {4}, {{{Axis::kTp}}})}, "w"),
             "[0:2]|[2:4]|[0:2]|[2:4]");
  }

  void aBucketIsCutAsOne() {
    Specs specs = {Spec("a", {3}), Spec("b", {2, 2}), Spec("c", {1})};
    for (TensorSpec& spec : specs) {
      spec.rule.flat = {Axis::kDp};
      spec.rule.bucket = "g";
    }
    // a a a b | b b b c
    QCOMPARE(Held("dp=2 on 1x2", specs, "a"), "[0:3]|");
    QCOMPARE(Held("dp=2 on 1x2", specs, "b"), "[0:1,0:1]|[0:1,1:2][1:2,0:2]");
    QCOMPARE(Held("dp=2 on 1x2", specs, "c"), "|[0:1]");
    specs[1].dtype = DType::kBF16;  // a bucket of its own
    QCOMPARE(Held("dp=2 on 1x2", specs, "b"), "[0:1,0:2]|[1:2,0:2]");
    QCOMPARE(Held("dp=2 on 1x2", specs, "c"), "|[0:1]");
  }

  // The bucket of the first stage has the tied embedding and layer 0, that of the last stage the
  // embedding and layer 1. So the parts of the embedding differ.
  void aBucketIsOfItsStage() {
    Specs specs = {Spec("h.0", {4}), Spec("h.1", {2}), Spec("wte", {4})};
    for (TensorSpec& spec : specs) {
      spec.rule.flat = {Axis::kDp};
      spec.rule.bucket = "g";
      spec.place = StagePlace::kLayer;
    }
    specs[1].layer = 1;
    specs[2].place = StagePlace::kFirstAndLast;
    QCOMPARE(Held("pp=2,dp=2 on 1x4", specs, "wte", "uniform", 2), "|[0:4]|[0:1]|[1:4]");
    const Layout layout =
        *Layout::Make(*ParseDeviceMesh("pp=2,dp=2 on 1x4"), *Collection::Make(specs, 2));
    const Parts parts = layout.PartsOf(2);
    QVERIFY((parts.axes == std::vector{Axis::kPp, Axis::kDp}));
    QVERIFY((parts.stages == std::vector<std::int64_t>{0, 1}));
  }

  void localSizesInABucketDifferByRank() {
    Specs specs = {Spec("a", {3}, {{{Axis::kTp}, Split::kCeil}}), Spec("b", {4})};
    for (TensorSpec& spec : specs) {
      spec.rule.flat = {Axis::kDp};
      spec.rule.bucket = "g";
    }
    // Rank (dp, tp): tp 0 has a a b b b b, tp 1 has a b b b b.
    QCOMPARE(Held("dp=2,tp=2 on 1x4", specs, "b"), "[0:1]|[0:2]|[1:4]|[2:4]");
  }

  void expertsAreDealtInBlocks() {
    Specs specs;
    for (std::int64_t e = 0; e < 5; ++e) {
      specs.push_back(Spec("e" + std::to_string(e), {2}, {{{Axis::kTp}}}));
      specs.back().expert = ExpertIndex{e, 5};
    }
    const auto held = [&](const char* name) { return Held("ep=2,tp=2 on 1x4", specs, name); };
    QCOMPARE(held("e0"), "[0:1]|[1:2]||");
    QCOMPARE(held("e2"), "[0:1]|[1:2]||");
    QCOMPARE(held("e3"), "||[0:1]|[1:2]");
    QCOMPARE(Held("tp=2 on 1x2", specs, "e4"), "[0:1]|[1:2]");
  }

  void tiedTensorsAreOne() {
    TensorSpec head = Spec("lm_head", {4, 2});
    head.aliases = {"wte", "embed"};
    const auto collection = *Collection::Make({head, Spec("w", {1})}, 0);
    QCOMPARE(collection->tensors().size(), std::size_t{2});
    QCOMPARE(collection->tensors()[0].name, "embed");
    QVERIFY((collection->tensors()[0].aliases == std::vector<std::string>{"lm_head", "wte"}));
    for (const char* name : {"embed", "lm_head", "wte"}) {
      QCOMPARE(collection->Find(name), std::optional<int>(0));
    }
    QCOMPARE(collection->Find("w"), std::optional<int>(1));
    QCOMPARE(collection->Find("x"), std::optional<int>());
    QCOMPARE(collection->total_bytes(), 4 * (8 + 1));
    // The digest has one line for it, under its first name.
    const auto untied = *Collection::Make({Spec("embed", {4, 2}), Spec("w", {1})}, 0);
    QCOMPARE(CollectionDigest(*collection, {1, 2}), CollectionDigest(*untied, {1, 2}));
  }

  // One random generator of two words per data and tensor rank. A rank that takes over the
  // coordinates of a stream continues with its words.
  void rngStreamsGoByLogicalCoordinate() {
    TensorSpec rng = Spec("rng", {4, 2, 2}, {{{Axis::kDp}}, {{Axis::kTp}}});
    rng.dtype = DType::kU64;
    rng.role = TensorRole::kRng;
    QCOMPARE(Held("dp=4,tp=2 on 1x8", {rng}, "rng"),
             "[0:1,0:1,0:2]|[0:1,1:2,0:2]|[1:2,0:1,0:2]|[1:2,1:2,0:2]|"
             "[2:3,0:1,0:2]|[2:3,1:2,0:2]|[3:4,0:1,0:2]|[3:4,1:2,0:2]");
    QCOMPARE(Held("dp=2,tp=1 on 1x2", {rng}, "rng"), "[0:2,0:2,0:2]|[2:4,0:2,0:2]");
  }

  void errors_data() {
    QTest::addColumn<TensorSpec>("spec");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, TensorSpec spec, const char* message) {
      QTest::newRow(name) << std::move(spec) << QString::fromUtf8(message);
    };
    row("K does not divide T", Spec("k", {3}, {ByHeads(3, 12, false)}),
        "tensor 'k': dim 0 = 3: 3 key and value heads and 12 query heads do not go into axis tp = "
        "4: above 3 parts, 3 must divide their number and it must divide 12");
    row("T does not divide Q", Spec("q", {6}, {ByHeads(2, 6, true)}),
        "tensor 'q': dim 0 = 6: 2 key and value heads and 6 query heads do not go into axis tp = "
        "4: above 2 parts, 2 must divide their number and it must divide 6");
    row("no whole heads", Spec("q", {7}, {ByHeads(2, 4, true)}),
        "tensor 'q': dim 0 = 7 is not divisible by 4 query heads");
    row("no whole key and value heads", Spec("k", {7}, {ByHeads(2, 4, false)}),
        "tensor 'k': dim 0 = 7 is not divisible by 2 key and value heads");
    row("groups of heads are uneven", Spec("q", {6}, {ByHeads(4, 6, true)}),
        "tensor 'q': 6 query heads do not share 4 key and value heads evenly");
    row("no heads at all", Spec("q", {6}, {ByHeads(0, 6, true)}),
        "tensor 'q': 6 query heads do not share 0 key and value heads evenly");
    row("heads without heads", Spec("q", {6}, {{{Axis::kTp}, Split::kHeads}}),
        "tensor 'q': dim 0 is split 'heads', without heads");
    row("heads where they are not asked for",
        Spec("q", {6}, {{{Axis::kTp}, Split::kEven, 1, HeadGroups{}}}),
        "tensor 'q': dim 0 is split 'even', with heads");
    row("multiple of nothing", Spec("w", {6}, {{{Axis::kTp}, Split::kCeil, 0}}),
        "tensor 'w': dim 0 is cut at multiples of 0");
    TensorSpec segment = Spec("w", {6});
    segment.segments = Segments{0, {{2}, {4, ByHeads(3, 3, false)}}};
    row("heads of a segment", segment,
        "tensor 'w': segment 1 of dim 0 = 4 is not divisible by 3 key and value heads");
    segment.segments = Segments{0, {{2}, {4, DimCut{{Axis::kTp, Axis::kTp}}}}};
    row("axis twice in a segment", segment, "tensor 'w': axis tp is twice in the rule");
    segment = Spec("w", {6, 4}, {{}, {{Axis::kTp}}});
    segment.segments = Segments{0, {{6, DimCut{{Axis::kTp}}}}};
    row("axis of a segment in another dim", segment, "tensor 'w': axis tp is twice in the rule");
    segment = Spec("w", {6});
    segment.segments = Segments{0, {{6, DimCut{{Axis::kTp}}}}};
    row("uneven segment", segment,
        "tensor 'w': segment 0 of dim 0 = 6 is not divisible by axis tp = 4");
    TensorSpec flat = Spec("w", {6});
    flat.rule.flat = {Axis::kDp, Axis::kDp};
    row("flat twice over an axis", flat, "tensor 'w': axis dp is twice in the rule");
    TensorSpec bucket = Spec("w", {6});
    bucket.rule.bucket = "g";
    row("bucket of what is not flat", bucket,
        "tensor 'w': bucket 'g' of a tensor that is not cut flat");
    TensorSpec expert = Spec("w", {6});
    expert.expert = ExpertIndex{3, 3};
    row("past the last expert", expert, "tensor 'w': expert 3 of 3 experts");
    expert = Spec("w", {6}, {{{Axis::kEp}}});
    expert.expert = ExpertIndex{1, 3};
    row("an expert that ep cuts", expert,
        "tensor 'w': axis ep cuts the tensor, but it is expert 1 of 3");
    TensorSpec alias = Spec("w", {6});
    alias.aliases = {""};
    row("alias without a name", alias, "tensor 'w': an alias is an empty name");
    alias.aliases = {"x", "x"};
    row("alias twice", alias, "alias 'x' is given twice");
    alias.aliases = {"w"};
    row("alias of itself", alias, "alias 'w' of tensor 'w' is also tensor 'w'");
  }
  void errors() {
    QFETCH(TensorSpec, spec);
    QFETCH(QString, message);
    const auto collection = Collection::Make({spec}, 0);
    const auto layout = collection ? Layout::Make(*ParseDeviceMesh("tp=4 on 1x4"), *collection)
                                   : tessera::Result<Layout>(collection.error());
    QVERIFY(!layout);
    QCOMPARE(layout.error().code, tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(layout.error().ToString(), message.toStdString());
  }

  // Rules of equal meaning are equal, however they were written.
  void rulesOfEqualMeaningAreEqual() {
    const auto same = [](TensorSpec a, TensorSpec b) {
      return **Collection::Make({std::move(a)}, 0) == **Collection::Make({std::move(b)}, 0);
    };
    const DimCut tp{{Axis::kTp}};
    QVERIFY(same(Spec("w", {4}, {{{}, Split::kCeil, 8}}), Spec("w", {4})));
    QVERIFY(same(Spec("w", {4}, {{{Axis::kTp}, Split::kEven, 8}}), Spec("w", {4}, {tp})));
    TensorSpec by_dim = Spec("w", {4}, {tp});
    by_dim.segments = Segments{0, {{2}, {2}}};
    TensorSpec by_segments = by_dim;
    by_segments.segments->blocks[0].cut = tp;
    QVERIFY(same(by_dim, by_segments));
    // If each segment has its own cut, the cut of the dim does not matter.
    TensorSpec own = Spec("w", {4}, {{{Axis::kTp}, Split::kCeil, 2}});
    own.segments = Segments{0, {{2, tp}, {2, DimCut{}}}};
    TensorSpec other = own;
    other.rule.dims[0] = {};
    other.segments->blocks[1].cut.reset();
    QVERIFY(same(own, other));
  }

  void goldenTextAndHash() {
    TensorSpec qkv = Spec("h.0.qkv", {16, 4});
    qkv.segments =
        Segments{0, {{8, ByHeads(2, 4, true)}, {4, ByHeads(2, 4, false)}, {4, DimCut{}}}};
    qkv.place = StagePlace::kLayer;
    TensorSpec wte = Spec("wte", {10, 4}, {{{Axis::kTp}, Split::kCeil, 4}});
    wte.aliases = {"wtf"};
    wte.place = StagePlace::kFirstAndLast;
    TensorSpec moment = Spec("wte.exp_avg", {10, 4}, {{{Axis::kTp}, Split::kCeil}});
    moment.role = TensorRole::kExpAvg;
    moment.rule.flat = {Axis::kDp, Axis::kCp};
    moment.rule.bucket = "b0";
    TensorSpec expert = Spec("x.3", {2}, {{}});
    expert.expert = ExpertIndex{3, 8};
    const Layout layout = *Layout::Make(*ParseDeviceMesh("tp=2,pp=2 on n0g0,n0g1,n1g0,n1g1"),
                                        *Collection::Make({qkv, wte, moment, expert}, 2),
                                        *ParseStageRule("balanced"));
    const std::string text =
        R"({"mesh":"dp=1,tp=2,pp=2 on n0g0,n0g1,n1g0,n1g1","num_layers":2,"stages":"balanced",)"
        R"("tensors":[{"dtype":"f32","layer":0,"name":"h.0.qkv","place":"layer","role":"param",)"
        R"("rule":[[],[]],"segments":{"cuts":[{"axes":["tp"],"heads":{"kv":2,"of":"query",)"
        R"("query":4},"split":"heads"},{"axes":["tp"],"heads":{"kv":2,"of":"kv","query":4},)"
        R"("split":"heads"},null],"dim":0,"sizes":[8,4,4]},"shape":[16,4]},)"
        R"({"aliases":["wtf"],"dtype":"f32","name":"wte","place":"first_and_last","role":"param",)"
        R"("rule":[{"axes":["tp"],"multiple":4,"split":"ceil"},[]],"shape":[10,4]},)"
        R"({"bucket":"b0","dtype":"f32","flat":["dp","cp"],"name":"wte.exp_avg","place":"all",)"
        R"("role":"exp_avg","rule":[["tp"],[]],"shape":[10,4],"split":"ceil"},)"
        R"({"dtype":"f32","expert":{"count":8,"index":3},"name":"x.3","place":"all",)"
        R"("role":"param","rule":[[]],"shape":[2]}]})";
    QCOMPARE(ToJson(layout), text);
    QCOMPARE(QString::fromStdString(Hex16(layout.hash())), QStringLiteral("5b77ad6a3552e189"));
    QVERIFY(*ParseLayout(text) == layout);
    for (std::size_t length = 0; length < text.size(); ++length) {
      QVERIFY(!ParseLayout(std::string_view(text).substr(0, length)));
    }
    // Any byte changed: an error, or a layout that is its text.
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (char c : {'"', '{', ']', ',', '-', '9', '\xff'}) {
        std::string damaged = text;
        damaged[at] = c;
        const auto parsed = ParseLayout(damaged);
        if (parsed) QVERIFY(*ParseLayout(ToJson(*parsed)) == *parsed);
      }
    }
  }

  void parseRejects_data() {
    QTest::addColumn<QString>("rest");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* rest, const char* message) {
      QTest::newRow(rest) << rest << message;
    };
    row(R"("rule":[{"axes":["tp"],"heads":{"kv":1,"of":"key","query":1},"split":"heads"}])",
        "key 'rule': 'of' must be query or kv, not 'key'");
    row(R"("rule":[{"axes":["tp"],"heads":{"kv":1,"query":1},"split":"heads"}])",
        "key 'rule': heads needs 'of'");
    row(R"("rule":[{"axis":["tp"]}])",
        "key 'rule': unknown key 'axis', a cut has axes, heads, multiple, split");
    row(R"("rule":[{"split":"ceil"}])", "key 'rule': a cut needs 'axes'");
    row(R"("rule":[{"axes":"tp"}])", "key 'rule': 'axes' must be a list, not 'tp'");
    row(R"("rule":[[3]])", "key 'rule': expected the name of an axis, not 3");
    row(R"("rule":3)", "'rule' must be a list, not 3");
    row(R"("rule":[],"flat":3)", "'flat' must be a list, not 3");
    row(R"("rule":[],"bucket":3)", "'bucket' must be a text, not 3");
    row(R"("rule":[],"aliases":[3])", "'aliases' must be a list of texts, not of 3");
    row(R"("rule":[],"expert":{"count":8})", "key 'expert': an expert needs 'index'");
    row(R"("rule":[],"expert":3)",
        "key 'expert': expected an object, not 3: an expert has count, index");
    row(R"("rule":[],"segments":{"dim":0,"sizes":[4],"cuts":[]})",
        "key 'segments': 0 cuts for 1 segments");
    row(R"("rule":[],"segments":{"dim":0,"sizes":[4],"cuts":[3]})",
        "key 'segments': key 'cuts': expected a cut, which is a list of axes or an object, not 3");
  }
  void parseRejects() {
    QFETCH(QString, rest);
    QFETCH(QString, message);
    const std::string text =
        R"({"mesh":"tp=1 on n0g0","num_layers":0,"tensors":[{"dtype":"f32","name":"w",)"
        R"("place":"all","role":"param","shape":[4],)" +
        rest.toStdString() + "}]}";
    const auto layout = ParseLayout(text);
    QVERIFY(!layout);
    QCOMPARE(QString::fromStdString(layout.error().ToString()), "layout: tensors[0]: " + message);
  }
  void badStagesAreRefused() {
    const auto layout =
        ParseLayout(R"({"mesh":"tp=1 on n0g0","num_layers":0,"stages":"uneven","tensors":[]})");
    QVERIFY(!layout);
    QVERIFY(layout.error().ToString().starts_with("layout: stage rule 'uneven' is none of"));
  }
};

TESSERA_TEST_APPLESS(RuleKindsTest)
#include "rule_kinds_test.moc"
