// SPDX-License-Identifier: Apache-2.0
/// \file
/// The members of the rules file and the tensors file beyond axes: heads, values, segments,
/// experts, tied names, buckets, stages. rules_test has patterns and plain cuts.
#include <QTest>
#include <string>

#include "ptc/layout.h"
#include "ptc/rules/rules.h"
#include "tests/ptc/edited_rules.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

using tessera::test::Edited;

namespace {

/// A llama-like block with an expert layer; Hugging Face's names.
const std::string kTensors = R"({
  "layers": 2,
  "values": {"heads": 8, "kv_heads": 2, "head_dim": 4, "width": 32, "experts": 3},
  "optimizer": "adamw",
  "tensors": [
    {"name": "model.embed_tokens.weight", "dtype": "f32", "shape": [100, "$width"], "aliases": ["lm_head.weight"]},
    {"name": "model.layers.{layer}.q_proj.weight", "dtype": "f32", "shape": ["$heads*$head_dim", "$width"]},
    {"name": "model.layers.{layer}.k_proj.weight", "dtype": "f32", "shape": ["$kv_heads*$head_dim", "$width"]},
    {"name": "model.layers.{layer}.o_proj.weight", "dtype": "f32", "shape": ["$width", "$heads*$head_dim"]},
    {"name": "model.layers.{layer}.c_attn.weight", "dtype": "f32", "shape": ["$width", "3*$width"]},
    {"name": "model.layers.{layer}.experts.{expert}.w1.weight", "dtype": "f32", "shape": [8, 4]},
    {"name": "model.norm.weight", "dtype": "f32", "shape": ["$width"]}
  ]
}
)";

const std::string kRules = R"({
  "stages": "uniform*2",
  "rules": [
    {"match": "lm_head.weight", "cut": {"dims": [{"axes": ["tp"], "split": "ceil", "multiple": 64}]},
     "stage": "first_and_last"},
    {"match": "model.layers.{layer}.q_proj.weight", "cut": "colwise_q"},
    {"match": "model.layers.{layer}.k_proj.weight", "cut": "colwise_kv"},
    {"match": "model.layers.{layer}.o_proj.weight", "cut": "rowwise_q"},
    {"match": "model.layers.{layer}.c_attn.weight", "cut": {
      "segments": {"dim": 1, "sizes": ["$width", "$width", "$width"], "cuts": [["tp"], ["tp"], []]},
      "flat": ["dp", "cp"], "bucket": "layer {layer}"}},
    {"match": "**.experts.{expert}.*.weight", "cut": "colwise", "stage": "all"},
    {"match": "model.norm.weight", "cut": {"dims": [], "bucket": "norms"}, "stage": "last"},
    {"match": "model.norm.bias", "cut": "replicate", "optional": true}
  ]
}
)";

NamedText Tensors(std::string text) { return {"t.json", std::move(text)}; }
NamedText Rules(std::string text) { return {"r.json", std::move(text)}; }

const TensorSpec& Find(const RuledTensors& ruled, const char* name) {
  const auto at = ruled.tensors->Find(name);
  if (!at) qFatal("no tensor %s", name);
  return ruled.tensors->tensors()[static_cast<std::size_t>(*at)];
}

}  // namespace

class RuleFilesTest : public QObject {
  Q_OBJECT
 private slots:
  void everyMemberIsRead() {
    const auto ruled = ApplyRules(Tensors(kTensors), Rules(kRules), false);
    QVERIFY2(ruled, ruled ? "" : ruled.error().ToString().c_str());
    QCOMPARE(ToString(ruled->stages), "uniform*2");

    const TensorSpec& wte = Find(*ruled, "model.embed_tokens.weight");
    QCOMPARE(wte.name, "lm_head.weight");
    QVERIFY((wte.aliases == std::vector<std::string>{"model.embed_tokens.weight"}));
    QVERIFY((wte.rule.dims[0] == DimCut{{Axis::kTp}, Split::kCeil, 64}));
    QCOMPARE(Find(*ruled, "model.embed_tokens.weight.exp_avg").name, "lm_head.weight.exp_avg");

    const TensorSpec& q = Find(*ruled, "model.layers.1.q_proj.weight");
    QVERIFY((q.shape == Shape{32, 32}));
    QVERIFY((q.rule.dims[0] == DimCut{{Axis::kTp}, Split::kHeads, 1, HeadGroups{2, 8, true}}));
    const TensorSpec& k = Find(*ruled, "model.layers.0.k_proj.weight");
    QVERIFY((k.rule.dims[0] == DimCut{{Axis::kTp}, Split::kHeads, 1, HeadGroups{2, 8, false}}));
    const TensorSpec& o = Find(*ruled, "model.layers.0.o_proj.weight");
    QVERIFY((o.rule.dims[1] == q.rule.dims[0] && o.rule.dims[0] == DimCut{}));

    const TensorSpec& fused = Find(*ruled, "model.layers.1.c_attn.weight");
    QCOMPARE(fused.segments->dim, 1);
    QVERIFY((fused.segments->blocks ==
             std::vector<Segment>{{32, DimCut{{Axis::kTp}}}, {32, DimCut{{Axis::kTp}}}, {32}}));
    QVERIFY((fused.rule.flat == std::vector{Axis::kDp, Axis::kCp}));
    QCOMPARE(fused.rule.bucket, "layer 1");
    QCOMPARE(Find(*ruled, "model.layers.1.c_attn.weight.exp_avg").rule.bucket, "layer 1.exp_avg");

    const TensorSpec& expert = Find(*ruled, "model.layers.0.experts.2.w1.weight.exp_avg");
    QVERIFY((expert.expert == ExpertIndex{2, 3}));
    // A bucket is used only if the tensor is flat.
    QCOMPARE(Find(*ruled, "model.norm.weight").rule.bucket, "");
    for (const char* mesh : {"tp=2 on 1x2", "tp=4 on 1x4", "tp=8,ep=2 on 2x8"}) {
      QVERIFY(Layout::Make(*ParseDeviceMesh(mesh), ruled->tensors));
    }
  }

  void zeroKeepsBucketsAndOtherAxes() {
    const std::string cp = Edited(kRules, R"("flat": ["dp", "cp"])", R"("flat": "cp")");
    const auto ruled = ApplyRules(Tensors(kTensors), Rules(cp), true);
    QVERIFY(ruled);
    const TensorSpec& state = Find(*ruled, "model.layers.1.c_attn.weight.exp_avg_sq");
    QVERIFY((state.rule.flat == std::vector{Axis::kDp, Axis::kCp}));
    QVERIFY((Find(*ruled, "model.layers.1.c_attn.weight").rule.flat == std::vector{Axis::kCp}));
    QCOMPARE(Find(*ruled, "model.norm.weight.exp_avg").rule.bucket, "norms.exp_avg");
  }

  // Names of a checkpoint: the pattern matches the expert, and the values give the number of
  // experts.
  void expertsByTheirNames() {
    const std::string literal =
        Edited(kTensors, R"("name": "model.layers.{layer}.experts.{expert}.w1.weight")",
               R"("name": "model.layers.0.experts.1.w1.weight")");
    const auto ruled = ApplyRules(Tensors(literal), Rules(kRules), false);
    QVERIFY2(ruled, ruled ? "" : ruled.error().ToString().c_str());
    QVERIFY((Find(*ruled, "model.layers.0.experts.1.w1.weight").expert == ExpertIndex{1, 3}));
  }

  void segmentsOfTheTensorWithCutsOfTheRule() {
    const auto ruled = ApplyRules(
        Tensors(Edited(kTensors, R"("3*$width"])",
                       R"("3*$width"], "segments": {"dim": 1, "sizes": [64, 16, 16]})")),
        Rules(Edited(kRules, R"("sizes": ["$width", "$width", "$width"], )", "")), false);
    QVERIFY2(ruled, ruled ? "" : ruled.error().ToString().c_str());
    QVERIFY((Find(*ruled, "model.layers.0.c_attn.weight").segments->blocks ==
             std::vector<Segment>{{64, DimCut{{Axis::kTp}}}, {16, DimCut{{Axis::kTp}}}, {16}}));
  }

  // A rule for the last stage takes no tensor out of a layer.
  void layersAreNotTorn() {
    const std::string tensors = R"({"layers": 2, "tensors": [
      {"name": "model.layers.1.q_norm.weight", "dtype": "f32", "shape": [4]},
      {"name": "model.layers.1.mlp.weight", "dtype": "f32", "shape": [4]},
      {"name": "model.norm.weight", "dtype": "f32", "shape": [4]}]})";
    const std::string layer = R"({"match": "**layers.{layer}.mlp.*", "cut": "replicate"},)";
    const std::string last = R"({"match": "**norm.weight", "cut": "replicate", "stage": "last"})";
    const auto apply = [&](const std::string& rules) {
      return ApplyRules(Tensors(tensors), Rules("{\"rules\": [\n" + rules + "]}"), false);
    };
    const auto refused = apply(layer + last);
    QVERIFY(!refused);
    QCOMPARE(
        QString::fromStdString(refused.error().ToString()),
        "t.json:2: no rule of r.json matches tensor 'model.layers.1.q_norm.weight': it belongs "
        "to layer 1, and '**norm.weight' at line 2 puts tensors on stage 'last' without naming "
        "a layer; add a rule with {layer}");
    // A later rule without a stage keeps the tensor with its layer.
    const auto kept = apply(layer + last + R"(, {"match": "**", "cut": "replicate"})");
    QVERIFY2(kept, kept ? "" : kept.error().ToString().c_str());
    QVERIFY(Find(*kept, "model.layers.1.q_norm.weight").place == StagePlace::kLayer);
    QCOMPARE(Find(*kept, "model.layers.1.q_norm.weight").layer, 1);
    QVERIFY(Find(*kept, "model.norm.weight").place == StagePlace::kLast);
    // A rule that names layers may put them elsewhere.
    const auto moved =
        apply(layer + R"({"match": "model.layers.*.q_norm.weight", "cut": "replicate",
                                         "stage": "first"}, )" +
              last);
    QVERIFY2(moved, moved ? "" : moved.error().ToString().c_str());
    QVERIFY(Find(*moved, "model.layers.1.q_norm.weight").place == StagePlace::kFirst);
  }
  void aLayerBeyondLayersIsRefused() {
    const auto apply = [](const char* layers, const std::string& stage) {
      const std::string tensors = std::string("{\"layers\": ") + layers + R"(, "tensors": [
        {"name": "model.layers.1.norm.weight", "dtype": "f32", "shape": [4]},
        {"name": "model.layers.2.norm.weight", "dtype": "f32", "shape": [4]}]})";
      const std::string rule = R"({"match": "**norm.weight", "cut": "replicate")";
      return ApplyRules(Tensors(tensors), Rules("{\"rules\": [\n" + rule + stage + "}]}"), false);
    };
    const auto refused = apply("2", "");
    QVERIFY(!refused);
    QCOMPARE(QString::fromStdString(refused.error().ToString()),
             "t.json:3: tensor 'model.layers.2.norm.weight' belongs to layer 2, but 'layers' is 2; "
             "correct it, or give the rule at r.json:2 a stage");
    QVERIFY(apply("3", ""));
    QVERIFY(apply("2", R"(, "stage": "all")"));
    QVERIFY(apply("0", ""));  // a model whose layers do not count
  }
  // The word of layers is the one before {layer} in the file.
  void otherWordsOfLayers() {
    const std::string tensors = R"({"layers": 1, "tensors": [
      {"name": "h.0.ln.weight", "dtype": "f32", "shape": [4]},
      {"name": "path.0.ln.weight", "dtype": "f32", "shape": [4]},
      {"name": "h.0.w", "dtype": "f32", "shape": [4]}]})";
    const std::string rules = R"({"rules": [
      {"match": "**ln.weight", "cut": "replicate", "stage": "last"},
      {"match": "**h.{layer}.*", "cut": "replicate"},
      {"match": "**h.{layer}.ln.*", "cut": "replicate"}]})";
    const auto ruled =
        ApplyRules(Tensors(tensors), Rules(Edited(rules, "h.{layer}.*\"", "h.{layer}.w\"")), false);
    QVERIFY2(ruled, ruled ? "" : ruled.error().ToString().c_str());
    QVERIFY(Find(*ruled, "h.0.ln.weight").place == StagePlace::kLayer);
    QVERIFY(Find(*ruled, "path.0.ln.weight").place == StagePlace::kLast);
  }

  void headsWords() {
    const auto ruled = ApplyRules(
        Tensors(kTensors),
        Rules(Edited(
            kRules, R"("cuts": [["tp"], ["tp"], []])",
            R"("cuts": ["heads_q", {"axes": ["tp"], "heads": {"kv": 2, "query": "4*$kv_heads",
                        "of": "kv"}}, null])")),
        false);
    QVERIFY2(ruled, ruled ? "" : ruled.error().ToString().c_str());
    const auto& blocks = Find(*ruled, "model.layers.0.c_attn.weight").segments->blocks;
    QVERIFY((blocks[0].cut->heads == HeadGroups{2, 8, true}));
    QVERIFY((blocks[1].cut->heads == HeadGroups{2, 8, false}));
    QVERIFY(!blocks[2].cut);
  }

  void theReportGoesOnBehindWhatIsWrong() {
    const std::string rules =
        Edited(Edited(kRules, R"("model.norm.weight")", R"("model.norms.weight")"),
               R"("colwise_kv")", R"({"dims": [[], [], ["tp"]]})");
    const auto report = CheckRules(Tensors(kTensors), Rules(rules), false);
    QVERIFY(report);
    QVERIFY(!report->ok());
    std::vector<std::string> problems;
    for (const RulesReport::Tensor& tensor : report->tensors) {
      if (!tensor.problem.empty() && tensor.spec.role == TensorRole::kParam) {
        problems.push_back(tensor.problem);
      }
    }
    for (const RulesReport::Rule& rule : report->rules) {
      if (!rule.problem.empty()) problems.push_back(rule.problem);
    }
    QCOMPARE(problems,
             (std::vector<std::string>{
                 "t.json:8: tensor 'model.layers.0.k_proj.weight': rule has 3 dims, but the tensor "
                 "has 2 (by the rule at r.json:7)",
                 "t.json:8: tensor 'model.layers.1.k_proj.weight': rule has 3 dims, but the tensor "
                 "has 2 (by the rule at r.json:7)",
                 "t.json:12: no rule of r.json matches tensor 'model.norm.weight'",
                 "r.json:13: 'model.norms.weight' matches no tensor of t.json"}));
    QCOMPARE(report->rules[1].match, "model.layers.{layer}.q_proj.weight");
    QCOMPARE(report->rules[1].tensors, std::size_t{6});  // two layers, each with its moments
    QVERIFY(report->rules.back().optional && report->rules.back().tensors == 0);
    QCOMPARE(report->tensors[3].rule, std::optional<std::size_t>(1));
  }

  void errors_data() {
    const tessera::test::EditColumns columns;
    const auto tensors = columns.InTensors;
    const auto rules = columns.InRules;
    tensors(R"("values": {)", R"("values": 3, "x": {)",
            "t.json:3: unknown key 'x', the tensors file has");
    tensors("\"heads\": 8", "\"heads\": -8",
            "t.json:3: 'heads' must be a whole number from 0, not -8");
    tensors("\"heads\": 8", "\"he-ads\": 8",
            "t.json:3: the name of a value must have 1 to 40 letters, digits and '_'");
    tensors("\"heads\": 8, ", "",
            "t.json:7: 'values' of t.json has no 'heads', only experts, head_dim, kv_heads, width");
    tensors(
        "3*$width", "3*width",
        "t.json:10: 'shape' must be a whole number or a product such as '3*$width', not '3*width'");
    tensors("3*$width", "3*",
            "t.json:10: 'shape' must be a whole number or a product such as '3*$width', not '3*'");
    tensors("3*$width", "9223372036854775807*$width",
            "t.json:10: 'shape' = '9223372036854775807*$width' leaves 64 bits");
    tensors(
        ", \"experts\": 3", "",
        "t.json:11: 'values' of t.json has no 'experts', only head_dim, heads, kv_heads, width");
    tensors("\"shape\": [8, 4]", "\"shape\": [8, 4], \"expert\": 1",
            "t.json:11: 'expert' cannot be combined with {expert} in the name");
    tensors("\"aliases\": [\"lm_head.weight\"]", "\"aliases\": [3]",
            "t.json:6: 'aliases' must be a list of texts, not of 3");
    tensors("experts.{expert}.w1", "experts.7.w1",
            "r.json:12: '**.experts.{expert}.*.weight' matches expert 7 in tensor "
            "'model.layers.0.experts.7.w1.weight', but t.json has 3 experts");
    rules("\"uniform*2\"", "\"uneven\"",
          "r.json:2: 'stages' must be uniform, uniform*N, balanced or a stage for each layer "
          "(0,0,1,1), "
          "not 'uneven'");
    rules("\"optional\": true", "\"optional\": 1",
          "r.json:14: 'optional' must be true or false, not 1");
    rules("\"multiple\": 64", "\"multiple\": 0",
          "r.json:4: 'multiple' must be a number from 1 beside the split ceil, not 0");
    rules("\"split\": \"ceil\", \"multiple\": 64", "\"split\": \"heads\"",
          "r.json:4: 'split' must be even or ceil, not 'heads'");
    rules("\"split\": \"ceil\", \"multiple\": 64", "\"heads\": {\"kv\": 1, \"query\": 1}",
          "r.json:4: heads needs 'of'");
    rules("\"split\": \"ceil\", \"multiple\": 64",
          "\"heads\": {\"kv\": 1, \"query\": 1, \"of\": \"key\"}",
          "r.json:4: 'of' must be query or kv, not 'key'");
    rules("\"split\": \"ceil\", \"multiple\": 64",
          "\"heads\": {\"kv\": 3, \"query\": 7, \"of\": \"kv\"}",
          "t.json:6: tensor 'lm_head.weight': 7 query heads do not share 3 key and value heads "
          "evenly (by the rule at r.json:4)");
    rules("[\"tp\"], [\"tp\"], []]", "[\"tp\"], [\"tp\"]]", "r.json:10: 2 cuts for 3 segments");
    rules("[\"tp\"], [\"tp\"], []]", "3, [\"tp\"], []]",
          "r.json:10: expected a list of axes, an object with axes, heads_q or heads_kv for each "
          "dim, not 3");
    rules("\"dim\": 1, ", "\"dim\": 8, ", "r.json:10: 'dim' must be a whole number in 0..7, not 8");
    rules("\"sizes\": [\"$width\", \"$width\", \"$width\"], ", "",
          "t.json:10: tensor 'model.layers.0.c_attn.weight': neither the rule nor the tensor gives "
          "the "
          "sizes of the segments (by the rule at r.json:9)");
    rules(
        "[\"$width\", \"$width\", \"$width\"]", "[\"$w\", \"$width\", \"$width\"]",
        "r.json:10: 'values' of t.json has no 'w', only experts, head_dim, heads, kv_heads, width");
    rules("[\"dp\", \"cp\"]", "[\"dp\", \"dp\"]",
          "t.json:10: tensor 'model.layers.0.c_attn.weight': axis dp is twice in the rule (by the "
          "rule at r.json:9)");
    rules("\"bucket\": \"layer {layer}\"", "\"bucket\": 3",
          "r.json:11: 'bucket' must be a text, not 3");
    rules("{expert}.*.weight", "{expert}.{expert}.weight", "r.json:12: pattern has {expert} twice");
  }
  void errors() {
    QFETCH(bool, in_rules);
    QFETCH(QString, old_text);
    QFETCH(QString, new_text);
    QFETCH(QString, message);
    const auto ruled =
        ApplyRules(Tensors(in_rules ? kTensors : Edited(kTensors, old_text, new_text)),
                   Rules(in_rules ? Edited(kRules, old_text, new_text) : kRules), false);
    QVERIFY(!ruled);
    QCOMPARE(ruled.error().code, tessera::ErrorCode::kInvalidArgument);
    const QString found = QString::fromStdString(ruled.error().ToString());
    QVERIFY2(found.startsWith(message), qPrintable(found));
  }

  void contradictionsOfSegments_data() {
    QTest::addColumn<QString>("segments");
    QTest::addColumn<QString>("message");
    QTest::newRow("dim") << R"({"dim": 0, "sizes": [8, 8, 16]})"
                         << "segments of dim 1 in the rule, of dim 0 in the tensor";
    QTest::newRow("sizes") << R"({"dim": 1, "sizes": [64, 16, 16]})"
                           << "the sizes of the segments differ between the rule and the tensor";
  }
  void contradictionsOfSegments() {
    QFETCH(QString, segments);
    QFETCH(QString, message);
    const std::string tensors =
        Edited(kTensors, R"("3*$width"])", R"("3*$width"], "segments": )" + segments);
    const auto ruled = ApplyRules(Tensors(tensors), Rules(kRules), false);
    QVERIFY(!ruled);
    QCOMPARE(QString::fromStdString(ruled.error().ToString()),
             "t.json:10: tensor 'model.layers.0.c_attn.weight': " + message +
                 " (by the rule at r.json:9)");
  }
};

TESSERA_TEST_APPLESS(RuleFilesTest)
#include "rule_files_test.moc"
