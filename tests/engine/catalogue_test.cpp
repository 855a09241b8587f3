// SPDX-License-Identifier: Apache-2.0
/// \file
/// The catalogue's models have the published sizes, and their rule sets cut them as the field does.
#include "engine/catalogue/catalogue.h"

#include <QTest>
#include <algorithm>

#include "engine/model/gpt.h"
#include "ptc/layout.h"
#include "tests/support/test_main.h"

using namespace tessera;
using ptc::Axis;

namespace {

ptc::RuledTensors Ruled(const std::string& model, bool zero = false,
                        ptc::OptimizerState state = ptc::OptimizerState::kNone) {
  const auto tensors = engine::FindCatalogueTensors(model);
  if (!tensors) qFatal("%s", tensors.error().ToString().c_str());
  const auto facts = engine::FactsOf(*tensors);
  if (!facts) qFatal("%s", facts.error().ToString().c_str());
  const auto rules = engine::FindRuleSet(facts->rules);
  if (!rules) qFatal("%s", rules.error().ToString().c_str());
  auto ruled = ptc::ApplyRules(*tensors, *rules, zero, state);
  if (!ruled) qFatal("%s", ruled.error().ToString().c_str());
  return *ruled;
}

ptc::Layout LayoutOn(const ptc::RuledTensors& ruled, const char* mesh) {
  const auto shape = *ptc::ParseMeshShape(mesh);
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t rank = 0; rank < shape.num_ranks(); ++rank) devices.push_back({0, rank});
  auto layout =
      ptc::Layout::Make(*ptc::DeviceMesh::Make(shape, devices), ruled.tensors, ruled.stages);
  if (!layout) qFatal("%s", layout.error().ToString().c_str());
  return *layout;
}

/// The boxes of a tensor on a rank: "[0:4,0:8] [16:20,0:8]".
QString Held(const ptc::Layout& layout, int rank, const std::string& tensor) {
  const auto index = layout.collection().Find(tensor);
  if (!index) return QStringLiteral("no such tensor");
  std::string out;
  for (const ptc::Box& box : layout.Boxes(rank, *index)) {
    out += (out.empty() ? "" : " ") + ToString(box);
  }
  return QString::fromStdString(out);
}

}  // namespace

class CatalogueTest : public QObject {
  Q_OBJECT
 private slots:
  void modelsHaveThePublishedSizes_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<qint64>("parameters");
    const auto row = [](const char* model, qint64 parameters) {
      QTest::newRow(model) << QString::fromLatin1(model) << parameters;
    };
    // As the released weights count them.
    row("gpt2", 124'439'808);
    row("llama-3-8b", 8'030'261'248);
    row("llama-3-70b", 70'553'706'496);
    row("llama-3-405b", 405'853'388'800);
    row("mixtral-8x7b", 46'702'792'704);
    row("bert-large", 336'226'108);
    // As PyTorch Image Models and the reports count them.
    row("vit-h", 632'045'800);
    row("deepseek-v3-like", 671'026'404'352);
    // The built-in trainer's, counted in gpt_settings_test.
    row("gpt-mini", 3'257'856);
    // 12 d^2 + 13 d a layer, embeddings of 50257 + 2048 rows, final norm.
    const auto gpt3 = [](qint64 layers, qint64 d) {
      return layers * (12 * d * d + 13 * d) + (50257 + 2048) * d + 2 * d;
    };
    row("gpt3-1.3b", gpt3(24, 2048));
    row("gpt3-2.7b", gpt3(32, 2560));
    row("gpt3-6.7b", gpt3(32, 4096));
    row("gpt3-175b", gpt3(96, 12288));
  }
  void modelsHaveThePublishedSizes() {
    QFETCH(QString, model);
    QFETCH(qint64, parameters);
    const auto facts = engine::FactsOf(*engine::FindCatalogueTensors(model.toStdString()));
    QVERIFY(facts.has_value());
    QCOMPARE(facts->parameters, parameters);
    QVERIFY(!facts->title.empty());
    QVERIFY(!facts->source.empty());
    const auto tensors = Ruled(model.toStdString()).tensors;
    QCOMPARE(std::ssize(tensors->tensors()), facts->tensors);
    QCOMPARE(tensors->total_bytes(), facts->bytes);
  }

  void namedSizesAreThoseOfTheNames() {
    const auto within = [](const char* model, double published, double part) {
      const auto facts = engine::FactsOf(*engine::FindCatalogueTensors(model));
      const double ratio = static_cast<double>(facts->parameters) / published;
      QVERIFY2(ratio > 1 - part && ratio < 1 + part, model);
    };
    within("gpt3-1.3b", 1.3e9, 0.02);
    within("gpt3-2.7b", 2.7e9, 0.02);
    within("gpt3-6.7b", 6.7e9, 0.02);
    within("gpt3-175b", 174.6e9, 0.001);
  }

  void everyModelIsTested() {
    // modelsHaveThePublishedSizes has a row for each.
    QCOMPARE(engine::CatalogueNames().size(), std::size_t{13});
    const auto sets = engine::RuleSetNames();
    for (const std::string& model : engine::CatalogueNames()) {
      const auto facts = engine::FactsOf(*engine::FindCatalogueTensors(model));
      QVERIFY2(std::ranges::count(sets, facts->rules) == 1, model.c_str());
    }
    QVERIFY(std::ranges::is_sorted(sets));
    QVERIFY(!sets.empty());
  }

  void theRuleSetOfAModelIsReadAlone() {
    for (const std::string& model : engine::CatalogueNames()) {
      const auto facts = engine::FactsOfModel(model);
      const auto rules = engine::RuleSetOfModel(model);
      QVERIFY2(facts && rules, model.c_str());
      QCOMPARE(*rules, facts->rules);
    }
    QVERIFY(!engine::RuleSetOfModel("no-model"));
  }

  void unknownNamesAreAnsweredWithTheKnown() {
    const auto model = engine::FindCatalogueTensors("gpt-5");
    QVERIFY(!model);
    QVERIFY(model.error().ToString().starts_with("no model 'gpt-5'; there are bert-large, "));
    const auto rules = engine::FindRuleSet("lama");
    QVERIFY(rules.error().ToString().starts_with("no rule set 'lama'; there are bert, "));
  }

  void optimizerStateInTheUsualPrecisions() {
    // bf16 parameters, an f32 master and two f32 moments: 14 bytes a parameter.
    const auto adam = Ruled("llama-3-8b", false, ptc::OptimizerState::kAdamW);
    QCOMPARE(adam.tensors->total_bytes(), std::int64_t{14} * 8'030'261'248);
    // f32 parameters are their own masters.
    const auto bert = Ruled("bert-large", false, ptc::OptimizerState::kAdamW);
    QCOMPARE(bert.tensors->total_bytes(), std::int64_t{12} * 336'226'108);
  }

  void gpt2IsCutByHeadsThroughItsFusedProjection() {
    const ptc::Layout layout = LayoutOn(Ruled("gpt2"), "tp=3,pp=2");
    // 4 of 12 heads of 64 each: columns of q, of k and of v, as Conv1D has them.
    const std::string h = "transformer.h.0.";
    QCOMPARE(Held(layout, 1, h + "attn.c_attn.weight"),
             QStringLiteral("[0:768,256:512] [0:768,1024:1280] [0:768,1792:2048]"));
    QCOMPARE(Held(layout, 1, h + "attn.c_attn.bias"),
             QStringLiteral("[256:512] [1024:1280] [1792:2048]"));
    QCOMPARE(Held(layout, 1, h + "attn.c_proj.weight"), QStringLiteral("[256:512,0:768]"));
    QCOMPARE(Held(layout, 1, h + "mlp.c_fc.weight"), QStringLiteral("[0:768,1024:2048]"));
    QCOMPARE(Held(layout, 1, h + "mlp.c_proj.weight"), QStringLiteral("[1024:2048,0:768]"));
    QCOMPARE(Held(layout, 1, h + "mlp.c_proj.bias"), QStringLiteral("[0:768]"));
    // The tied embedding is on the first stage and on the last.
    QCOMPARE(Held(layout, 2, "transformer.wte.weight"), QStringLiteral("[33506:50257,0:768]"));
    QCOMPARE(Held(layout, 5, "lm_head.weight"), QStringLiteral("[33506:50257,0:768]"));
    QCOMPARE(Held(layout, 5, "transformer.ln_f.bias"), QStringLiteral("[0:768]"));
    QCOMPARE(Held(layout, 0, "transformer.ln_f.bias"), QStringLiteral(""));
  }

  void llamaReplicatesKvHeadsPastTheirNumber() {
    const auto ruled = Ruled("llama-3-8b");
    // 8 kv heads of 128 over 16 ranks: ranks 2 and 3 both hold head 1.
    const ptc::Layout layout = LayoutOn(ruled, "tp=16");
    const std::string attention = "model.layers.7.self_attn.";
    QCOMPARE(Held(layout, 2, attention + "k_proj.weight"), QStringLiteral("[128:256,0:4096]"));
    QCOMPARE(Held(layout, 3, attention + "v_proj.weight"), QStringLiteral("[128:256,0:4096]"));
    QCOMPARE(Held(layout, 3, attention + "q_proj.weight"), QStringLiteral("[768:1024,0:4096]"));
    QCOMPARE(Held(layout, 3, attention + "o_proj.weight"), QStringLiteral("[0:4096,768:1024]"));
    const ptc::Layout staged = LayoutOn(ruled, "pp=2");
    QCOMPARE(Held(staged, 0, "model.embed_tokens.weight"), QStringLiteral("[0:128256,0:4096]"));
    QCOMPARE(Held(staged, 1, "model.embed_tokens.weight"), QStringLiteral(""));
    QCOMPARE(Held(staged, 1, "lm_head.weight"), QStringLiteral("[0:128256,0:4096]"));
  }

  void tiedTensorsLiveWhereAllTheirNamesDo() {
    // A llama with tie_word_embeddings in its configuration.
    const auto rules = *engine::FindRuleSet("llama");
    auto tensors = *engine::FindCatalogueTensors("llama-3-8b");
    const std::size_t begin = tensors.text.rfind(",\n");
    tensors.text.erase(begin, tensors.text.rfind("}\n  ]") + 1 - begin);  // lm_head
    const std::string embedding = R"("name": "model.embed_tokens.weight")";
    tensors.text.replace(tensors.text.find(embedding), embedding.size(),
                         embedding + R"(, "aliases": ["lm_head.weight"])");
    const auto ruled = ptc::ApplyRules(tensors, rules, false);
    QVERIFY2(ruled.has_value(), ruled ? "" : ruled.error().ToString().c_str());
    const ptc::Layout layout = LayoutOn(*ruled, "pp=3");
    QCOMPARE(Held(layout, 0, "model.embed_tokens.weight"), QStringLiteral("[0:128256,0:4096]"));
    QCOMPARE(Held(layout, 1, "model.embed_tokens.weight"), QStringLiteral(""));
    QCOMPARE(Held(layout, 2, "lm_head.weight"), QStringLiteral("[0:128256,0:4096]"));
  }

  void expertsAreDealtInBlocks() {
    const ptc::Layout layout = LayoutOn(Ruled("mixtral-8x7b"), "ep=4,tp=2");
    const std::string experts = "model.layers.3.block_sparse_moe.experts.";
    // Rank 5 = (ep 2, tp 1) has experts 4 and 5.
    QCOMPARE(Held(layout, 5, experts + "4.w1.weight"), QStringLiteral("[7168:14336,0:4096]"));
    QCOMPARE(Held(layout, 5, experts + "5.w2.weight"), QStringLiteral("[0:4096,7168:14336]"));
    QCOMPARE(Held(layout, 5, experts + "3.w3.weight"), QStringLiteral(""));
    QCOMPARE(Held(layout, 5, "model.layers.3.block_sparse_moe.gate.weight"),
             QStringLiteral("[0:8,0:4096]"));
  }

  void deepSeekHasDenseLayersFirst() {
    const auto ruled = Ruled("deepseek-v3-like");
    const auto has = [&](const char* name) { return ruled.tensors->Find(name).has_value(); };
    QVERIFY(has("model.layers.2.mlp.gate_proj.weight"));
    QVERIFY(!has("model.layers.2.mlp.gate.weight"));
    QVERIFY(!has("model.layers.3.mlp.gate_proj.weight"));
    QVERIFY(has("model.layers.60.mlp.experts.255.down_proj.weight"));
    const ptc::Layout layout = LayoutOn(ruled, "ep=64");
    QCOMPARE(Held(layout, 63, "model.layers.60.mlp.experts.252.up_proj.weight"),
             QStringLiteral("[0:2048,0:7168]"));
    QCOMPARE(Held(layout, 62, "model.layers.60.mlp.experts.252.up_proj.weight"),
             QStringLiteral(""));
  }

  void bertAndVitAreCutByHeads() {
    const ptc::Layout bert = LayoutOn(Ruled("bert-large"), "tp=4,pp=2");
    QCOMPARE(Held(bert, 1, "bert.encoder.layer.0.attention.self.key.bias"),
             QStringLiteral("[256:512]"));
    QCOMPARE(Held(bert, 1, "bert.encoder.layer.0.attention.output.dense.weight"),
             QStringLiteral("[0:1024,256:512]"));
    QCOMPARE(Held(bert, 1, "bert.encoder.layer.0.output.dense.weight"),
             QStringLiteral("[0:1024,1024:2048]"));
    QCOMPARE(Held(bert, 1, "bert.embeddings.token_type_embeddings.weight"),
             QStringLiteral("[0:2,0:1024]"));
    QCOMPARE(Held(bert, 5, "cls.predictions.decoder.weight"),
             QStringLiteral("[7631:15262,0:1024]"));
    const ptc::Layout vit = LayoutOn(Ruled("vit-h"), "tp=16");
    QCOMPARE(Held(vit, 15, "vit.encoder.layer.31.attention.attention.query.weight"),
             QStringLiteral("[1200:1280,0:1280]"));
    QCOMPARE(Held(vit, 15, "vit.encoder.layer.31.output.dense.weight"),
             QStringLiteral("[0:1280,4800:5120]"));
  }

  void headsThatDoNotGoIntoTheRanksAreNamed() {
    const auto ruled = Ruled("llama-3-8b");
    std::vector<ptc::DeviceId> devices;
    for (std::int32_t rank = 0; rank < 14; ++rank) devices.push_back({0, rank});
    const auto mesh = ptc::DeviceMesh::Make(*ptc::ParseMeshShape("tp=14"), devices);
    const auto layout = ptc::Layout::Make(*mesh, ruled.tensors);
    QVERIFY(!layout);
    for (const char* part : {"model.layers.0.", "8", "32", "14"}) {
      QVERIFY2(layout.error().ToString().find(part) != std::string::npos,
               layout.error().ToString().c_str());
    }
  }

  void rulesOfTheBuiltInTrainerSayWhatItDoes_data() {
    QTest::addColumn<bool>("zero");
    QTest::newRow("replicated state") << false;
    QTest::newRow("zero") << true;
  }
  void rulesOfTheBuiltInTrainerSayWhatItDoes() {
    QFETCH(bool, zero);
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-mini");
    const auto trained = engine::MakeCollection(settings, zero);
    QVERIFY(trained.has_value());
    const auto ruled = Ruled("gpt-mini", zero, ptc::OptimizerState::kAdamW);
    QVERIFY(*ruled.tensors == **trained);
  }
};

TESSERA_TEST_APPLESS(CatalogueTest)
#include "catalogue_test.moc"
