// SPDX-License-Identifier: Apache-2.0
/// \file
/// Scales of quantised weights follow their weights, and are never left on another rank.
#include "ptc/scales.h"

#include <fmt/format.h>

#include <QTest>

#include "ptc/layout.h"
#include "ptc/rules/rules.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

namespace {

/// One weight of layer 0 with its scale, cut by one rule.
tessera::Result<Layout> Cut(const char* weight, const char* scale, const char* cut,
                            const char* mesh = "tp=2 on 1x2", const char* rule_of_scale = "",
                            const char* suffix = "weight_scale_inv") {
  const std::string tensors = fmt::format(
      R"({{"layers": 1, "values": {{"heads": 6, "kv_heads": 6}}, "tensors": [
          {{"name": "layers.0.up.weight", "dtype": "f8e4m3", "shape": {}}},
          {{"name": "layers.0.up.{}", "dtype": "f32", "shape": {}}}]}})",
      weight, suffix, scale);
  const std::string rules =
      fmt::format(R"({{"rules": [{}{{"match": "**layers.{{layer}}.up.weight", "cut": {}}}]}})",
                  rule_of_scale, cut);
  auto ruled = ApplyRules({"t.json", tensors}, {"r.json", rules}, false);
  if (!ruled) return ruled.error();
  return Layout::Make(*ParseDeviceMesh(mesh), ruled->tensors, ruled->stages);
}

/// The boxes of both tensors on a rank: "[0:128,0:8] | [0:1,0:1]".
std::string Held(const Layout& layout, int rank) {
  std::string out;
  for (int t = 0; t < 2; ++t) {
    for (const Box& box : layout.Boxes(rank, t)) {
      out += (out.empty() ? "" : t == 0 ? " " : " | ") + ToString(box);
    }
  }
  return out;
}

}  // namespace

class ScalesTest : public QObject {
  Q_OBJECT
 private slots:
  void scalesFollow_data() {
    QTest::addColumn<QString>("weight");
    QTest::addColumn<QString>("scale");
    QTest::addColumn<QString>("cut");
    QTest::addColumn<QString>("suffix");
    QTest::addColumn<QString>("held");
    const auto row = [](const char* name, const char* weight, const char* scale, const char* cut,
                        const char* held, const char* suffix = "weight_scale_inv") {
      QTest::newRow(name) << weight << scale << cut << suffix << held;
    };
    row("rows", "[512, 256]", "[4, 2]", R"("colwise")", "[256:512,0:256] | [2:4,0:2]");
    row("columns", "[512, 256]", "[4, 2]", R"("rowwise")", "[0:512,128:256] | [0:4,1:2]");
    row("heads", "[768, 256]", "[6, 2]", R"("colwise_q")", "[384:768,0:256] | [3:6,0:2]");
    row("heads that share blocks", "[1152, 256]", "[9, 2]",
        R"({"dims": [{"axes": ["tp"], "split": "ceil", "multiple": 384}]})",
        "[768:1152,0:256] | [6:9,0:2]");
    row("ragged, at block ends", "[448, 8]", "[4, 1]",
        R"({"dims": [{"axes": ["tp"], "split": "ceil", "multiple": 128}]})",
        "[256:448,0:8] | [2:4,0:1]");
    row("a scale for each row", "[512, 256]", "[512, 1]", R"("colwise")",
        "[256:512,0:256] | [256:512,0:1]");
    row("one scale", "[512, 256]", "[1]", R"("colwise")", "[256:512,0:256] | [0:1]",
        "weight_scale");
    row("segments", "[512, 8]", "[4, 1]",
        R"({"dims": [["tp"]], "segments": {"dim": 0, "sizes": [256, 256]}})",
        "[128:256,0:8] [384:512,0:8] | [1:2,0:1] | [3:4,0:1]");
  }
  void scalesFollow() {
    QFETCH(QString, weight);
    QFETCH(QString, scale);
    QFETCH(QString, cut);
    QFETCH(QString, suffix);
    QFETCH(QString, held);
    const auto layout = Cut(qPrintable(weight), qPrintable(scale), qPrintable(cut), "tp=2 on 1x2",
                            "", qPrintable(suffix));
    QVERIFY2(layout, layout ? "" : layout.error().ToString().c_str());
    QCOMPARE(QString::fromStdString(Held(*layout, 1)), held);
  }

  void aPartWithoutItsScalesIsRefused_data() {
    QTest::addColumn<QString>("weight");
    QTest::addColumn<QString>("scale");
    QTest::addColumn<QString>("cut");
    QTest::addColumn<QString>("message");
    QTest::newRow("rows inside a block, scales that divide")
        << "[448, 8]"
        << "[4, 1]"
        << R"("colwise")"
        << "tensor 'layers.0.up.weight': the part [224:448,0:8] at tp=1 lacks the scales [1:2,0:1] "
           "of 'layers.0.up.weight_scale_inv': 128 elements of dim 0 = 448 share a scale, so each "
           "part must be a multiple of 128";
    QTest::newRow("rows inside a block, scales that do not divide")
        << "[384, 8]"
        << "[3, 1]"
        << R"("colwise")"
        << "each part must be a multiple of 128";
    QTest::newRow("heads") << "[576, 8]"
                           << "[5, 1]"
                           << R"("colwise_q")"
                           << "the part [288:576,0:8] at tp=1 lacks the scales [2:3,0:1]";
    QTest::newRow("columns") << "[8, 320]"
                             << "[1, 5]"
                             << R"("rowwise")"
                             << "64 elements of dim 1 = 320 share a scale";
    QTest::newRow("a segment inside a block")
        << "[512, 8]"
        << "[4, 1]"
        << R"({"dims": [["tp"]], "segments": {"dim": 0, "sizes": [192, 320]}})"
        << "a segment ends at 192 of dim 0, inside a block of 128";
  }
  void aPartWithoutItsScalesIsRefused() {
    QFETCH(QString, weight);
    QFETCH(QString, scale);
    QFETCH(QString, cut);
    QFETCH(QString, message);
    const auto layout = Cut(qPrintable(weight), qPrintable(scale), qPrintable(cut));
    QVERIFY(!layout);
    const QString said = QString::fromStdString(layout.error().ToString());
    QVERIFY2(said.contains(message), qPrintable(said));
  }

  void aRuleOfItsOwnCounts() {
    const char* replicated = R"({"match": "**_scale_inv", "cut": "replicate", "stage": "all"},)";
    const auto layout = Cut("[448, 8]", "[4, 1]", R"("colwise")", "tp=2 on 1x2", replicated);
    QVERIFY2(layout, layout ? "" : layout.error().ToString().c_str());
    QCOMPARE(Held(*layout, 1), "[224:448,0:8] | [0:4,0:1]");
    const char* apart = R"({"match": "**_scale_inv", "cut": "rowwise", "stage": "all"},)";
    QVERIFY(!Cut("[512, 256]", "[4, 2]", R"("colwise")", "tp=2 on 1x2", apart));
  }

  void blocks_data() {
    QTest::addColumn<qint64>("size");
    QTest::addColumn<qint64>("scales");
    QTest::addColumn<qint64>("block");
    QTest::newRow("no rest") << qint64{512} << qint64{4} << qint64{128};
    QTest::newRow("a rest") << qint64{576} << qint64{5} << qint64{128};
    QTest::newRow("a rest, though the scales divide") << qint64{448} << qint64{4} << qint64{128};
    QTest::newRow("no power of two") << qint64{1000} << qint64{10} << qint64{100};
    QTest::newRow("one block") << qint64{100} << qint64{1} << qint64{100};
    QTest::newRow("each") << qint64{7} << qint64{7} << qint64{1};
  }
  void blocks() {
    QFETCH(qint64, size);
    QFETCH(qint64, scales);
    QFETCH(qint64, block);
    const auto blocks = BlocksOfScale({size, 3}, {scales, 1});
    QVERIFY(blocks.has_value());
    QVERIFY((*blocks == Shape{block, 3}));
  }

  void otherTensorsAreNotScales() {
    QVERIFY(WeightsOfScale("logit_scale").empty());
    QVERIFY(WeightsOfScale("layers.0.weight").empty());
    QVERIFY(!BlocksOfScale({8, 8}, {8, 8}));
    QVERIFY(!BlocksOfScale({8, 8}, {16, 8}));
    QVERIFY(!BlocksOfScale({8, 8}, {8}));
  }
};

TESSERA_TEST_APPLESS(ScalesTest)
#include "scales_test.moc"
