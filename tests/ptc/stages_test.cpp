// SPDX-License-Identifier: Apache-2.0
#include "ptc/stages.h"

#include <QTest>
#include <algorithm>
#include <limits>
#include <random>

#include "ptc/layout.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using Numbers = std::vector<std::int64_t>;

namespace {

/// One tensor per layer with the given bytes, and one each on the first and on the last stage.
CollectionPtr Weighing(const Numbers& layers, std::int64_t first = 0, std::int64_t last = 0) {
  std::vector<TensorSpec> specs;
  const auto add = [&](std::string name, StagePlace place, std::int64_t bytes, std::int64_t layer) {
    TensorSpec spec;
    spec.name = std::move(name);
    spec.dtype = DType::kU8;
    spec.shape = {bytes};
    spec.place = place;
    spec.layer = layer;
    specs.push_back(std::move(spec));
  };
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto layer = static_cast<std::int64_t>(l);
    add("h." + std::to_string(l), StagePlace::kLayer, layers[l], layer);
  }
  add("embedding", StagePlace::kFirst, first, 0);
  add("head", StagePlace::kLast, last, 0);
  return *Collection::Make(std::move(specs), std::ssize(layers));
}

std::int64_t Fullest(const Numbers& layers, const Numbers& stages, std::int64_t num_stages,
                     std::int64_t first, std::int64_t last) {
  Numbers bytes(static_cast<std::size_t>(num_stages));
  bytes.front() += first;
  bytes.back() += last;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    bytes[static_cast<std::size_t>(stages[l])] += layers[l];
  }
  return *std::ranges::max_element(bytes);
}

/// The least possible bytes, found by trying all ways to cut the layers into contiguous chunks.
std::int64_t LeastFullest(const Numbers& layers, std::int64_t num_stages, std::int64_t first,
                          std::int64_t last, Numbers stages = {}) {
  if (stages.size() == layers.size()) return Fullest(layers, stages, num_stages, first, last);
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t s = stages.empty() ? 0 : stages.back(); s < num_stages; ++s) {
    Numbers next = stages;
    next.push_back(s);
    best = std::min(best, LeastFullest(layers, num_stages, first, last, std::move(next)));
  }
  return best;
}

}  // namespace

class StagesTest : public QObject {
  Q_OBJECT
 private slots:
  void layersAreDealt_data() {
    QTest::addColumn<QString>("rule");
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("stages");
    QTest::addColumn<QString>("dealt");
    QTest::newRow("uniform") << "uniform" << 7 << 3 << "0,0,0,1,1,2,2";
    QTest::newRow("more stages than layers") << "uniform" << 2 << 4 << "0,1";
    QTest::newRow("interleaved") << "uniform*2" << 8 << 2 << "0,0,1,1,0,0,1,1";
    QTest::newRow("interleaved, uneven") << "uniform*3" << 7 << 2 << "0,0,1,0,1,0,1";
    QTest::newRow("more chunks than layers") << "uniform*4" << 3 << 2 << "0,1,0";
    QTest::newRow("explicit, in any order") << "2,0,1,0" << 4 << 3 << "2,0,1,0";
    QTest::newRow("balanced, equal layers") << "balanced" << 8 << 4 << "0,0,1,1,2,2,3,3";
    QTest::newRow("balanced, uneven") << "balanced" << 5 << 4 << "0,0,1,2,3";
    QTest::newRow("balanced, one stage") << "balanced" << 3 << 1 << "0,0,0";
    QTest::newRow("balanced, no layers") << "balanced" << 0 << 3 << "";
  }
  void layersAreDealt() {
    QFETCH(QString, rule);
    QFETCH(int, layers);
    QFETCH(int, stages);
    QFETCH(QString, dealt);
    const auto tensors = Weighing(Numbers(static_cast<std::size_t>(layers), 10));
    const auto parsed = ParseStageRule(rule.toStdString());
    QVERIFY(parsed);
    const auto found = StagesOfLayers(*parsed, *tensors, stages);
    QVERIFY(found);
    QStringList text;
    for (std::int64_t stage : *found) text += QString::number(stage);
    QCOMPARE(text.join(','), dealt);
  }

  void theEmbeddingAndTheHeadCount() {
    StageRule balanced;
    balanced.kind = StageRule::Kind::kBalanced;
    // An embedding of two layers' bytes and a head of one: 11 over 4 stages.
    QCOMPARE(*StagesOfLayers(balanced, *Weighing(Numbers(8, 10), 20, 10), 4),
             (Numbers{0, 1, 1, 1, 2, 2, 2, 3}));
    // An embedding above all else: its stage has no layer.
    QCOMPARE(*StagesOfLayers(balanced, *Weighing(Numbers(4, 10), 100, 0), 3),
             (Numbers{1, 1, 2, 2}));
  }

  // No other way to cut has fewer bytes on its fullest stage. Stages are contiguous.
  void balancedIsExact() {
    std::mt19937_64 rng(tessera::test::Seed());
    StageRule balanced;
    balanced.kind = StageRule::Kind::kBalanced;
    for (int i = 0; i < 2000; ++i) {
      Numbers layers(1 + rng() % 7);
      for (std::int64_t& bytes : layers) bytes = static_cast<std::int64_t>(rng() % 30);
      const auto num_stages = static_cast<std::int64_t>(1 + rng() % 5);
      const auto first = static_cast<std::int64_t>(rng() % 3 == 0 ? rng() % 60 : 0);
      const auto last = static_cast<std::int64_t>(rng() % 3 == 0 ? rng() % 60 : 0);
      const auto stages = StagesOfLayers(balanced, *Weighing(layers, first, last), num_stages);
      QVERIFY(stages);
      QCOMPARE(stages->size(), layers.size());
      QVERIFY(std::ranges::is_sorted(*stages));
      QVERIFY(stages->front() >= 0 && stages->back() < num_stages);
      QCOMPARE(Fullest(layers, *stages, num_stages, first, last),
               LeastFullest(layers, num_stages, first, last));
    }
  }

  void balancedNearTheLargestBytes() {
    const std::int64_t third = std::numeric_limits<std::int64_t>::max() / 3;
    TensorSpec tied;
    tied.name = "tied";
    tied.dtype = DType::kU8;
    tied.shape = {third};
    tied.place = StagePlace::kFirstAndLast;
    std::vector<TensorSpec> specs{tied};
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      specs.push_back(tied);
      specs.back().name = "h." + std::to_string(layer);
      specs.back().place = StagePlace::kLayer;
      specs.back().layer = layer;
    }
    StageRule balanced;
    balanced.kind = StageRule::Kind::kBalanced;
    QCOMPARE(*StagesOfLayers(balanced, **Collection::Make(specs, 2), 3), (Numbers{0, 1}));
  }

  void textRoundTrips() {
    for (const char* text : {"uniform", "uniform*2", "balanced", "0", "0,0,1,1", "3,1,2"}) {
      QCOMPARE(ToString(*ParseStageRule(text)), text);
    }
    QVERIFY(*ParseStageRule("uniform") == StageRule{});
  }

  void badTextIsRefused() {
    for (const char* text :
         {"", ",", "0,", ",0", "0,,1", "-1", "0,x", "uniform*", "uniform*0", "uniform*-1",
          "uniform*2x", "Balanced", "balanced*2", "0 ,1", "99999999999999999999"}) {
      const auto rule = ParseStageRule(text);
      QVERIFY2(!rule, text);
      QVERIFY(QString::fromStdString(rule.error().ToString()).startsWith("stage rule '"));
    }
  }

  void rulesThatDoNotFit_data() {
    QTest::addColumn<QString>("rule");
    QTest::addColumn<QString>("message");
    QTest::newRow("too few layers") << "0,1"
                                    << "stages are given for 2 layers, but there are 3";
    QTest::newRow("past the last stage") << "0,1,2"
                                         << "stage 2 of layer 2 is not in 0..1";
    QTest::newRow("far too many chunks") << "uniform*65537"
                                         << "stages are interleaved 65537 times, not 1 to 65536";
  }
  void rulesThatDoNotFit() {
    QFETCH(QString, rule);
    QFETCH(QString, message);
    const auto layout = Layout::Make(*ParseDeviceMesh("pp=2 on 1x2"), Weighing({1, 1, 1}),
                                     *ParseStageRule(rule.toStdString()));
    QVERIFY(!layout);
    QCOMPARE(QString::fromStdString(layout.error().ToString()), message);
  }
  void balancedStagesAreNotInterleaved() {
    StageRule rule;
    rule.kind = StageRule::Kind::kBalanced;
    rule.interleave = 2;
    const auto stages = StagesOfLayers(rule, *Weighing({1}), 2);
    QVERIFY(!stages);
    QCOMPARE(stages.error().ToString(),

             "balanced stages cannot be interleaved, but 2 per stage are requested");
  }

  void tooManyLayersAreRefused() {
    const auto collection = Collection::Make({}, std::int64_t{1} << 40);
    QVERIFY(!collection);
    QCOMPARE(collection.error().ToString(), "number of layers 1099511627776 is above 65536");
  }

  // Members that the kind of a rule does not use do not make layouts differ.
  void rulesOfEqualMeaningAreEqual() {
    const auto mesh = *ParseDeviceMesh("pp=2 on 1x2");
    StageRule odd;
    odd.stage_of_layer = {1, 1};
    QVERIFY(*Layout::Make(mesh, Weighing({1, 1}), odd) == *Layout::Make(mesh, Weighing({1, 1})));
    StageRule none;
    none.kind = StageRule::Kind::kExplicit;
    QVERIFY(*Layout::Make(mesh, Weighing({}), none) == *Layout::Make(mesh, Weighing({})));
  }

  void stagesShowInTheTextAndTheHash() {
    const auto mesh = *ParseDeviceMesh("pp=2 on n0g0,n0g1");
    const Layout layout = *Layout::Make(mesh, Weighing({1, 1}), *ParseStageRule("1,0"));
    const std::string text = ToJson(layout);
    QVERIFY(text.starts_with(
        R"({"mesh":"dp=1,tp=1,pp=2 on n0g0,n0g1","num_layers":2,"stages":"1,0","tensors":[)"));
    QVERIFY(*ParseLayout(text) == layout);
    QVERIFY(layout.hash() != Layout::Make(mesh, Weighing({1, 1}))->hash());
    QCOMPARE(layout.Boxes(0, *layout.collection().Find("h.0")).size(), std::size_t{0});
    QCOMPARE(layout.Boxes(1, *layout.collection().Find("h.0")).size(), std::size_t{1});
  }
};

TESSERA_TEST_APPLESS(StagesTest)
#include "stages_test.moc"
