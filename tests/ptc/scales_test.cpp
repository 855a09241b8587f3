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
                            const char* suffix = "weight_scale_inv", const char* name = "weight") {
  const std::string tensors = fmt::format(
      R"({{"layers": 1, "values": {{"heads": 6, "kv_heads": 6}}, "tensors": [
          {{"name": "layers.0.up.{}", "dtype": "f8e4m3", "shape": {}}},
          {{"name": "layers.0.up.{}", "dtype": "f32", "shape": {}}}]}})",
      name, weight, suffix, scale);
  const std::string rules =
      fmt::format(R"({{"rules": [{}{{"match": "**layers.{{layer}}.up.{}", "cut": {}}}]}})",
                  rule_of_scale, name, cut);
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

  // The packed forms of gpt-oss, GPTQ, AWQ and compressed-tensors.
  void packedFormsFollow_data() {
    QTest::addColumn<QString>("names");
    QTest::addColumn<QString>("weight");
    QTest::addColumn<QString>("scale");
    QTest::addColumn<QString>("cut");
    QTest::addColumn<QString>("held");
    const auto row = [](const char* name, const char* names, const char* weight, const char* scale,
                        const char* cut, const char* held) {
      QTest::newRow(name) << names << weight << scale << cut << held;
    };
    row("gpt-oss, rows", "w_blocks w_scales", "[4, 64, 6, 16]", "[4, 64, 6]",
        R"({"dims": [[], ["tp"]]})", "[0:4,32:64,0:6,0:16] | [0:4,32:64,0:6]");
    row("gpt-oss, columns", "w_blocks w_scales", "[4, 64, 6, 16]", "[4, 64, 6]",
        R"({"dims": [[], [], ["tp"]]})", "[0:4,0:64,3:6,0:16] | [0:4,0:64,3:6]");
    row("gpt-oss, inside what shares a scale", "w_blocks w_scales", "[4, 64, 6, 16]", "[4, 64, 6]",
        R"({"dims": [[], [], [], ["tp"]]})", "[0:4,0:64,0:6,8:16] | [0:4,0:64,0:6]");
    row("a scale for each row, rows", "weight weight_scale", "[512, 256]", "[512]", R"("colwise")",
        "[256:512,0:256] | [256:512]");
    row("a scale for each row, columns", "weight weight_scale", "[512, 256]", "[512]",
        R"("rowwise")", "[0:512,128:256] | [0:512]");
    row("GPTQ, in", "qweight scales", "[64, 256]", "[4, 256]", R"({"dims": [["tp"]]})",
        "[32:64,0:256] | [2:4,0:256]");
    row("GPTQ, zero points", "qweight qzeros", "[64, 256]", "[4, 32]", R"({"dims": [[], ["tp"]]})",
        "[0:64,128:256] | [0:4,16:32]");
    row("AWQ, out", "qweight scales", "[512, 32]", "[4, 256]", R"({"dims": [[], ["tp"]]})",
        "[0:512,16:32] | [0:4,128:256]");
    row("AWQ, in", "qweight scales", "[512, 32]", "[4, 256]", R"({"dims": [["tp"]]})",
        "[256:512,0:32] | [2:4,0:256]");
    row("AWQ, ragged", "qweight scales", "[512, 24]", "[4, 192]",
        R"({"dims": [[], {"axes": ["tp"], "split": "ceil", "multiple": 16}]})",
        "[0:512,16:24] | [0:4,128:192]");
    row("AWQ, all in the first part", "qweight scales", "[512, 24]", "[4, 192]",
        R"({"dims": [[], {"axes": ["tp"], "split": "ceil", "multiple": 9000}]})", "");
    row("zero points of compressed-tensors", "weight_packed weight_zero_point", "[512, 32]",
        "[64, 2]", R"("colwise")", "[256:512,0:32] | [32:64,0:2]");
  }
  void packedFormsFollow() {
    QFETCH(QString, names);
    QFETCH(QString, weight);
    QFETCH(QString, scale);
    QFETCH(QString, cut);
    QFETCH(QString, held);
    const QStringList both = names.split(' ');
    const auto layout = Cut(qPrintable(weight), qPrintable(scale), qPrintable(cut), "tp=2 on 1x2",
                            "", qPrintable(both[1]), qPrintable(both[0]));
    QVERIFY2(layout, layout ? "" : layout.error().ToString().c_str());
    QCOMPARE(QString::fromStdString(Held(*layout, 1)), held);
  }

  void packedFormsAreRefused_data() {
    QTest::addColumn<QString>("names");
    QTest::addColumn<QString>("weight");
    QTest::addColumn<QString>("scale");
    QTest::addColumn<QString>("cut");
    QTest::addColumn<QString>("own");  // the cut of the scale's own rule
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const char* names, const char* weight, const char* scale,
                        const char* cut, const char* own, const char* message) {
      QTest::newRow(name) << names << weight << scale << cut << own << message;
    };
    row("GPTQ, in", "qweight scales", "[48, 256]", "[3, 256]", R"({"dims": [["tp"]]})", "",
        "the part [24:48,0:256] at tp=1 lacks the scales [1:2,0:256] of 'layers.0.up.scales': 16 "
        "elements of dim 0 = 48 share a scale, so each part must be a multiple of 16");
    row("GPTQ, zero points", "qweight qzeros", "[64, 40]", "[4, 5]", R"({"dims": [[], ["tp"]]})",
        "", "8 elements of dim 1 = 40 share a scale, so each part must be a multiple of 8");
    row("AWQ, in", "qweight scales", "[384, 32]", "[3, 256]", R"({"dims": [["tp"]]})", "",
        "each part must be a multiple of 128");
    row("AWQ, a rule of its own", "qweight scales", "[512, 32]", "[4, 256]",
        R"({"dims": [[], ["tp"]]})", R"({"dims": [["tp"]]})", "cut both at the same elements");
    row("gpt-oss, a rule of its own", "w_blocks w_scales", "[4, 64, 6, 16]", "[4, 64, 6]",
        R"({"dims": [[], ["tp"]]})", R"({"dims": [["tp"]]})", "cut both at the same elements");
    row("shapes that do not fit", "weight weight_scale", "[8, 8]", "[6, 4, 2]", R"("colwise")",
        R"("colwise")",
        "tensor 'layers.0.up.weight_scale' is cut, but its shape [6,4,2] does not say which scales "
        "the parts of 'layers.0.up.weight' [8,8] need");
  }
  void packedFormsAreRefused() {
    QFETCH(QString, names);
    QFETCH(QString, weight);
    QFETCH(QString, scale);
    QFETCH(QString, cut);
    QFETCH(QString, own);
    QFETCH(QString, message);
    const QStringList both = names.split(' ');
    const auto rule = [&](const QString& cut_of_scale) {
      return QStringLiteral(R"({"match": "**.%1", "cut": %2, "stage": "all"},)")
          .arg(both[1], cut_of_scale);
    };
    const auto layout_with = [&](const QString& rule_of_scale) {
      return Cut(qPrintable(weight), qPrintable(scale), qPrintable(cut), "tp=2 on 1x2",
                 qPrintable(rule_of_scale), qPrintable(both[1]), qPrintable(both[0]));
    };
    const auto layout = layout_with(own.isEmpty() ? QString() : rule(own));
    QVERIFY(!layout);
    const QString said = QString::fromStdString(layout.error().ToString());
    QVERIFY2(said.contains(message), qPrintable(said));
    QVERIFY(layout_with(rule(R"("replicate")")));  // every part has all scales then
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
    QVERIFY((*blocks == std::vector<ScaleDim>{{block, 1}, {3, 1}}));
  }

  void otherTensorsAreNotScales() {
    QVERIFY(WeightsOfScale("logit_scale").empty());
    QVERIFY(WeightsOfScale("layers.0.weight").empty());
    QVERIFY(!BlocksOfScale({8, 8}, {8, 8}));
    QVERIFY(!BlocksOfScale({8, 8}, {16, 8}));
    QVERIFY(!BlocksOfScale({8, 8}, {4}));
    QVERIFY(!BlocksOfScale({8}, {8, 8}));
  }
};

TESSERA_TEST_APPLESS(ScalesTest)
#include "scales_test.moc"
