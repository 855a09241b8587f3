// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rules.h"

#include <QTest>
#include <algorithm>
#include <random>

#include "ptc/layout.h"
#include "ptc/rules/name_pattern.h"
#include "ptc/rules/rule_index.h"
#include "tests/ptc/edited_rules.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

using tessera::test::Edited;

namespace {

// The example of FORMAT.md, with one tensor of every kind.
const std::string kTensors = R"({
  "layers": 2,
  "optimizer": "adamw",
  "masters": true,
  "tensors": [
    {"name": "wte.weight", "dtype": "f32", "shape": [50257, 64]},
    {"name": "h.{layer}.attn.qkv.weight", "dtype": "bf16", "shape": [192, 64],
     "segments": {"dim": 0, "sizes": [64, 64, 64]}},
    {"name": "h.{layer}.attn.proj.weight", "dtype": "f32", "shape": [64, 64]},
    {"name": "ln_f.weight", "dtype": "f32", "shape": [64]},
    {"name": "step", "dtype": "i64", "shape": [], "role": "scalar"}
  ]
}
)";
const std::string kRules = R"({
  "rules": [
    {"match": "wte.weight", "cut": "vocab", "stage": "first_and_last"},
    {"match": "h.{layer}.attn.qkv.*", "cut": "colwise"},
    {"match": "h.*.attn.proj.weight", "cut": "rowwise", "stage": "layer"},
    {"match": "ln_f.**", "cut": "replicate", "stage": "last"},
    {"match": "step", "cut": {"dims": []}}
  ]
}
)";

NamedText Tensors(std::string text) { return {"tensors.json", std::move(text)}; }
NamedText Rules(std::string text) { return {"rules.json", std::move(text)}; }

/// "wte.weight f32 [4,4] param first_and_last tp,- ceil": one line per tensor.
std::string Summary(const Collection& collection) {
  std::string out;
  for (const TensorSpec& spec : collection.tensors()) {
    out += spec.name + ' ';
    out += std::string(ToString(spec.dtype)) + ToString(spec.shape) + ' ';
    out += std::string(ToString(spec.role)) + ' ' + std::string(ToString(spec.place));
    if (spec.place == StagePlace::kLayer) out += std::to_string(spec.layer);
    for (const DimCut& cut : spec.rule.dims) {
      out += ' ';
      for (Axis axis : cut.axes) out += ToString(axis);
      if (cut.axes.empty()) out += '-';
    }
    for (const DimCut& cut : spec.rule.dims) {
      if (cut.split == Split::kCeil) out += " ceil";
    }
    for (Axis axis : spec.rule.flat) out += " flat:" + std::string(ToString(axis));
    if (spec.segments) out += " segments";
    out += '\n';
  }
  return out;
}

}  // namespace

class RulesTest : public QObject {
  Q_OBJECT
 private slots:
  void rulesCutAndPlaceTheTensors() {
    const auto collection = ApplyRules(Tensors(kTensors), Rules(kRules), false);
    QVERIFY2(collection, collection ? "" : collection.error().ToString().c_str());
    QCOMPARE(collection->tensors->num_layers(), 2);
    QCOMPARE(Summary(*collection->tensors),
             "h.0.attn.proj.weight f32[64,64] param layer0 - tp\n"
             "h.0.attn.proj.weight.exp_avg f32[64,64] exp_avg layer0 - tp\n"
             "h.0.attn.proj.weight.exp_avg_sq f32[64,64] exp_avg_sq layer0 - tp\n"
             "h.0.attn.qkv.weight bf16[192,64] param layer0 tp - segments\n"
             "h.0.attn.qkv.weight.exp_avg f32[192,64] exp_avg layer0 tp - segments\n"
             "h.0.attn.qkv.weight.exp_avg_sq f32[192,64] exp_avg_sq layer0 tp - segments\n"
             "h.0.attn.qkv.weight.master f32[192,64] master layer0 tp - segments\n"
             "h.1.attn.proj.weight f32[64,64] param layer1 - tp\n"
             "h.1.attn.proj.weight.exp_avg f32[64,64] exp_avg layer1 - tp\n"
             "h.1.attn.proj.weight.exp_avg_sq f32[64,64] exp_avg_sq layer1 - tp\n"
             "h.1.attn.qkv.weight bf16[192,64] param layer1 tp - segments\n"
             "h.1.attn.qkv.weight.exp_avg f32[192,64] exp_avg layer1 tp - segments\n"
             "h.1.attn.qkv.weight.exp_avg_sq f32[192,64] exp_avg_sq layer1 tp - segments\n"
             "h.1.attn.qkv.weight.master f32[192,64] master layer1 tp - segments\n"
             "ln_f.weight f32[64] param last -\n"
             "ln_f.weight.exp_avg f32[64] exp_avg last -\n"
             "ln_f.weight.exp_avg_sq f32[64] exp_avg_sq last -\n"
             "step i64[] scalar all\n"
             "wte.weight f32[50257,64] param first_and_last tp - ceil\n"
             "wte.weight.exp_avg f32[50257,64] exp_avg first_and_last tp - ceil\n"
             "wte.weight.exp_avg_sq f32[50257,64] exp_avg_sq first_and_last tp - ceil\n");
    QVERIFY(Layout::Make(*ParseDeviceMesh("dp=2,tp=4,pp=2 on 2x8"), collection->tensors));
  }

  // Only optimizer state is cut, in addition to its other cuts. Rules that cut over dp are
  // unchanged.
  void zeroCutsOptimizerStateFlat() {
    const std::string by_dp = Edited(kRules, "\"replicate\"", R"({"dims": [["dp"]]})");
    const auto collection = ApplyRules(Tensors(kTensors), Rules(by_dp), true);
    int flat = 0;
    for (const TensorSpec& spec : collection->tensors->tensors()) {
      const bool is_state = spec.role != TensorRole::kParam && spec.role != TensorRole::kScalar;
      const bool over_dp = spec.name.starts_with("ln_f");
      QCOMPARE(spec.rule.flat == std::vector{Axis::kDp}, is_state && !over_dp);
      flat += spec.rule.flat.empty() ? 0 : 1;
    }
    QCOMPARE(flat, 2 * (2 + 3) + 2);
    const auto without = ApplyRules(Tensors(kTensors), Rules(by_dp), false);
    for (const TensorSpec& spec : without->tensors->tensors()) QVERIFY(spec.rule.flat.empty());
  }

  void theFirstRuleThatMatchesCounts() {
    const auto collection = ApplyRules(Tensors(R"({"layers": 0, "tensors": [
                     {"name": "a.bias", "dtype": "f32", "shape": [4]},
                     {"name": "a.weight", "dtype": "f32", "shape": [4, 4]}]})"),
                                       Rules(R"({"rules": [{"match": "*.bias", "cut": "replicate"},
                            {"match": "**", "cut": "colwise"}]})"),
                                       false);
    QVERIFY(collection);
    QCOMPARE(Summary(*collection->tensors),
             "a.bias f32[4] param all -\na.weight f32[4,4] param all tp -\n");
  }

  // State that a user lists is matched by its parameter; a name that only looks like state is not.
  void listedStateGoesByItsParameter() {
    const auto collection = ApplyRules(Tensors(R"({"layers": 3, "tensors": [
                     {"name": "w", "dtype": "bf16", "shape": [4], "layer": 2},
                     {"name": "w.master", "dtype": "f32", "shape": [4], "role": "master", "layer": 2},
                     {"name": "w.exp_avg", "dtype": "f32", "shape": [4], "role": "buffer"}]})"),
                                       Rules(R"({"rules": [{"match": "w", "cut": "colwise"},
                            {"match": "w.exp_avg", "cut": "replicate", "stage": "first"}]})"),
                                       false);
    QVERIFY2(collection, collection ? "" : collection.error().ToString().c_str());
    QCOMPARE(Summary(*collection->tensors),
             "w bf16[4] param layer2 tp\n"
             "w.exp_avg f32[4] buffer first -\n"
             "w.master f32[4] master layer2 tp\n");
  }

  void explicitCuts() {
    const auto collection = ApplyRules(
        Tensors(R"({"layers": 0, "tensors": [{"name": "w", "dtype": "f32", "shape": [9, 4]}]})"),
        Rules(R"({"rules": [{"match": "w", "cut":
                 {"dims": [["cp", "tp"], []], "split": "ceil", "flat": "dp"}}]})"),
        false);
    QVERIFY(collection);
    QCOMPARE(Summary(*collection->tensors), "w f32[9,4] param all cptp - ceil flat:dp\n");
  }

  void patterns_data() {
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("fit");  // "", "yes" or the layer
    const auto row = [](const char* pattern, const char* name, const char* fit) {
      QTest::addRow("%s on %s", pattern, name) << pattern << name << fit;
    };
    row("wte", "wte", "yes");
    row("wte", "wte.weight", "");
    row("wte", "wt", "");
    row("*", "wte", "yes");
    row("*", "wte.weight", "");
    row("*.weight", "wte.weight", "yes");
    row("*.weight", ".weight", "yes");
    row("h.*.ln", "h.12.ln", "yes");
    row("h.*.ln", "h.1.2.ln", "");
    row("h.*_*.w", "h.a_b_c.w", "yes");
    row("**", "a.b.c", "yes");
    row("a.**.c", "a.b.b.c", "yes");
    row("a.**.c", "a.c", "");
    row("**.c", "a.b.d", "");
    row("h.{layer}.w", "h.12.w", "12");
    row("h.{layer}.w", "h..w", "");
    row("h.{layer}.w", "h.1x.w", "");
    row("h.{layer}.w", "h.x.w", "");
    row("h{layer}", "h007", "7");
    row("h{layer}2", "h12", "");  // all digits or none
    row("**{layer}.w", "h.12.w", "12");
    row("**.{layer}.**", "a.1.2.w", "1");
    row("e.*.{layer}", "e.5.6", "6");
    row("{layer}", "9223372036854775807", "9223372036854775807");
    row("{layer}", "9223372036854775808", "");
    row("h\xc3\xa9*", "h\xc3\xa9llo", "yes");
  }
  void patterns() {
    QFETCH(QString, pattern);
    QFETCH(QString, name);
    QFETCH(QString, fit);
    const auto parsed = NamePattern::Parse(pattern.toStdString());
    QVERIFY(parsed);
    const auto match = parsed->Fit(name.toStdString());
    QCOMPARE(match.has_value(), !fit.isEmpty());
    if (match && match->layer) QCOMPARE(QString::number(*match->layer), fit);
    if (match && !match->layer) QCOMPARE(fit, QStringLiteral("yes"));
  }

  // The work follows the number of tensors, not that of tensors times rules.
  void manyRulesAreNotAllMatchedWithEachName() {
    constexpr int kKinds = 1000, kLayers = 10;
    std::string tensors, rules;
    for (int kind = 0; kind < kKinds; ++kind) {
      const std::string comma = kind > 0 ? "," : "", number = std::to_string(kind);
      tensors += comma + "{\"name\": \"layers.{layer}.w" + number +
                 ".weight\", \"dtype\": \"f32\", \"shape\": [4]}";
      rules += comma + "{\"match\": \"layers.{layer}.w" + number + ".*\", \"cut\": \"replicate\"}";
    }
    const auto report = CheckRules(
        Tensors("{\"layers\": " + std::to_string(kLayers) + ", \"tensors\": [" + tensors + "]}"),
        Rules("{\"rules\": [" + rules + "]}"), false);
    QVERIFY2(report, report ? "" : report.error().ToString().c_str());
    QVERIFY(report->ok());
    QCOMPARE(report->tensors.size(), std::size_t{kKinds * kLayers});
    QCOMPARE(report->num_matched, std::int64_t{kKinds * kLayers});
  }

  void theIndexOfRulesLeavesOutNoneThatMatches() {
    std::mt19937_64 rng(tessera::test::Seed());
    const auto text = [&](const std::vector<std::string>& parts) {
      std::string out = parts[rng() % parts.size()];
      for (auto more = rng() % 4; more > 0; --more) {
        out += (rng() % 4 == 0 ? "" : ".") + parts[rng() % parts.size()];
      }
      return out;
    };
    int matches = 0;
    for (int round = 0; round < 50; ++round) {
      std::string list;
      for (int r = 0; r < 30; ++r) {
        std::string match = text({"a", "bc", "*", "**", "b*", "**c", "{layer}"});
        if (!NamePattern::Parse(match)) match = "a";  // {layer} twice
        list += (r > 0 ? "," : "") + ("{\"match\": \"" + match + "\", \"cut\": \"replicate\"}");
      }
      const auto rules = ReadRules(Rules("{\"rules\": [" + list + "]}"), {});
      QVERIFY2(rules, rules ? "" : rules.error().ToString().c_str());
      const RuleIndex index(rules->rules);
      for (int n = 0; n < 100; ++n) {
        const std::string name = text({"a", "bc", "b", "c", "7", ""});
        const std::vector<std::size_t> candidates = index.Candidates(name);
        QVERIFY(std::ranges::is_sorted(candidates));
        for (std::size_t r = 0; r < rules->rules.size(); ++r) {
          if (!rules->rules[r].pattern.Fit(name)) continue;
          ++matches;
          QVERIFY2(std::ranges::count(candidates, r) == 1,
                   (rules->rules[r].match + " and " + name).c_str());
        }
      }
    }
    QVERIFY(matches > 100);
  }

  // Each is the example with one place changed.
  void errors_data() {
    const tessera::test::EditColumns columns;
    const auto tensors = columns.InTensors;
    const auto rules = columns.InRules;
    tensors("\"layers\": 2,", "\"layers\": 2", "tensors.json:3: not json at '\"optimizer\"'");
    tensors("  ]\n}\n", "", "tensors.json:11: not json: the text ends too early");
    tensors("50257, 64]", "50257, 64}", "tensors.json:6: not json at '64}'");
    tensors("\"layers\": 2,", "\"layers\": 2, \"layers\": 3,",
            "tensors.json:2: key 'layers' appears twice in an object");
    tensors("  \"layers\": 2,\n", "", "tensors.json:1: the tensors file needs 'layers'");
    tensors("\"layers\": 2", "\"layers\": -1",
            "tensors.json:2: 'layers' must be a whole number in 0..65536, not -1");
    tensors("\"layers\": 2", "\"layers\": 2.5",
            "tensors.json:2: 'layers' must be a whole number in 0..65536, not 2.5");
    tensors("adamw", "sgd", "tensors.json:3: 'optimizer' must be 'adamw', not 'sgd'");
    tensors("\"masters\": true", "\"masters\": 1",
            "tensors.json:4: 'masters' must be true or false, not 1");
    tensors(
        "\"masters\"", "\"master\"",
        "tensors.json:4: unknown key 'master', the tensors file has title, source, rules, layers, "
        "values, optimizer, masters, tensors");
    tensors("{\"name\": \"step\"", "7, {\"name\": \"step\"",
            "tensors.json:11: expected an object, not 7: a tensor has name, dtype, shape, role, "
            "layer, layers, expert, segments, aliases");
    tensors("\"name\": \"wte.weight\", ", "", "tensors.json:6: a tensor needs 'name'");
    tensors("\"name\": \"wte.weight\"", "\"name\": null",
            "tensors.json:6: 'name' must be a text, not null");
    tensors("\"shape\": [50257, 64]", "\"shap\": [50257, 64]",
            "tensors.json:6: unknown key 'shap', a tensor has name, dtype, shape, role, layer, "
            "layers, expert, segments, aliases");
    tensors("[50257, 64]", "\"50257x64\"",
            "tensors.json:6: 'shape' must be a list, not '50257x64'");
    tensors("[50257, 64]", "[50257,\n \"64x\"]",
            "tensors.json:7: 'shape' must be a whole number or a product such as '3*$width', not "
            "'64x'");
    tensors("[50257, 64]", "[50257, 9223372036854775808]",
            "tensors.json:6: 'shape' must be a list of whole numbers, not of 9223372036854775808");
    tensors("bf16", "bfloat16",
            "tensors.json:7: 'dtype' must be a dtype such as f32, bf16 or i64, not 'bfloat16'");
    tensors("\"scalar\"", "\"step\"",
            "tensors.json:11: 'role' must be one of param, master, exp_avg, exp_avg_sq, buffer, "
            "rng and "
            "scalar, not 'step'");
    tensors("\"dim\": 0", "\"dim\": 9",
            "tensors.json:8: 'dim' must be a whole number in 0..7, not 9");
    tensors("{\"dim\": 0, \"sizes\": [64, 64, 64]}", "3",
            "tensors.json:8: expected an object, not 3: segments has dim, sizes");
    tensors(
        "\"sizes\": [64, 64, 64]", "\"sizes\": [64, 64]",
        "tensors.json:7: tensor 'h.0.attn.qkv.weight': segments [64,64] do not add up to dim 0 = "
        "192 (by the rule at rules.json:4)");
    tensors("\"shape\": [192, 64],", "\"shape\": [192, 64], \"layer\": 1,",
            "tensors.json:7: 'layer' cannot be combined with {layer} in the name");
    tensors("\"name\": \"ln_f.weight\"", "\"name\": \"wte.weight\"",
            "tensors.json:10: tensor 'wte.weight' is given twice, first at line 6");
    tensors(
        "\"name\": \"ln_f.weight\"", "\"name\": \"ln_f.wei\\nght\"",
        "tensors.json:10: 'name' must be text without control characters, not 'ln_f.wei\\x0aght'");
    tensors("\"name\": \"ln_f.weight\"", "\"name\": \"norm.weight\"",
            "tensors.json:10: no rule of rules.json matches tensor 'norm.weight'");
    tensors("\"shape\": [64, 64]}", "\"shape\": [64]}",
            "tensors.json:9: tensor 'h.0.attn.proj.weight': rule has 2 dims, but the tensor has 1 "
            "(by the rule at rules.json:5)");
    tensors("h.{layer}.attn.qkv", "h.4.attn.qkv",
            "tensors.json:7: tensor 'h.4.attn.qkv.weight': layer 4 is not in 0..1 (by the rule at "
            "rules.json:4)");
    tensors("\"name\": \"h.{layer}.attn.qkv.weight\"",
            "\"layer\": 0, \"name\": \"h.1.attn.qkv.weight\"",
            "rules.json:4: 'h.{layer}.attn.qkv.*' matches layer 1 in tensor 'h.1.attn.qkv.weight', "
            "but tensors.json:7 gives layer 0");

    rules("{\n", "[\n", "rules.json:2: not json at '\"rules\":'");
    rules("\"rules\"", "\"Rules\"",
          "rules.json:2: unknown key 'Rules', the rules file has stages, rules");
    rules("\"match\": \"step\", ", "", "rules.json:7: a rule needs 'match'");
    rules("\"vocab\"", "\"vocabulary\"",
          "rules.json:3: 'cut' must be colwise, rowwise, colwise_q, colwise_kv, rowwise_q, vocab, "
          "replicate or an object with dims, not "
          "'vocabulary'");
    rules("\"vocab\"", "[[\"tp\"]]",
          "rules.json:3: 'cut' must be colwise, rowwise, colwise_q, colwise_kv, rowwise_q, vocab, "
          "replicate or an object with dims, not a "
          "list");
    rules("first_and_last", "middle",
          "rules.json:3: 'stage' must be layer, first, last, first_and_last or all, not 'middle'");
    rules("{\"dims\": []}", "{\"dims\": [[\"xp\"]]}",
          "rules.json:7: expected one of the axes pp, dp, ep, cp, tp, not 'xp'");
    rules("{\"dims\": []}", "{\"dims\": [\"tp\"]}",
          "rules.json:7: expected a list of axes, an object with axes, heads_q or heads_kv for "
          "each dim, not 'tp'");
    rules("{\"dims\": []}", "{\"dims\": [], \"split\": \"uneven\"}",
          "rules.json:7: 'split' must be even or ceil, not 'uneven'");
    rules("{\"dims\": []}", "{\"dims\": [], \"flat\": true}",
          "rules.json:7: expected one of the axes pp, dp, ep, cp, tp, not true");
    rules("{\"dims\": []}", "{\"dim\": []}",
          "rules.json:7: unknown key 'dim', a cut has dims, split, segments, flat, bucket");
    rules("\"wte.weight\"", "\"\"", "rules.json:3: the pattern is empty");
    rules("\"wte.weight\"", "\"wte.{x}\"",
          "rules.json:3: pattern has braces that are not those of {layer} or {expert}");
    rules("\"wte.weight\"", "\"{layer}.{layer}\"", "rules.json:3: pattern has {layer} twice");
    rules("\"step\"", "\"stop\"", "tensors.json:11: no rule of rules.json matches tensor 'step'");
    rules("{\"match\": \"step\"",
          "{\"match\": \"lm_head.*\", \"cut\": \"vocab\"},\n{\"match\": \"step\"",
          "rules.json:7: 'lm_head.*' matches no tensor of tensors.json");
    rules("{\"match\": \"step\"",
          "{\"match\": \"ln_f.*\", \"cut\": \"vocab\"},\n{\"match\": \"step\"",
          "rules.json:7: 'ln_f.*' matches only tensors of earlier rules");
    rules("\"stage\": \"last\"", "\"stage\": \"layer\"",
          "rules.json:6: stage is 'layer', but neither 'ln_f.**' nor tensors.json:10 gives the "
          "layer of "
          "tensor 'ln_f.weight'");
    rules("\"replicate\", \"stage\": \"last\"", "{\"dims\": [[\"pp\"]]}, \"stage\": \"last\"",
          "tensors.json:10: tensor 'ln_f.weight': axis pp cuts the tensor, but its place is 'last' "
          "(by the rule at rules.json:6)");
  }
  void errors() {
    QFETCH(bool, in_rules);
    QFETCH(QString, old_text);
    QFETCH(QString, new_text);
    QFETCH(QString, message);
    const auto tensors = in_rules ? kTensors : Edited(kTensors, old_text, new_text);
    const auto rules = in_rules ? Edited(kRules, old_text, new_text) : kRules;
    const auto collection = ApplyRules(Tensors(tensors), Rules(rules), false);
    QVERIFY(!collection);
    QCOMPARE(collection.error().code, tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(collection.error().ToString()), message);
  }

  void layersOfATensorMayBeARange() {
    const auto ruled = [](const char* layers) {
      return ApplyRules(Tensors(std::string(R"({"layers": 4, "tensors": [
{"name": "h.{layer}.w", "dtype": "f32", "shape": [4], "layers": )") +
                                layers + "}]}"),
                        Rules(R"({"rules": [{"match": "h.{layer}.w", "cut": "replicate"}]})"),
                        false);
    };
    const auto range = ruled("[1, 3]");
    QVERIFY(range.has_value());
    QCOMPARE(Summary(*range->tensors),
             "h.1.w f32[4] param layer1 -\nh.2.w f32[4] param layer2 -\n");
    for (const char* wrong : {"[3, 3]", "[0, 5]", "[-1, 2]", "[1]"}) {
      QCOMPARE(ruled(wrong).error().ToString(),
               "tensors.json:2: 'layers' must be [first, end] with 0 <= first < end <= 4");
    }
  }

  void tiedTensorsLiveOnTheStagesOfAllTheirNames() {
    const auto place = [](const char* rules) {
      return ApplyRules(Tensors(R"({"layers": 1, "optimizer": "adamw", "tensors": [
{"name": "embed", "dtype": "f32", "shape": [4], "aliases": ["head"]}]})"),
                        Rules(rules), false);
    };
    const auto tied = place(R"({"rules": [{"match": "embed", "cut": "vocab", "stage": "first"},
{"match": "head", "cut": "replicate", "stage": "last"}]})");
    QVERIFY(tied.has_value());
    QCOMPARE(Summary(*tied->tensors),
             "embed f32[4] param first_and_last tp ceil\n"
             "embed.exp_avg f32[4] exp_avg first_and_last tp ceil\n"
             "embed.exp_avg_sq f32[4] exp_avg_sq first_and_last tp ceil\n");
    // One name is enough, whichever it is.
    const auto one =
        place(R"({"rules": [{"match": "head", "cut": "replicate", "stage": "last"}]})");
    QVERIFY(one.has_value());
    QCOMPARE(one->tensors->tensors().front().place, StagePlace::kLast);
  }

  void optimizerStateMayBeAskedFor() {
    const auto count = [](OptimizerState state) {
      return (*ApplyRules(Tensors(kTensors), Rules(kRules), false, state))
          .tensors->tensors()
          .size();
    };
    // 4 tensors of f32, 2 of bf16, all but `step` with two moments, the latter with masters.
    QCOMPARE(count(OptimizerState::kNone), std::size_t{7});
    QCOMPARE(count(OptimizerState::kAsFile), std::size_t{7 + 2 * 6 + 2});
    QCOMPARE(count(OptimizerState::kAdamW), std::size_t{7 + 2 * 6 + 2});
    QVERIFY(!ParseOptimizerState("sgd"));
  }

  void textsThatAreNoFileAtAll() {
    const auto message = [](const std::string& text) {
      return ApplyRules(Tensors(text), Rules(kRules), false).error().ToString();
    };
    QCOMPARE(message(""), "tensors.json:1: not json: the text ends too early");
    QCOMPARE(message("\n\n"), "tensors.json:2: not json: the text ends too early");
    QCOMPARE(message(std::string(100, '\0')), "tensors.json:1: zero byte at offset 0");
    QCOMPARE(
        message(kTensors + std::string("\0x", 2)),
        "tensors.json:14: zero byte at offset " + std::to_string(std::string(kTensors).size()));
    QCOMPARE(message("[]"),
             "tensors.json:1: expected an object, not a list: the tensors file has title, source, "
             "rules, layers, values, optimizer, masters, tensors");
    QCOMPARE(message(std::string(1'000'000, '[')),
             "tensors.json:1: more than 64 nested lists and objects");
  }

  void whatWouldNotFitIntoMemoryIsRefused() {
    std::string text = "{\"layers\": 65536, \"tensors\": [";
    for (int i = 0; i < 20; ++i) {
      text += QStringLiteral("%1\n{\"name\": \"h.{layer}.w%2\", \"dtype\": \"f32\", \"shape\": []}")
                  .arg(i == 0 ? "" : ",")
                  .arg(i)
                  .toStdString();
    }
    const auto collection = ApplyRules(Tensors(text + "]}"), Rules(kRules), false);
    QVERIFY(!collection);
    QCOMPARE(collection.error().ToString(), "tensors.json:17: more than 1000000 tensors");
  }

  // Random damage to a file gives an error of one line that begins with its position, or a
  // collection.
  void damagedFilesNeverCrash() {
    std::mt19937_64 rng(tessera::test::Seed());
    const std::string interesting = "\"{}[],:0129-.e*\n\\\xff\x01 tdl";
    int refused = 0;
    for (int i = 0; i < 4000; ++i) {
      std::string tensors = kTensors;
      std::string rules = kRules;
      std::string& text = i % 2 == 0 ? tensors : rules;
      const int edits = 1 + static_cast<int>(rng() % 3);
      for (int e = 0; e < edits && !text.empty(); ++e) {
        const std::size_t at = rng() % text.size();
        const char c = interesting[rng() % interesting.size()];
        switch (rng() % 4) {
          case 0:
            text[at] = c;
            break;
          case 1:
            text.insert(at, 1, c);
            break;
          case 2:
            text.erase(at, 1 + rng() % 8);
            break;
          default:
            text.resize(at);
        }
      }
      const auto collection = ApplyRules(Tensors(tensors), Rules(rules), rng() % 2 == 0);
      if (collection) continue;
      ++refused;
      const std::string message = collection.error().ToString();
      QVERIFY2(message.starts_with("tensors.json:") || message.starts_with("rules.json:"),
               message.c_str());
      QVERIFY2(message.find('\n') == std::string::npos, message.c_str());
    }
    QVERIFY(refused > 2000);
  }

  void randomBytesNeverCrash() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 2000; ++i) {
      std::string text(rng() % 200, '\0');
      for (char& c : text) c = static_cast<char>(rng());
      QVERIFY(!ApplyRules(Tensors(text), Rules(kRules), false));
      QVERIFY(!ApplyRules(Tensors(kTensors), Rules(text), false));
    }
  }
};

TESSERA_TEST_APPLESS(RulesTest)
#include "rules_test.moc"
